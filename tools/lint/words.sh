#!/usr/bin/env bash
# Words and forms that do not belong in the tree: usage words.sh [ROOT]
set -uo pipefail
root=${1:-$(dirname "${BASH_SOURCE[0]}")/../..}
cd "$root" || exit 2

bad=0
# forbid REASON PATTERN PATHSPEC...: no line of the files matches the extended regular expression.
forbid() {
  local reason=$1 pattern=$2
  shift 2
  local hits
  hits=$(files "$@" | xargs -d '\n' -r grep -nEI -e "$pattern" -- /dev/null)
  if [[ -n $hits ]]; then
    printf '%s\n' "$hits" | sed "s|\$|    <- $reason|"
    bad=1
  fi
}

# Tracked and new files that match the globs, but for these checks themselves.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    find . -type f | sed 's|^\./||' | while read -r file; do
      for glob in "$@"; do
        [[ $glob != :!* ]] || continue
        # shellcheck disable=SC2254
        case $file in $glob) echo "$file" ;; esac
      done
    done
  fi | grep -vE '^tools/lint/(words|selftest)\.sh$|package-lock\.json$' | sort -u
}

everything='*'
forbid 'a path of one machine' '(^|[^a-zA-Z0-9._])/(work|root)/' "$everything"
forbid 'a registry or its mirror' '(registry\.npmjs|npmjs\.org|pypi\.org|crates\.io)' "$everything"
forbid 'an unfinished thing without what would end it' '(FIXME|(^|[^A-Za-z_])XXX($|[^A-Za-z])|HACK|TODO($|[^(:]))' '*.cc' '*.h' '*.sh' '*.ts' '*.md'
forbid 'an issue number belongs into the commit message' '([Ii]ssue|PR|GH) ?#[0-9]+' '*.cc' '*.h' '*.sh' '*.ts' '*.md' '*.cmake' '*.txt'
forbid 'names no job (style: names)' '^(class|struct) [A-Za-z]+(Impl|Manager|Util|Utils|Helper)( |$|:)' '*.cc' '*.h'
forbid 'pulls all of std into scope' 'using namespace std;' '*.cc' '*.h'
forbid 'tests do not sleep' '(this_thread::sleep_|[^a-z_](u|nano)sleep\()' '*_test.cc'
forbid 'output goes through fmt or the log' 'std::(cout|cerr|endl)' 'src/*.cc' 'src/*.h' ':!src/app/cli'
forbid 'libstdc++ 12 has no such header' '#include <(format|print|generator)>' '*.cc' '*.h'
forbid 'headers start with #pragma once after their comment, not with guards' '^#ifndef [A-Z_]+_H_?$' '*.h'
exit "$bad"
