# Functions of ./test that count results; sourced, not run.
# shellcheck shell=bash disable=SC2034

# count PASSED FAILED SKIPPED: adds to the part that runs.
count() {
  part_passed=$((part_passed + $1))
  part_failed=$((part_failed + $2))
  part_skipped=$((part_skipped + $3))
}

# Sums of one GoogleTest XML file: "passed failed skipped".
googletest_sums() {
  awk '
    function attribute(name,   text) {
      if (!match($0, "[ ]" name "=\"[0-9]+\"")) return 0
      text = substr($0, RSTART, RLENGTH)
      gsub(/[^0-9]/, "", text)
      return text + 0
    }
    /<testsuite / {
      tests += attribute("tests")
      failed += attribute("failures") + attribute("errors")
      skipped += attribute("skipped") + attribute("disabled")
    }
    END { print tests - failed - skipped, failed + 0, skipped + 0 }' "$1"
}

# Counts what ctest ran: a GoogleTest program by its own tests, anything else as one test. A program that
# failed without saying which test did (a crash, a timeout) counts as one failure.
count_ctest() {
  local results=$1 name status xml passed failed skipped
  [[ -f $results/ctest.junit ]] || { count 0 1 0; return; }
  while read -r name status; do
    xml=$results/${name#*.}_test.xml
    passed=0 failed=0 skipped=0
    if [[ -f $xml ]]; then read -r passed failed skipped < <(googletest_sums "$xml"); fi
    case $status in
      run) if [[ ! -f $xml ]]; then passed=1; fi ;;
      fail) if ((failed == 0)); then failed=1; fi ;;
      *) skipped=$((skipped + 1)) ;;
    esac
    count "$passed" "$failed" "$skipped"
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="\([a-z]*\)".*/\1 \2/p' "$results/ctest.junit")
  if ((part_passed + part_failed + part_skipped == 0)); then count 0 1 0; fi
}

# Counts of node's TAP reporter: "# pass 3", "# fail 0", "# skipped 1".
count_node() {
  local pass fail skipped
  pass=$(sed -n 's/^# pass \([0-9]*\)$/\1/p' "$1" | tail -n 1)
  fail=$(sed -n 's/^# fail \([0-9]*\)$/\1/p' "$1" | tail -n 1)
  skipped=$(sed -n 's/^# skipped \([0-9]*\)$/\1/p' "$1" | tail -n 1)
  count "${pass:-0}" "${fail:-1}" "${skipped:-0}"
}

# Says every half minute how far a part's log has come, so that a long part is seen to be alive.
heartbeat() {
  local part=$1 log=$2 waited=0 line
  # A builtin waits, so that no `sleep` outlives this function.
  while ! read -rt 30 <> <(:); do
    waited=$((waited + 30))
    line=$(tail -n 1 "$log" 2>/dev/null | cut -c 1-90)
    printf '    %-7s %4d s … %s\n' "$part" "$waited" "$line"
  done
}

# What went wrong, from a part's log: lines that name failures, then the end.
show_failure() {
  echo "    --- $1: what failed"
  grep -E '(error:|\*\*\*Failed|\*\*\*Timeout|: Failure|^not ok|ERROR: |SUMMARY: |\[  FAILED  \])' "$1" | head -n 40
  echo "    --- $1: the end"
  tail -n 40 "$1"
}
