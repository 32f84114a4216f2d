#!/usr/bin/env bash
# clang-format over all C++ files: usage format.sh [--fix]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
if [[ ${1:-} == --fix ]]; then arguments=(-i); else arguments=(--dry-run --Werror); fi
git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' |
  xargs -d '\n' -r -n 20 -P 2 clang-format-19 "${arguments[@]}"
