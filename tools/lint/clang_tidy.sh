#!/usr/bin/env bash
# clang-tidy over the sources of src/ that changed since it last found nothing: usage clang_tidy.sh BUILD_DIR
#
# A source is checked when its object file is newer than the mark of its last clean check, so that a change
# in a header counts. Tests are left out: they are most of the time and little of the danger.
set -uo pipefail
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
marks=$build/tidy
mkdir -p "$marks"

known=$(sed -n 's|.* -o \([^ ]*\.o\) -c [^ ]*/\(src/[^ ]*\.cc\)",*$|\1\t\2|p' "$build/compile_commands.json" |
  grep -v '_test\.cc$\|_bench\.cc$' | sort -u -t $'\t' -k 2,2)
# Nothing to check is good news only if there was something to choose from.
if [[ -z $known ]]; then
  echo "clang_tidy.sh: no source of src/ stands in $build/compile_commands.json in the form that is read here" >&2
  exit 2
fi

to_check=()
while IFS=$'\t' read -r object source; do
  mark=$marks/${source//\//_}.ok
  [[ $mark -nt $build/$object && $mark -nt .clang-tidy ]] || to_check+=("$source")
done <<<"$known"
echo "${#to_check[@]} files to check"
((${#to_check[@]} > 0)) || exit 0

check_one() {
  local output
  if output=$(clang-tidy-19 -p "$1" --quiet "$3" 2>/dev/null) && [[ $output != *": error: "* && $output != *": warning: "* ]]; then
    touch "$2/${3//\//_}.ok"
  else
    printf '%s\n' "$output"
    return 1
  fi
}
export -f check_one
printf '%s\0' "${to_check[@]}" | xargs -0 -P 2 -I {} bash -c 'check_one "$@"' _ "$build" "$marks" {}
