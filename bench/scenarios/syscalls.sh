# system calls per plain request (strace -c): 1 KB requests, 64 connections
must='<= 4.5' aim='<= 4.1'

# calls_per_request NAME: in $calls. Tracing begins after the connections of a first load have warmed the
# pools; the 64 accepts and closes of the second are in the sum (0.02 of a call).
calls_per_request() {
  local requests=20000 pid_options pid
  "start_$1" "$upstream_instant" || return 1
  load --seconds 1 || return 1
  pid_options=(-p "$proxy_pid")
  for pid in $(children_of "$proxy_pid"); do pid_options+=(-p "$pid"); done
  start "$scratch/strace.log" strace -f -c -o "$scratch/strace.$1" "${pid_options[@]}"
  local tracer=$started
  sleep 1
  load --connections 64 --body 1024 --requests "$requests" || return 1
  kill -INT "$tracer" && wait "$tracer" 2>/dev/null
  stop "$tracer"
  stop_proxy
  calls=$(awk -v requests="$requests" '$NF == "total" { printf "%.3f", $(NF == 6 ? 4 : NF - 1) / requests }' "$scratch/strace.$1")
  [[ -n $calls ]]
}

run_scenario() {
  need strace strace || return 1
  calls_per_request "$subject" && single "$subject" "$calls" calls || return 1
  must='' aim=''
  calls_per_request nginx && single nginx "$calls" calls
}
