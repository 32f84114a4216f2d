# size of the gateway's binary, as built and stripped (reported, no bar)
mib() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.2f", bytes / 1048576 }'; }

run_scenario() {
  local file=$binary
  [[ $subject == queqiao ]] || file=$(command -v "$subject")
  strip -o "$scratch/stripped" "$file" || return 1
  single "as built" "$(mib "$file")" MiB
  single stripped "$(mib "$scratch/stripped")" MiB
}
