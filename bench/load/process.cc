#include "load/process.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "load/clock.h"

namespace qq::bench {
namespace {

// The fourth field of /proc/PID/stat; the second, the name, may hold spaces and brackets.
pid_t parent_of(const std::filesystem::path& stat_file) {
  std::ifstream in(stat_file);
  std::string line;
  std::getline(in, line);
  const std::size_t after_name = line.rfind(')');
  if (after_name == std::string::npos || after_name + 4 >= line.size()) return 0;
  return std::atoi(line.c_str() + after_name + 4);
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0) children.emplace(parent_of(entry.path() / "stat"), pid);
  }
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto it = begin; it != end; ++it) tree.push_back(it->second);
  }
  return tree;
}

std::int64_t cpu_ns(const std::vector<pid_t>& processes) {
  std::int64_t total = 0;
  for (const pid_t pid : processes) {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0) {
      total += used.tv_sec * kSecond + used.tv_nsec;
    }
  }
  return total;
}

std::int64_t resident_kib(const std::vector<pid_t>& processes) {
  std::int64_t total = 0;
  for (const pid_t pid : processes) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/smaps_rollup");
    std::string word;
    std::int64_t kib = 0;
    while (in >> word) {
      if (word == "Rss:" && in >> kib) {
        total += kib;
        break;
      }
    }
  }
  return total;
}

}  // namespace qq::bench
