#include "app/memory_watch.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/cgroup_memory.h"

namespace qq::app {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::size_t page_size() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::size_t resident_memory() noexcept {
  const File file(std::fopen("/proc/self/statm", "re"));
  unsigned long total = 0;
  unsigned long resident = 0;
  if (!file || std::fscanf(file.get(), "%lu %lu", &total, &resident) != 2) return 0;
  return resident * page_size();
}

void map_large_blocks() noexcept {
#ifdef __GLIBC__
  // Larger than nearly every request; a mapping costs a page fault for each of its pages. To set either stops
  // the allocator from moving both.
  constexpr int kMapped = 1 << 20;
  constexpr int kKept =
      16 << 20;  // free memory at the end of a heap: more than a busy loop's requests in flight
  mallopt(M_MMAP_THRESHOLD, kMapped);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

void give_back_freed_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::size_t available_memory() {
  const std::size_t machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
  return std::min(machine, cgroup_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup").value_or(machine));
}

}  // namespace qq::app
