# Starting and stopping: everything that runs in the background is remembered here and is gone when the
# script ends, however it ends. Sourced by bench/run and bench/instructions/run.

background=()  # process ids
PATH=$PATH:/usr/sbin:/sbin  # where Debian has nginx and HAProxy, and a user's shell does not look

# start LOG COMMAND...: in the background; the id is in $started. It also dies with this shell (Linux's
# parent-death signal), should the shell be killed before its trap can run.
start() {
  local log=$1
  shift
  setpriv --pdeathsig TERM "$@" >>"$log" 2>&1 </dev/null &
  started=$!
  background+=("$started")
}

stop_patience=3  # seconds

# stop PID: asks, waits so long, then kills.
stop() {
  local pid=$1 left=() other i
  kill -TERM "$pid" 2>/dev/null
  for ((i = 0; i < stop_patience * 20; i++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  for other in "${background[@]}"; do [[ $other == "$pid" ]] || left+=("$other"); done
  background=("${left[@]}")
}

stop_all() {
  local pid
  for pid in "${background[@]}"; do stop "$pid"; done
}

stop_everything_at_exit() {
  trap stop_all EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# wait_for_port PORT PID [SECONDS]: prints the Unix time in microseconds at which it accepted.
wait_for_port() {
  "$tools/qq_load" --port "$1" --wait --seconds "${3:-10}" || { kill -0 "$2" 2>/dev/null; return 1; }
}

# free_port: a port of the loopback that nothing listens on, in $port. Below the ephemeral range, so
# that no outgoing connection takes it before the proxy does.
free_port() {
  local i
  for ((i = 0; i < 100; i++)); do
    port=$((10000 + RANDOM % 20000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
  done
  echo "no free port" >&2
  return 1
}

# children_of PID: the fourth field of /proc/PID/stat, behind a name that may hold anything, is the parent.
children_of() {
  cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (.*) [A-Za-z] $1 .*/\1/p"
}
