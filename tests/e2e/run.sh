#!/usr/bin/env bash
# The official SDKs through build/release/queqiao, which must be built: TAP on stdout. Arguments: test files.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

# Says of every tenth file that it came, since npm says nothing for minutes, and all that npm complains about.
npm_ci() {
  npm ci --no-audit --no-fund --loglevel=http 2>&1 | {
    fetched=0
    while IFS= read -r line; do
      case $line in
        'npm http fetch '* | 'npm http cache '*)
          ((++fetched % 10 == 0)) && echo "# npm: fetched $fetched files"
          ;;
        *) printf '%s\n' "$line" ;;
      esac
    done
  } >&2
  return "${PIPESTATUS[0]}"
}

# Node itself is one of the packages, so that the tests see one version everywhere.
if ! cmp -s package-lock.json node_modules/.installed || [[ ! -x node_modules/node/bin/node ]]; then
  echo "# installing Node and the SDKs" >&2
  npm_ci || exit 1
  # Some versions of npm do not run a package's install script: it is what brings the program.
  [[ -x node_modules/node/bin/node ]] || npm rebuild node >&2 || exit 1
  cp package-lock.json node_modules/.installed
fi
files=("$@")
((${#files[@]} > 0)) || files=(test/*.test.ts)
exec node_modules/node/bin/node --experimental-strip-types --disable-warning=ExperimentalWarning \
  --test --test-reporter=tap --test-concurrency=2 --test-timeout=120000 "${files[@]}"
