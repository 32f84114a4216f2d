# 9,500 slow streams, or what the descriptor limit allows, held for a minute (reported, no bar)
upstream=idle
seconds=60

run_scenario() {
  local streams=$((($(ulimit -n) - 500) / 2))
  ((streams > 9500)) && streams=9500
  "start_$subject" "$upstream_idle" || return 1
  load --stream --connections "$streams" --body 4096 --ramp 8 --warmup 10 --seconds "$seconds" || return 1
  stop_proxy
  single "held to the end" "$(field open "$result")" streams
  single "asked for" "$streams" streams
  single "errors" "$(field errors "$result")" ""
  single "events" "$(field events_per_second "$result")" /s
  single "processor" "$(field cpu_share "$result")" cores
  single "event delay, median" "$(field delay_p50_us "$result")" us
  single "event delay, p99" "$(field delay_p99_us "$result")" us
  single "resident memory" "$(($(field rss_end_kib "$result") / 1024))" MiB
}
