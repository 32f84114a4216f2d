# time from exec to the first accepted connection (reported, no bar)
run_scenario() {
  local name round
  for name in "$subject" nginx; do
    rm -f "$scratch/startup"
    for round in 1 2 3 4 5; do
      "start_$name" "$upstream_instant" || return 1
      stop_proxy
      echo "$proxy_start_us" >>"$scratch/startup"
    done
    single "$name" "$(awk -v us="$(median_of "$scratch/startup")" 'BEGIN { printf "%.1f", us / 1000 }')" ms
  done
}
