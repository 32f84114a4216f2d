// Label values that come from outside (routes, providers), as small numbers. At most `kMax` of them; the
// rest share the number of "_other", so that no caller and no configuration can make the metrics grow.
//
// One thread adds, any thread reads names.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace qq::telemetry {

class LabelTable {
 public:
  static constexpr std::size_t kMax = 200;
  static constexpr std::uint16_t kOther = 0;

  LabelTable() { names_[kOther] = "_other"; }

  std::uint16_t number_of(std::string_view name) {
    if (name == last_name_) return last_number_;  // neighbours often share a route
    const auto found = numbers_.find(name);
    std::uint16_t number = kOther;
    if (found != numbers_.end()) {
      number = found->second;
    } else if (const std::size_t size = size_.load(std::memory_order_relaxed); size <= kMax) {
      number = static_cast<std::uint16_t>(size);
      names_[size] = name;
      numbers_.emplace(std::string(name), number);
      size_.store(size + 1, std::memory_order_release);
    } else {
      return kOther;  // not remembered: the set of names that do not fit has no limit
    }
    last_name_ = names_[number];
    last_number_ = number;
    return number;
  }

  // Only for numbers that number_of() has returned and published.
  [[nodiscard]] std::string_view name(std::uint16_t number) const {
    return number < size_.load(std::memory_order_acquire) ? std::string_view(names_[number]) : "_other";
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::array<std::string, kMax + 1> names_;
  std::atomic<std::size_t> size_{1};
  std::unordered_map<std::string, std::uint16_t, Hash, std::equal_to<>> numbers_;
  std::string_view last_name_ = "_other";
  std::uint16_t last_number_ = kOther;
};

}  // namespace qq::telemetry
