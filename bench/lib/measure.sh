# Measuring: one run of one proxy, and the interleaved pairs that a bar is judged by. Sourced by bench/run.

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
    verdict=-
  elif ((failed > 0)); then
    verdict="MISSED (errors)"
  elif [[ -n $aim ]] && holds "$aim" "$1"; then
    verdict="aim met"
  elif holds "$must" "$1"; then
    verdict="must met"
  else
    verdict="MISSED"
  fi
  if [[ $verdict == MISSED* ]]; then missed=$((missed + 1)); fi
}

# row COLUMNS...: a line of the table. The scenario's name stands before its first row only.
row() {
  local label=$scenario
  [[ $scenario == "$last_label" ]] && label=''
  last_label=$scenario
  printf '%-13s %-24s %11s %11s %9s  %-21s %-8s %-8s %s\n' "$label" "$@"
}

print_heading() {
  local scenario=scenario last_label=''
  row what ours theirs value "95 % bounds" must aim verdict
}

# compare WHAT OURS THEIRS [judged]: statistics of two columns of measurements, as a row and, with every
# pair, as an object of the results file.
compare() {
  local count median lower upper least most ours theirs bound pairs_json must=$must aim=$aim
  paste -d' ' "$2" "$3" >"$scratch/pairs"
  eval "$(awk -v mode="$mode" -f "$here/lib/stats.awk" "$scratch/pairs")"
  if [[ ${4:-} != judged ]]; then must='' aim=''; fi
  if [[ $must == '>='* ]]; then bound=$lower; else bound=$upper; fi
  judge "$bound"
  row "$1" "$ours" "$theirs" "$median" "[$lower, $upper]" "${must:--}" "${aim:--}" "$verdict"
  pairs_json=$(awk '{ printf "%s[%s,%s]", (NR > 1 ? "," : ""), $1, $2 }' "$scratch/pairs")
  printf '{"scenario":"%s","what":"%s","metric":"%s","value":"%s","ours":%s,"theirs":%s,"median":%s,"lower":%s,"upper":%s,"must":"%s","aim":"%s","verdict":"%s","pairs":[%s]}\n' \
    "$scenario" "$1" "$metric" "$mode" "$ours" "$theirs" "$median" "$lower" "$upper" "$must" "$aim" "$verdict" "$pairs_json" \
    >>"$scratch/results.jsonl"
}

