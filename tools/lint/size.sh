#!/usr/bin/env bash
# Files that outgrow their neighbours: above 500 lines a warning, above 1,000 a failure. Usage size.sh [ROOT]
set -uo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/../..}
cd "$root" || exit 2
find src -name '*.h' -o -name '*.cc' | LC_ALL=C sort | xargs wc -l | awk '
  $2 == "total" { next }
  $1 > 1000 { printf "%s: %d lines; what second thing does it do?\n", $2, $1; bad = 1 }
  $1 > 500 && $1 <= 1000 { printf "%s: %d lines (a warning)\n", $2, $1 }
  END { exit bad }'
