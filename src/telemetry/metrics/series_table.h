// Counters that are addressed by several small numbers packed into one key, such as route, endpoint, outcome
// and status. Series appear when first counted; the table is bounded, and what does not fit is counted in
// one series of its own.
//
// One thread counts, any thread reads; no locked instruction.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "relay/loop_counters.h"

namespace qq::telemetry {

class SeriesTable {
 public:
  static constexpr std::size_t kMax = 2048;
  static constexpr std::uint64_t kOverflow = ~std::uint64_t{0};

  struct Series {
    std::uint64_t key = kOverflow;
    relay::Counter value;
  };

  SeriesTable() : series_(std::make_unique<Series[]>(kMax + 1)) {}

  void add(std::uint64_t key, std::int64_t n = 1) noexcept {
    // Open addressing; the index has twice the places, so an empty one is always found.
    std::size_t place = (key * 0x9e3779b97f4a7c15U) >> (64U - kIndexBits);
    while (index_[place] != 0) {
      Series& series = series_[index_[place]];
      if (series.key == key) return series.value.add(n);
      place = (place + 1) & (index_.size() - 1);
    }
    const std::size_t size = size_.load(std::memory_order_relaxed);
    if (size == kMax) return series_[0].value.add(n);  // the series of what does not fit
    series_[size + 1].key = key;
    series_[size + 1].value.add(n);
    index_[place] = static_cast<std::uint16_t>(size + 1);
    size_.store(size + 1, std::memory_order_release);
  }

  template <typename Visit>
  void visit(Visit&& visitor) const {
    const std::size_t size = size_.load(std::memory_order_acquire);
    for (std::size_t i = series_[0].value.get() > 0 ? 0 : 1; i <= size; ++i) {
      visitor(series_[i].key, series_[i].value.get());
    }
  }

 private:
  static constexpr unsigned kIndexBits = 12;
  std::unique_ptr<Series[]> series_;
  std::atomic<std::size_t> size_{0};
  std::array<std::uint16_t, std::size_t{1} << kIndexBits> index_{};
};

}  // namespace qq::telemetry
