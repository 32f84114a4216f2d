#!/usr/bin/env bash
# Coroutine forms that g++ 12 compiles wrongly: usage coroutines.sh [ROOT]
#
# `co_await f(Aggregate{.field = ...})` and `co_await f({...})` destroy the temporary twice when the aggregate
# has a non-trivial member. A named variable, a function's result or a class with a constructor is fine; for
# the last, say so on the line: // NOLINT(co_await-aggregate)
#
# What `?:` makes inside an awaited expression is destroyed twice as well.
#
# A `co_await` in the condition of an `if`, `while` or `switch` lays out the frame wrongly when the awaiter is a
# temporary, as nearly all are: the awaited result gets a name first.
set -uo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/../..}
cd "$root" || exit 2

folders=()
for folder in src bench fuzz tests; do [[ -d $folder ]] && folders+=("$folder"); done
find "${folders[@]}" -name node_modules -prune -o \( -name '*.h' -o -name '*.cc' \) -print | LC_ALL=C sort | xargs awk '
  function check(text) {
    # Type{ as an argument, or a bare { as one, anywhere inside the awaited call.
    # Scope is two plain words, nothing to destroy; {} makes no aggregate with members given.
    gsub(/Scope\{/, "Scope(", text)
    gsub(/\{\}/, "()", text)
    if (text ~ /co_await[^;]*[(,][ \t]*([A-Za-z_0-9]+::)*[A-Z][A-Za-z0-9]*\{/ || text ~ /co_await[^;]*[(,][ \t]*\{/) {
      printf "%s:%d: co_await with a braced temporary: name it first (g++ 12)\n", FILENAME, started
      bad = 1
    }
    if (text ~ /co_await[^;]*[^A-Za-z0-9_]\?/) {
      printf "%s:%d: co_await of a choice by ?: name it first (g++ 12)\n", FILENAME, started
      bad = 1
    }
  }
  # Follows the conditions in `text`, which may go on in the next line: open > 0 inside of one.
  function follow_conditions(text,    i, c) {
    while (text != "") {
      if (open == 0) {
        if (!match(text, /(^|[^A-Za-z0-9_])(if|while|switch)[ \t]*(constexpr[ \t]*)?\(/)) return
        text = substr(text, RSTART + RLENGTH)
        open = 1
        condition = ""
        condition_started = FNR
      }
      for (i = 1; i <= length(text) && open > 0; i++) {
        c = substr(text, i, 1)
        if (c == "(") open++
        if (c == ")") open--
      }
      condition = condition " " substr(text, 1, i - 1)
      text = substr(text, i)
      if (open == 0 && condition ~ /(^|[^A-Za-z0-9_])co_await([^A-Za-z0-9_]|$)/) {
        printf "%s:%d: co_await in a condition: name its result first (g++ 12)\n", FILENAME, condition_started
        bad = 1
      }
    }
  }
  FNR == 1 { inside = 0; open = 0 }
  {
    line = $0
    if (line ~ /NOLINT\(co_await-aggregate\)/) { inside = 0; next }
    sub(/\/\/.*/, "", line)
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/\047[()]\047/, "0", line)
    follow_conditions(line)
    if (!inside && line ~ /co_await/) {
      inside = 1
      started = FNR
      statement = substr(line, index(line, "co_await"))
    } else if (inside) {
      statement = statement " " line
    }
    if (inside && (line ~ /;/ || line ~ /\{[ \t]*$/)) {
      check(statement)
      inside = 0
    }
  }
  END { exit bad }
'
