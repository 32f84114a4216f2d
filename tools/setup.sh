#!/usr/bin/env bash
# Installs what is missing from Debian 12, and says what. See --help.
set -uo pipefail

usage() {
  cat <<'END'
usage: tools/setup.sh [--list] [GROUP...]

Installs the Debian 12 packages that a group needs and that are missing. Groups (default: build):

  build      compiler and libraries, and curl to ask the demo: enough for ./run
  sanitize   run-time libraries of the sanitizers, the fuzzers and the profile
  lint       clang-format and clang-tidy
  e2e        npm, which then brings the pinned Node and the official SDKs
  bench      nginx and HAProxy to compare with, and the tools that measure

--list prints the packages of the groups and installs nothing.
Uses root or sudo; without either it says which command to run. No service that comes with a package is
started. Exit code: 0 everything is there, 1 something is missing.
END
}

build=(git ca-certificates curl clang-19 lld-19 g++ cmake ninja-build ccache mold pkg-config libsimdjson-dev libssl-dev libc-ares-dev
  libsqlite3-dev zlib1g-dev libzstd-dev libbrotli-dev libyaml-cpp-dev libcli11-dev libfmt-dev libgtest-dev libgmock-dev
  prometheus-cpp-dev)
sanitize=(libclang-rt-19-dev llvm-19)
lint=(clang-format-19 clang-tidy-19)
e2e=(npm)
bench=(nginx-light haproxy strace valgrind slowhttptest npm)

groups=() list=no
for argument in "$@"; do
  case $argument in
    --help | -h) usage && exit 0 ;;
    --list) list=yes ;;
    build | sanitize | lint | e2e | bench) groups+=("$argument") ;;
    *) echo "tools/setup.sh: unknown group '$argument' (see --help)" >&2 && exit 2 ;;
  esac
done
((${#groups[@]} > 0)) || groups=(build)

wanted=()
for group in "${groups[@]}"; do
  declare -n packages=$group
  wanted+=("${packages[@]}")
done
if [[ $list == yes ]]; then printf '%s\n' "${wanted[@]}" | sort -u && exit 0; fi

if ! command -v dpkg-query >/dev/null; then
  echo "tools/setup.sh: this is not Debian; please install the equivalents of: ${wanted[*]}" >&2
  exit 1
fi

is_there() {
  # npm may have come another way than by a package, and so may the package that another brand of it provides.
  [[ $1 == npm ]] && command -v npm >/dev/null && return 0
  [[ $1 == nginx-light ]] && command -v nginx >/dev/null && return 0
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing=()
for package in "${wanted[@]}"; do is_there "$package" || missing+=("$package"); done
((${#missing[@]} > 0)) || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    {
      echo "These Debian packages are missing, and installing them needs root:"
      echo "  ${missing[*]}"
      echo "As root, run:"
      echo "  apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
    } >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing from Debian, with all that they depend on: ${missing[*]}"

# Packages of servers would start them: 101 forbids it. Removed again, unless the machine has its own policy.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

log=$(mktemp)
apt_get() {
  # One line per package is progress; the rest is kept for when it fails.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --yes -o DPkg::Lock::Timeout=300 "$@" 2>&1 |
    tee "$log" | awk '
      function say(text) { print "setup:   " text; fflush() }
      /^(Need to get|Setting up)/ { say($0) }
      /^Get:/ && ++got % 20 == 0 { say("downloaded " got " files") }
      /^Unpacking / && ++unpacked % 20 == 0 { say("unpacked " unpacked " packages") }'
  return "${PIPESTATUS[0]}"
}
if ! apt_get update || ! apt_get install --no-install-recommends "${missing[@]}"; then
  tail -n 20 "$log" >&2
  echo "tools/setup.sh: apt-get failed; its last words are above (this needs Debian 12)" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
