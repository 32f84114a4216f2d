# resident memory per idle stream (KB): 1,000 plain streams, an event each second
must='<= 10' aim='<= 8'

run_scenario() {
  local name
  source "$here/lib/memory.sh"
  kb_per_stream "$subject" "$upstream_idle" && single "$subject" "$kb" KB || return 1
  must='' aim=''
  for name in nginx haproxy; do kb_per_stream "$name" "$upstream_idle" && single "$name" "$kb" KB || return 1; done
}
