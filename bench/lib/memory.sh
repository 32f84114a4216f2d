# Resident memory per idle stream. Sourced by the scenarios that judge it.

idle_streams=1000

# kb_per_stream PROXY UPSTREAM_PORT: in $kb, the worst of three fresh processes. Their code and pools are
# warm before the first reading; kernel socket buffers are not part of it.
kb_per_stream() {
  local round
  kb=0
  for round in 1 2 3; do
    "start_$1" "$2" || return 1
    load --requests 500 --connections 8 && load --stream --connections 8 --warmup 0 --seconds 1 &&
      load --stream --connections "$idle_streams" --body 4096 --ramp 2 --warmup 4 --seconds 2 || return 1
    stop_proxy
    failed=$((failed + $(field errors "$result")))
    (($(field open "$result") == idle_streams)) || { echo "bench: $1 did not hold the streams: $result" >&2; return 1; }
    kb=$(awk -v a="$(field rss_before_kib "$result")" -v b="$(field rss_end_kib "$result")" -v n="$idle_streams" \
      -v kb="$kb" 'BEGIN { new = (b - a) * 1.024 / n; printf "%.2f", (new > kb ? new : kb) }')
  done
}
