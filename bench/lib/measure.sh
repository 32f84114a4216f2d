# Measuring: one run of one proxy, and the interleaved pairs that a bar is judged by. Sourced by bench/run.

# The mock provider, once for the whole bench: `instant` answers at once and writes a whole stream in one
# write; `paced` sends an event each 20 ms for a second; `idle` one each second for two minutes.
start_mock() {
  local ports
  start "$scratch/mock.log" taskset -c "$load_cpu" "$tools/qq_mock" 0:0:50:50:0 0:0:50:1:20000 0:0:120:1:1000000
  mock_pid=$started
  until ports=$(grep -o '[0-9][0-9,]*' "$scratch/mock.log"); do
    kill -0 "$mock_pid" 2>/dev/null || return 1
    sleep 0.05
  done
  IFS=, read -r upstream_instant upstream_paced upstream_idle <<<"$ports"
}

# field NAME JSON: a number of qq_load's line.
field() { sed -n "s/.*\"$1\":\(-\{0,1\}[0-9.]*\).*/\1/p" <<<"$2"; }

# load OPTIONS...: against the proxy that runs; the line of results is in $result.
load() {
  result=$(timeout -k 5 300 taskset -c "$load_cpu" "$tools/qq_load" --port "$proxy_port" --pid "$proxy_pid" \
    "${client_options[@]}" "$@") || { echo "bench: the load generator failed: $result" >&2; return 1; }
}

# measure NAME OPTIONS...: a fresh process of proxy NAME in front of $upstream, loaded and stopped.
# Requests that fail are worth a message: a proxy that answers errors is quick.
measure() {
  local name=$1 port_of=upstream_$upstream
  shift
  "start_$name" "${!port_of}" || return 1
  load "$@"
  local status=$?
  if [[ $name != direct ]]; then stop_proxy; fi
  ((status == 0)) || return 1
  local errors
  errors=$(field errors "$result")
  failed=$((failed + errors))
  if ((errors > 0)); then
    echo "bench: $name: $errors errors; the first: $(sed -n 's/.*"first_error":"\(.*\)"}/\1/p' <<<"$result")" >&2
  fi
  echo "{\"scenario\":\"$scenario\",\"proxy\":\"$name\",${result#\{}" >>"$scratch/runs.jsonl"
}

# holds BAR BOUND: whether "OP NUMBER" is true of the bound.
holds() { awk -v bound="$2" -v bar="$1" 'BEGIN { split(bar, b, " "); exit !(b[1] == ">=" ? bound >= b[2] : bound <= b[2]) }'; }

# judge BOUND: sets $verdict from $must and $aim.
judge() {
  if [[ -z $must ]]; then
    verdict=report
  elif ((failed > 0)); then
    verdict="MISSED (errors)"
  elif [[ -n $aim ]] && holds "$aim" "$1"; then
    verdict="aim"
  elif holds "$must" "$1"; then
    verdict="must"
  else
    verdict="MISSED"
  fi
  if [[ $verdict == MISSED* ]]; then missed=$((missed + 1)); fi
}

# row WHAT OURS THEIRS VALUE RANGE: a line of the final table.
row() {
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "${must:--}" "${aim:--}" "$verdict" \
    >>"$scratch/table.tsv"
  print_table "$scratch/table.tsv" | tail -n 1
}

print_table() {
  awk -F'\t' 'BEGIN { printf "%-30s %15s %10s %9s  %-20s %-8s %-8s %s\n",
                      "what", "ours", "theirs", "value", "95 % bounds", "must", "aim", "verdict" }
              { printf "%-30s %15s %10s %9s  %-20s %-8s %-8s %s\n", $1, $2, $3, $4, $5, $6, $7, $8 }' "$1"
}

# result_json NAME PAIRS_FILE: one object of the results file, with every pair, from the variables that
# the statistics left.
result_json() {
  local pairs_json
  pairs_json=$(awk '{ printf "%s[%s,%s]", (NR > 1 ? "," : ""), $1, $2 }' "$2")
  printf '{"name":"%s","metric":"%s","ours":%s,"theirs":%s,"median":%s,"lower":%s,"upper":%s,"must":"%s","aim":"%s","verdict":"%s","pairs":[%s]}\n' \
    "$1" "$metric" "$ours" "$theirs" "$median" "$lower" "$upper" "$must" "$aim" "$verdict" "$pairs_json" >>"$scratch/results.jsonl"
}

# compare NAME OURS THEIRS [judged]: statistics of two columns of measurements, a row and an object.
compare() {
  local count median lower upper least most ours theirs bound keep_must=$must keep_aim=$aim
  paste -d' ' "$2" "$3" >"$scratch/pairs"
  eval "$(awk -v mode="$mode" -f "$here/lib/stats.awk" "$scratch/pairs")"
  if [[ ${4:-} != judged ]]; then must='' aim=''; fi
  if [[ $must == '>='* ]]; then bound=$lower; else bound=$upper; fi
  judge "$bound"
  row "$1" "$ours" "$theirs" "$median" "[$lower, $upper]"
  result_json "$1" "$scratch/pairs"
  must=$keep_must aim=$keep_aim
}

# run_pairs: what a scenario with rivals does. In each round every proxy runs once in a fresh process, the
# judged rival twice (before and after ours), and every second round in the opposite order.
run_pairs() {
  local first=${rivals%% *} others='' order name round again=$noise_floor slot
  [[ $rivals == *' '* ]] && others=${rivals#* }
  rm -f "$scratch/$scenario".*
  for ((round = 1; round <= pairs; round++)); do
    order="$first:1 $subject:ours"
    [[ $again == yes ]] && order+=" $first:2"
    for name in $others; do order+=" $name:1"; done
    ((round % 2 == 0)) && order=$(tr ' ' '\n' <<<"$order" | tac | tr '\n' ' ')
    for slot in $order; do
      # shellcheck disable=SC2086
      measure "${slot%:*}" $load_options --seconds "$seconds" || return 1
      field "$metric" "$result" >>"$scratch/$scenario.$slot"
    done
    if [[ -t 2 ]]; then printf '\r%s: round %d of %d ' "$scenario" "$round" "$pairs" >&2; fi
  done
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
  compare "$scenario: $subject, $first" "$scratch/$scenario.$subject:ours" "$scratch/$scenario.$first:1" judged
  if [[ $again == yes ]]; then
    compare "  $first, itself" "$scratch/$scenario.$first:2" "$scratch/$scenario.$first:1"
  fi
  for name in $others; do
    compare "  $subject, $name" "$scratch/$scenario.$subject:ours" "$scratch/$scenario.$name:1"
  done
}

# single NAME VALUE UNIT: a row for a figure that has no rival, judged as it stands.
single() {
  judge "$2"
  row "$1" "$2 $3" "-" "-" "-"
  printf '{"name":"%s","value":%s,"unit":"%s","must":"%s","aim":"%s","verdict":"%s"}\n' "$1" "$2" "$3" "$must" \
    "$aim" "$verdict" >>"$scratch/results.jsonl"
}

# median_of FILE: of one number a line.
median_of() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
