#!/usr/bin/env bash
# The includes of src/ point one way (docs/ARCHITECTURE.md): usage layering.sh [ROOT]
#
#   base < wire, model, net < admission, dialects, providers, routing, resilience, metering, ledger < relay
#        < upstream, storage, downstream, telemetry, console < config < simulator < app
#
# A folder includes folders of lower levels and itself, never a sibling of its own level. The third level is
# pure: it does not include net, and neither it nor wire and model touches sockets, files or threads. Only
# net names epoll, c-ares and OpenSSL's TLS, and only storage/sqlite SQLite. Test programs may use what they
# need to test.
set -uo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/../..}
cd "$root" || exit 2

find src -name '*.h' -o -name '*.cc' | LC_ALL=C sort | xargs awk '
  BEGIN {
    levels = "base|wire model net|admission dialects providers routing resilience metering ledger|relay|" \
             "upstream storage downstream telemetry console|config|simulator|app"
    n = split(levels, groups, "|")
    for (i = 1; i <= n; i++) {
      m = split(groups[i], folders, " ")
      for (j = 1; j <= m; j++) level[folders[j]] = i
    }
  }
  function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
  FNR == 1 {
    split(FILENAME, path, "/")
    folder = path[2]
    is_test = FILENAME ~ /_test\.cc$/ || FILENAME ~ /\/testing\//
    if (!(folder in level)) complain("folder " folder " has no level; see tools/lint/layering.sh")
    pure = folder == "wire" || folder == "model" || level[folder] == 3
  }
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    target = $0
    sub(/^[^"]*"/, "", target)
    sub(/".*/, "", target)
    split(target, parts, "/")
    to = parts[1]
    # Test programs may use the fixtures of tests/.
    if (is_test && to == "tests") next
    if (!(to in level)) complain("\"" target "\" is not a path from src/")
    else if (to != folder && level[to] >= level[folder]) complain(folder " must not include " to " (" target ")")
    else if (level[folder] == 3 && to == "net") complain(folder " is pure and must not include net (" target ")")
    next
  }
  /^[ \t]*#[ \t]*include[ \t]*</ {
    header = $0
    sub(/^[^<]*</, "", header)
    sub(/>.*/, "", header)
    if (folder != "net" && !is_test && header ~ /^(sys\/epoll\.h|ares\.h|openssl\/ssl\.h)$/)
      complain("only net may include <" header ">")
    if (FILENAME !~ /^src\/storage\/sqlite\// && header == "sqlite3.h")
      complain("only storage/sqlite may include <" header ">")
    if (pure && !is_test && header ~ /^(sys\/socket\.h|netinet\/.*|poll\.h|thread|fstream|filesystem)$/)
      complain(folder " is pure and must not include <" header ">")
  }
  END { exit bad }
'
