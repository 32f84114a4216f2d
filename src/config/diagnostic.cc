#include "config/diagnostic.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace qq::config {

std::string to_text(const Diagnostic& diagnostic) {
  if (diagnostic.line == 0) return fmt::format("{}: {}", diagnostic.file, diagnostic.message);
  return fmt::format("{}:{}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.column, diagnostic.message);
}

void Diagnostics::add(Mark mark, std::string message) {
  if (full()) {
    ++dropped_;
    return;
  }
  list_.push_back({file_, mark.line, mark.column, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::take() {
  std::sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column, a.message) < std::tie(b.line, b.column, b.message);
  });
  if (dropped_ > 0) {
    const Diagnostic& last = list_.back();
    list_.push_back({file_, last.line, last.column, fmt::format("and {} more mistakes", dropped_)});
  }
  return std::exchange(list_, {});
}

}  // namespace qq::config
