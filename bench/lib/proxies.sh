# The programs under test. Each `start_NAME UPSTREAM_PORT` starts a fresh process on CPU 0 and leaves its
# id in $proxy_pid, its port in $proxy_port, what a client must send in $client_options, and the time from
# exec to the first accepted connection in $proxy_start_us. Sourced by bench/run.

proxy_cpu=0
load_cpu=$(($(nproc) > 1 ? 1 : 0))  # the count of instructions does not mind sharing one
under=()  # a command that runs the proxy, such as valgrind

need() {
  command -v "$1" >/dev/null && return 0
  echo "bench: '$1' is missing; on Debian 12: apt-get install $2" >&2
  return 1
}

# launch NAME COMMAND...: common to all of them.
launch() {
  local name=$1 begin ready
  shift
  : >"$scratch/$name.log"  # only the last run's is kept
  begin=${EPOCHREALTIME/./}
  start "$scratch/$name.log" taskset -c "$proxy_cpu" "${under[@]}" "$@"
  proxy_pid=$started
  if ! ready=$(wait_for_port "$proxy_port" "$proxy_pid" 30); then
    echo "bench: $name does not listen; the end of $scratch/$name.log:" >&2
    tail -n 5 "$scratch/$name.log" >&2
    return 1
  fi
  proxy_start_us=$((ready - begin))
}

fill_in() { sed -e "s|@DIR@|$scratch|g" -e "s|@LISTEN@|$proxy_port|g" -e "s|@UPSTREAM@|$2|g" "$1"; }

start_nginx() {
  need nginx nginx-light || return 1
  free_port && proxy_port=$port
  fill_in "$here/proxies/nginx.conf" "$1" >"$scratch/nginx.conf"
  client_options=()
  launch nginx nginx -e "$scratch/nginx.log" -p "$scratch" -c "$scratch/nginx.conf"
}

start_haproxy() {
  need haproxy haproxy || return 1
  free_port && proxy_port=$port
  fill_in "$here/proxies/haproxy.cfg" "$1" >"$scratch/haproxy.cfg"
  client_options=()
  launch haproxy haproxy -f "$scratch/haproxy.cfg"
}

# Installed on first use from the npm registry, as pinned in bench/portkey.
install_portkey() {
  need node nodejs && need npm npm || return 1
  portkey=$build/bench/portkey
  if ! cmp -s "$here/portkey/package-lock.json" "$portkey/installed.json"; then
    echo "bench: installing @portkey-ai/gateway from npm into $portkey" >&2
    mkdir -p "$portkey" && cp "$here"/portkey/package*.json "$portkey/" || return 1
    (cd "$portkey" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >"$scratch/npm.log" 2>&1) ||
      { tail -n 5 "$scratch/npm.log" >&2; return 1; }
    cp "$portkey/package-lock.json" "$portkey/installed.json"
  fi
}

start_portkey() {
  install_portkey || return 1
  free_port && proxy_port=$port
  client_options=(--key sk-upstream --header "x-portkey-provider: openai"
    --header "x-portkey-custom-host: http://127.0.0.1:$1/v1")
  launch portkey env NODE_ENV=production TRUSTED_CUSTOM_HOSTS=127.0.0.1 \
    node "$portkey/node_modules/@portkey-ai/gateway/build/start-server.js" --headless "--port=$proxy_port"
}

# A key and its hash under a pepper of our own, once per run of the bench.
make_client_key() {
  [[ -n ${client_key:-} ]] && return 0
  export QUEQIAO_KEY_PEPPER=pepper-of-the-bench-$RANDOM$RANDOM$RANDOM$RANDOM$RANDOM
  client_key=$("$binary" keys new 2>"$scratch/keys.log" | grep -o -m1 'sk-qq_[0-9A-Za-z]*') &&
    QQ_BENCH_KEY_HASH=$("$binary" keys hash <<<"$client_key" 2>>"$scratch/keys.log" | grep -o -m1 'hmac-sha256:[0-9a-f]*') &&
    export QQ_BENCH_KEY_HASH && return 0
  echo "bench: '$binary keys new' and 'keys hash' gave no key: $(<"$scratch/keys.log")" >&2
  return 1
}

start_queqiao() { launch_queqiao queqiao "http://127.0.0.1:$1/v1"; }

# The same gateway, asked in Anthropic's dialect: the mock speaks chat, so every request and event is translated.
start_translated() { start_queqiao "$1" && client_options+=(--path /v1/messages); }

# The provider is behind TLS: UPSTREAM_PORT is that of start_tls_front.
start_queqiao_tls() {
  SSL_CERT_FILE=$scratch/ca.pem launch_queqiao queqiao_tls "https://localhost:$1/v1"
}

launch_queqiao() {
  make_client_key || return 1
  free_port && proxy_port=$port
  client_options=(--key "$client_key")
  QQ_BENCH_LISTEN=$proxy_port QQ_BENCH_UPSTREAM=$2 launch "$1" "$binary" serve --config "$here/queqiao.yaml"
}

stop_proxy() { stop "$proxy_pid"; }

# No proxy at all: what the load generator and the mock alone need. Its "processor time" is the mock's.
start_direct() {
  proxy_pid=$mock_pid proxy_port=$1 proxy_start_us=0
  client_options=()
}

stop_direct() { :; }

# The mock provider, once for the whole script: `instant` answers at once and writes a whole stream in
# one write; `paced` sends an event each 20 ms for a second; `idle` one each second for two minutes.
start_mock() {
  local ports
  : >"$scratch/mock.log"
  start "$scratch/mock.log" taskset -c "$load_cpu" "$tools/qq_mock" 0:0:50:50:0 0:0:50:1:20000 0:0:120:1:1000000
  mock_pid=$started
  until ports=$(grep -o '[0-9][0-9,]*' "$scratch/mock.log"); do
    kill -0 "$mock_pid" 2>/dev/null || return 1
    sleep 0.05
  done
  # shellcheck disable=SC2034
  IFS=, read -r upstream_instant upstream_paced upstream_idle <<<"$ports"
}

# An authority and a certificate for localhost, good for a day, in $scratch: ca.pem, server.pem, server.key.
make_certificates() {
  [[ -f $scratch/server.pem ]] && return 0
  need openssl openssl || return 1
  (
    cd "$scratch" || exit 1
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=bench authority" \
      -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout server.key -out server.csr
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -out server.pem \
      -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1)
  ) 2>"$scratch/openssl.log"
}

# start_tls_front UPSTREAM_PORT: TLS in front of the mock; its port is in $tls_port, its process in $tls_pid.
start_tls_front() {
  make_certificates && need nginx nginx-light || return 1
  free_port && tls_port=$port
  sed -e "s|@DIR@|$scratch|g" -e "s|@LISTEN@|$tls_port|g" -e "s|@UPSTREAM@|$1|g" "$here/proxies/tls.conf" >"$scratch/tls.conf"
  start "$scratch/tls.log" taskset -c "$load_cpu" nginx -e "$scratch/tls.log" -p "$scratch" -c "$scratch/tls.conf"
  tls_pid=$started
  wait_for_port "$tls_port" "$tls_pid" >/dev/null
}
