#!/usr/bin/env bash
# The checks of this folder find what they are for: each gets a small tree with one mistake, and one without.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# tree FILE CONTENT: a fresh tree that holds one file.
tree() {
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/src" "$(dirname "$scratch/tree/$1")"
  printf '%b' "$2" >"$scratch/tree/$1"
}
finds() {
  tree "$2" "$3"
  if "$here/$1" "$scratch/tree" >/dev/null 2>&1; then
    echo "$1 does not find in $2: $3"
    failures=$((failures + 1))
  fi
}
accepts() {
  tree "$2" "$3"
  if ! "$here/$1" "$scratch/tree"; then
    echo "$1 does not accept in $2: $3"
    failures=$((failures + 1))
  fi
}

accepts layering.sh src/relay/a.cc '#include "wire/a.h"\n#include "relay/b.h"\n#include <vector>\n'
finds layering.sh src/wire/a.cc '#include "relay/a.h"\n'
finds layering.sh src/routing/a.cc '#include "resilience/a.h"\n'
finds layering.sh src/routing/a.cc '#include "net/a.h"\n'
finds layering.sh src/relay/a.cc '#include "a.h"\n'
finds layering.sh src/unheard/a.cc '\n'
finds layering.sh src/relay/a.cc '#include <sys/epoll.h>\n'
finds layering.sh src/dialects/a.cc '#include <thread>\n'
accepts layering.sh src/net/a.cc '#include <sys/epoll.h>\n'
accepts layering.sh src/dialects/a_test.cc '#include <fstream>\n'
accepts layering.sh src/storage/sqlite/a.cc '#include <sqlite3.h>\n'
finds layering.sh src/storage/memory/a.cc '#include <sqlite3.h>\n'

# clash A B NAME: whether batches.sh lets a.cc hold A and NAME.cc B.
clash() {
  tree src/wire/a.cc "namespace qq::wire {\nnamespace {\n$1\n}  // namespace\n}\n"
  mkdir -p "$scratch/tree/src/wire"
  printf '%b' "namespace qq::wire {\nnamespace {\n$2\n}  // namespace\n}\n" >"$scratch/tree/src/wire/$3.cc"
  "$here/batches.sh" "$scratch/tree" >/dev/null 2>&1
}
clash 'constexpr int kMax = 1;' 'constexpr int kMax = 2;' b && echo 'batches.sh finds no constant' && failures=$((failures + 1))
clash 'struct One {' 'struct One {' b && echo 'batches.sh finds no type' && failures=$((failures + 1))
clash 'using A = int;' 'using A = long;' b && echo 'batches.sh finds no alias' && failures=$((failures + 1))
clash 'using A = int;' 'using A = int;' b || { echo 'batches.sh minds one alias' && failures=$((failures + 1)); }
clash 'struct One {' 'struct One {' b_test || { echo 'batches.sh minds a test' && failures=$((failures + 1)); }

accepts words.sh src/a.cc '// Plain text. TODO(when the store has an index): look it up.\nclass Store {};\n'
finds words.sh src/a.cc '// see /wo''rk/here\n'
finds words.sh docs/a.md 'fixed in issue #12\n'
finds words.sh src/a.cc '// TODO later\n'
finds words.sh src/a.h 'class StoreManager {\n'
finds words.sh src/a_test.cc 'std::this_thread::sleep_for(1s);\n'
finds words.sh src/a.cc 'std::cout << 1;\n'
finds words.sh src/a.cc '#include <format>\n'

accepts coroutines.sh src/a.cc 'co_await f(options);\nco_return Reply{1};\nauto x = Wait{1};\nco_await g(make(1), "({");\n'
finds coroutines.sh src/a.cc 'co_await f(Options{.a = 1});\n'
finds coroutines.sh src/a.cc 'co_await loop.f(1,\n    net::Options{.a = 1});\n'
finds coroutines.sh src/a.cc 'auto r = co_await f({1, 2});\n'
finds coroutines.sh src/a.cc 'co_await f(x + (y ? text() : ""));\n'
finds coroutines.sh src/a.cc 'const bool r = co_await f(\n  y ? a : b);\n'
accepts coroutines.sh src/a.cc 'const int x = y ? 1 : 2;\nco_await f(x);\n'
accepts coroutines.sh src/a.cc 'co_await f(Has{1});  // NOLINT(co_await-aggregate)\n'
accepts coroutines.sh src/a.cc 'const bool is = co_await f(x);\nif (is && h(")")) {\n  g(Options{1});\n  co_await k(x);\n}\n'
finds coroutines.sh src/a.cc 'if (co_await f(x)) {\n  g(1);\n}\n'
finds coroutines.sh src/a.cc 'while (!co_await f(x)) g();\n'
finds coroutines.sh src/a.cc 'if (is(1) &&\n    co_await f(g(x)) != 2) {\n}\n'
accepts coroutines.sh src/a.cc 'if (is(x)) co_await f(x);\nif (c == \047(\047) co_await f(x);\n'

tree src/a.cc "$(printf 'x\\n%.0s' {1..1001})"
if "$here/size.sh" "$scratch/tree" >/dev/null; then
  echo "size.sh does not find 1,001 lines"
  failures=$((failures + 1))
fi

mkdir "$scratch/nothing"
echo '[]' >"$scratch/nothing/compile_commands.json"
if "$here/clang_tidy.sh" "$scratch/nothing" >/dev/null 2>&1; then
  echo "clang_tidy.sh is content with a build that has no source"
  failures=$((failures + 1))
fi

echo "$failures of the checks' own tests failed"
((failures == 0))
