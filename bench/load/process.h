// What a process and its children have used: processor time of all threads, and resident memory.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace qq::bench {

// `root` and everything below it (nginx works in a child of the process that was started).
std::vector<pid_t> process_tree(pid_t root);

// User and system time of all threads, ended ones included, in nanoseconds. It is the sum that
// /proc/PID/stat shows as utime + stime, without being cut to ticks of 10 ms.
std::int64_t cpu_ns(const std::vector<pid_t>& processes);

// Rss of /proc/PID/smaps_rollup (the cheaper counters of /proc/PID/statm lag behind), in KiB.
std::int64_t resident_kib(const std::vector<pid_t>& processes);

}  // namespace qq::bench