# run_pairs: what a scenario with rivals does. In each round every proxy runs in a fresh process, the judged
# rival in two (its ratio to itself is the noise), and every second round in the opposite order. A machine's
# speed drifts within seconds, so the processes take turns: requests of a few dozen milliseconds ($turn_ms),
# streams of whole slices ($slices). Each meets the same weather.
run_pairs() {
  local first=${rivals%% *} others='' order name round slot
  [[ $rivals == *' '* ]] && others=${rivals#* }
  for ((round = 1; round <= pairs; round++)); do
    order="$first:1 $contender:ours"
    [[ $noise_floor == yes ]] && order+=" $first:2"
    for name in $others; do order+=" $name:1"; done
    ((round % 2 == 0)) && order=$(reversed "$order")
    if ((turn_ms > 0)); then
      run_round_in_turns || return 1
    elif ((slices > 1)); then
      run_sliced_round || return 1
    else
      run_round || return 1
    fi
    if [[ -t 2 ]]; then printf '\r%s: round %d of %d ' "$scenario" "$round" "$pairs" >&2; fi
  done
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
  compare "$contender, $first" "$scratch/$scenario.$contender:ours" "$scratch/$scenario.$first:1" judged
  if [[ $noise_floor == yes ]]; then
    compare "$first, $first (noise)" "$scratch/$scenario.$first:2" "$scratch/$scenario.$first:1"
  fi
  for name in $others; do
    compare "$contender, $name" "$scratch/$scenario.$contender:ours" "$scratch/$scenario.$name:1"
  done
}

reversed() { tr ' ' '\n' <<<"$1" | tac | tr '\n' ' '; }

note_value() {
  if [[ $2 =~ ^0*\.?0*$ ]]; then echo "bench: nothing was measured: $result" >&2 && return 1; fi
  echo "$2" >>"$scratch/$scenario.$1"
}

# One process after the other, each measured in one window.
run_round() {
  local slot
  for slot in $order; do
    # shellcheck disable=SC2086
    measure "${slot%:*}" $load_options --seconds "$seconds" || return 1
    note_value "$slot" "$(field "$metric" "$result")" || return 1
  done
}

# All processes at once, loaded in turn; what counts is the sum over a process's slices.
run_sliced_round() {
  local slot slice part turn port_of=upstream_$upstream errors per
  local -A pid_of=() port_at=() options_of=() spent=() done_of=()
  part=$(awk -v s="$seconds" -v n="$slices" 'BEGIN { print s / n }')
  case $metric in
    cpu_us_per_request) per=requests ;;
    cpu_us_per_event) per=events ;;
    cpu_us_per_delta) per=deltas ;;
    *) echo "bench: $metric cannot be measured in slices" >&2 && return 1 ;;
  esac
  for slot in $order; do
    "start_${slot%:*}" "${!port_of}" || return 1
    pid_of[$slot]=$proxy_pid port_at[$slot]=$proxy_port options_of[$slot]="${client_options[*]}"
  done
  for ((slice = 1; slice <= slices; slice++)); do
    turn=$order
    ((slice % 2 == 0)) && turn=$(reversed "$order")
    for slot in $turn; do
      proxy_pid=${pid_of[$slot]} proxy_port=${port_at[$slot]}
      read -ra client_options <<<"${options_of[$slot]}"
      # shellcheck disable=SC2086
      load $load_options $slice_options --seconds "$part" || return 1
      errors=$(field errors "$result")
      failed=$((failed + errors))
      if ((errors > 0)); then echo "bench: ${slot%:*}: $errors errors" >&2; fi
      spent[$slot]=$((${spent[$slot]:-0} + $(field cpu_us "$result")))
      done_of[$slot]=$((${done_of[$slot]:-0} + $(field "$per" "$result")))
      echo "{\"scenario\":\"$scenario\",\"proxy\":\"${slot%:*}\",${result#\{}" >>"$scratch/runs.jsonl"
    done
  done
  for slot in $order; do
    stop "${pid_of[$slot]}"
    note_value "$slot" \
      "$(awk -v us="${spent[$slot]}" -v n="${done_of[$slot]}" 'BEGIN { printf "%.4f", (n > 0 ? us / n : 0) }')" || return 1
  done
}

# All processes at once, each with a generator of its own; the generators take turns of a few dozen
# milliseconds, so that all meet the same weather. Between its turns a proxy is idle and costs nothing.
run_round_in_turns() {
  local slot number=0 count time errors port_of=upstream_$upstream
  local -A pid_of=() generator_of=()
  # shellcheck disable=SC2086
  set -- $order
  count=$#
  time=$(awk -v s="$seconds" -v n="$count" 'BEGIN { print s * n }')
  for slot in $order; do
    "start_${slot%:*}" "${!port_of}" || return 1
    pid_of[$slot]=$proxy_pid
    # shellcheck disable=SC2086
    timeout -k 5 300 taskset -c "$load_cpu" "$tools/qq_load" --port "$proxy_port" --pid "$proxy_pid" \
      "${client_options[@]}" $load_options --turn "$number/$count:$turn_ms" --seconds "$time" >"$scratch/turn.$slot" &
    generator_of[$slot]=$!
    number=$((number + 1))
  done
  for slot in $order; do
    wait "${generator_of[$slot]}" || { echo "bench: the load generator of ${slot%:*} failed" >&2; return 1; }
    result=$(<"$scratch/turn.$slot")
    errors=$(field errors "$result")
    failed=$((failed + errors))
    if ((errors > 0)); then echo "bench: ${slot%:*}: $errors errors" >&2; fi
    if [[ ${slot%:*} != direct ]]; then stop "${pid_of[$slot]}"; fi
    echo "{\"scenario\":\"$scenario\",\"proxy\":\"${slot%:*}\",${result#\{}" >>"$scratch/runs.jsonl"
    note_value "$slot" "$(field "$metric" "$result")" || return 1
  done
}

# single WHAT VALUE UNIT: a row for a figure that has no rival, judged as it stands.
single() {
  judge "$2"
  row "$1" "$2 $3" - - - "${must:--}" "${aim:--}" "$verdict"
  printf '{"scenario":"%s","what":"%s","ours":%s,"unit":"%s","must":"%s","aim":"%s","verdict":"%s"}\n' \
    "$scenario" "$1" "$2" "$3" "$must" "$aim" "$verdict" >>"$scratch/results.jsonl"
}

# median_of FILE: of one number a line.
median_of() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
