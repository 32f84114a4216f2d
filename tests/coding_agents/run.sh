#!/usr/bin/env bash
# Claude Code and Codex through build/release/queqiao, which must be built: TAP on stdout. Installs some 800 MB.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

if ! cmp -s package-lock.json node_modules/.installed || [[ ! -x node_modules/node/bin/node ]]; then
  echo "# installing Node, Claude Code and Codex" >&2
  npm ci --no-audit --no-fund >&2 || exit 1
  [[ -x node_modules/node/bin/node ]] || npm rebuild node >&2 || exit 1
  # Some versions of npm do not run a package's install script: it is what brings the program.
  node_modules/node/bin/node node_modules/@anthropic-ai/claude-code/install.cjs >&2 || exit 1
  cp package-lock.json node_modules/.installed
fi
exec node_modules/node/bin/node --experimental-strip-types --disable-warning=ExperimentalWarning \
  --test --test-reporter=tap --test-timeout=200000 agents.test.ts
