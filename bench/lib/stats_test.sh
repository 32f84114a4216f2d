#!/usr/bin/env bash
# Checks stats.awk against intervals that a table of the sign test gives.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failures=0

# expect MODE "PAIRS" NAME VALUE
expect() {
  local got
  got=$(tr ';' '\n' <<<"$2" | awk -v mode="$1" -f "$here/stats.awk" | tr ' ' '\n' | sed -n "s/^$3=//p")
  if [[ $got != "$4" ]]; then
    echo "$3 of $1 \"$2\": $got instead of $4"
    failures=$((failures + 1))
  fi
}

eleven='1 6;1 1;1 11;1 3;1 9;1 4;1 8;1 2;1 10;1 5;1 7'
expect capacity "$eleven" count 11
expect capacity "$eleven" median 6.0000
expect capacity "$eleven" lower 3.0000
expect capacity "$eleven" upper 9.0000
expect capacity "$eleven" least 1.0000
expect capacity '2 4;2 5;2 6;2 7' median 2.7500
expect capacity '2 4;2 5;2 6' lower 2.0000
expect cost '3 4;3 6' median 0.6250
expect added '230.5 220;215 220;241 220' median 10.5000
expect added '230.5 220;215 220;241 220' ours 230.500

((failures == 0)) && echo "stats.awk: all as expected"
