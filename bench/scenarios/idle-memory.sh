# resident memory per idle stream (KB): 1,000 plain streams, an event each second
must='<= 10' aim='<= 8'
upstream=idle

# kb_per_stream NAME: in $kb; the worst of three fresh processes. Their code and pools are warm before
# the first reading; kernel socket buffers are not part of it.
kb_per_stream() {
  local streams=1000 round
  kb=0
  for round in 1 2 3; do
    "start_$1" "$upstream_idle" || return 1
    load --requests 500 --connections 8 && load --stream --connections 8 --warmup 0 --seconds 1 || return 1
    load --stream --connections "$streams" --body 4096 --ramp 2 --warmup 4 --seconds 2 || return 1
    stop_proxy
    failed=$((failed + $(field errors "$result")))
    (($(field open "$result") == streams)) || { echo "bench: $1 did not hold $streams streams: $result" >&2; return 1; }
    kb=$(awk -v a="$(field rss_before_kib "$result")" -v b="$(field rss_end_kib "$result")" -v n="$streams" -v kb="$kb" \
      'BEGIN { new = (b - a) * 1.024 / n; printf "%.2f", (new > kb ? new : kb) }')
  done
}

run_scenario() {
  kb_per_stream "$subject" && single "idle-memory: $subject" "$kb" KB || return 1
  must='' aim=''
  local name
  for name in nginx haproxy; do kb_per_stream "$name" && single "  $name" "$kb" KB || return 1; done
}
