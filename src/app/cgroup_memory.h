// The memory limit of the process's control group. Header-only, so that its test needs no more of this
// folder.
//
// A container sees its own group as the root of /sys/fs/cgroup; a systemd unit or a container that shares the
// host's namespace is further down, and any of its parents may have the tightest limit.
//
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace qq::app {

namespace detail {

// Nothing for "max", which is no number, and where there is no such file.
inline std::optional<std::size_t> limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  std::size_t limit = 0;
  if (!(in >> text)) return std::nullopt;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (read.ec != std::errc() || limit == 0) return std::nullopt;
  return limit;
}

// The tightest limit of `group` ("/system.slice/queqiao.service") and its parents below `root`.
inline std::optional<std::size_t> tightest(const std::filesystem::path& root, std::string_view group,
                                           std::string_view file) {
  std::optional<std::size_t> least;
  for (;;) {
    const auto limit =
        limit_in(root / group.substr(std::min(group.find_first_not_of('/'), group.size())) / file);
    if (limit) least = std::min(least.value_or(*limit), *limit);
    if (group.empty()) return least;
    group = group.substr(0, std::min(group.rfind('/'), group.size() - 1));
  }
}

// Whether a list such as "cpu,memory" names it.
inline bool lists_memory(std::string_view controllers) {
  for (;;) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

}  // namespace detail

// `membership` is /proc/self/cgroup, `mount` /sys/fs/cgroup. Nothing if there is no limit; version 1 says so
// with a number beyond every machine's memory.
inline std::optional<std::size_t> cgroup_memory_limit(const std::filesystem::path& membership,
                                                      const std::filesystem::path& mount) {
  // Where the group's path is another namespace's, its own files are at the root: always looked at.
  std::optional<std::size_t> least = detail::tightest(mount, {}, "memory.max");
  const auto consider = [&least](std::optional<std::size_t> limit) {
    if (limit) least = std::min(least.value_or(*limit), *limit);
  };
  std::ifstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "0::/group", "4:cpu,memory:/group"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', std::min(first, line.size() - 1) + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers.empty()) {
      consider(detail::tightest(mount, group, "memory.max"));
    } else if (detail::lists_memory(controllers)) {
      consider(detail::tightest(mount / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace qq::app
