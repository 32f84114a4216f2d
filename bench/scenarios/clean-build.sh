# time of a clean build of product and unit tests, release preset, cold cache (goal: 6 minutes; not run by default)
must='<= 360'

run_scenario() {
  local begin=${EPOCHREALTIME/./} folder=$scratch/clean-build
  (cd "$root" && CCACHE_DISABLE=1 cmake --preset release -B "$folder" && CCACHE_DISABLE=1 cmake --build "$folder" -j2) \
    >"$scratch/clean-build.log" 2>&1 || { tail -n 20 "$scratch/clean-build.log" >&2; return 1; }
  single "release, two processors" "$(((${EPOCHREALTIME/./} - begin) / 1000000))" s
  rm -rf "$folder"
}
