#!/usr/bin/env bash
# Builds targets of a preset and shows progress: usage tools/build.sh PRESET [TARGET...]
# On a terminal ninja draws its own; into a file goes one line every ten seconds, and all of an error.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
preset=$1
shift
if [[ ! -f build/$preset/build.ninja ]]; then
  configured=$(cmake --preset "$preset" 2>&1) || {
    printf '%s\n' "$configured" >&2
    exit 1
  }
fi
# One at a time: two would write the same files.
exec 9>"build/$preset/lock"
flock -n 9 || {
  echo "tools/build.sh: waiting for another build in build/$preset to end ..." >&2
  flock 9 || exit 1
}
targets=()
(($# > 0)) && targets=(--target "$@")
if [[ -t 1 ]]; then
  exec cmake --build "build/$preset" "${targets[@]}"
fi
last=-10
cmake --build "build/$preset" "${targets[@]}" 2>&1 | while IFS= read -r line; do
  case $line in
    '['[0-9]*'/'[0-9]*'] '*)
      if ((SECONDS - last >= 10)); then printf '%s\n' "$line" && last=$SECONDS; fi
      ;;
    'ninja: no work to do'*) ;;
    *) printf '%s\n' "$line" ;;
  esac
done
exit "${PIPESTATUS[0]}"
