#include "app/memory_watch.h"

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

std::size_t available_memory() {
  const std::size_t machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
  return std::min(machine, cgroup_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup").value_or(machine));
}

}  // namespace qq::app
