#!/usr/bin/env bash
# Names of anonymous namespaces are their target's only ones: usage batches.sh [ROOT]
#
# The presets of the sanitizers and of g++ compile a dozen of a target's files as one, where two constants, aliases
# or types of one name clash; the release build never notices. Functions may overload and are left to the compiler.
# Files that their CMakeLists.txt names in qq_alone() are not looked at.
set -uo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/../..}
cd "$root" || exit 2

alone=$(find src -name CMakeLists.txt | while read -r list; do
  sed -n 's/^qq_alone(\(.*\))/\1/p' "$list" | tr ' ' '\n' | sed "s|^|$(dirname "$list")/|"
done)

find src -name '*.cc' | LC_ALL=C sort | grep -vxF "${alone:-none}" | xargs awk '
  FNR == 1 {
    split(FILENAME, path, "/")
    target = path[2] (FILENAME ~ /_test\.cc$/ ? " (tests)" : "")
    space = ""
    inside = 0
  }
  /^namespace [a-z_:A-Z0-9]+ \{/ { space = $2; next }
  /^namespace \{/ { inside = 1; next }
  /^\}  \/\/ namespace$/ { inside = 0; next }
  !inside { next }
  {
    name = ""
    means = FILENAME
    if (match($0, /^using [A-Za-z]+ =/)) {
      name = $2
      means = $0
    } else if (match($0, /^(struct|class|enum class) [A-Za-z]+( final)?( :| \{)/)) {
      name = $1 == "enum" ? $3 : $2
    } else if ($0 ~ /^(constexpr|const|static constexpr) / && match($0, /[ &*]k[A-Z][A-Za-z0-9]*/)) {
      name = substr($0, RSTART + 1, RLENGTH - 1)
    }
    if (name == "") next
    key = target " " space " " name
    if (key in first && meaning[key] != means) {
      printf "%s:%d: %s is also the name of another thing in %s\n", FILENAME, FNR, name, first[key]
      bad = 1
    } else if (!(key in first)) {
      first[key] = FILENAME ":" FNR
      meaning[key] = means
    }
  }
  END { exit bad }
'
