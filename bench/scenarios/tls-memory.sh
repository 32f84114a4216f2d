# resident memory per idle stream with a TLS upstream, above an idle OpenSSL client's (KB)
must='<= 8' aim='<= 6'

run_scenario() {
  local full resumed
  source "$here/lib/memory.sh"
  if [[ $subject != queqiao ]]; then echo "tls-memory: only for queqiao" >&2 && return 0; fi
  start_tls_front "$upstream_idle" || return 1
  full=$("$tools/qq_tls_idle" "$tls_port" "$idle_streams" full | sed -n 's/.*"kb_per_connection":\([0-9.]*\).*/\1/p')
  resumed=$("$tools/qq_tls_idle" "$tls_port" "$idle_streams" resumed | sed -n 's/.*"kb_per_connection":\([0-9.]*\).*/\1/p')
  [[ -n $full && -n $resumed ]] && kb_per_stream queqiao_tls "$tls_port" || return 1
  stop "$tls_pid"
  single "above an OpenSSL client" "$(awk -v a="$kb" -v b="$full" 'BEGIN { printf "%.2f", a - b }')" KB
  must='' aim=''
  single "in all" "$kb" KB
  single "OpenSSL client" "$full" KB
  single "OpenSSL client, resumed" "$resumed" KB
}
