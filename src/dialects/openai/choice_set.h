// Which of an answer's choices something was heard of, by their index. The usual few cost no allocation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qq::dialects::openai {

class ChoiceSet {
 public:
  void add(std::int64_t index) {
    const auto at = static_cast<std::size_t>(index < 0 || index > kIndexMax ? kIndexMax : index);
    if (at < kFew) {
      mark(few_, at);
    } else {
      const std::size_t word = (at - kFew) / kBits;
      if (word >= many_.size()) many_.resize(word + 1);
      mark(many_[word], (at - kFew) % kBits);
    }
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  void mark(std::uint64_t& bits, std::size_t bit) noexcept {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if ((bits & mask) == 0) ++size_;
    bits |= mask;
  }

  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t kFew = kBits;
  // Indices beyond it share one place: 8 KiB is what a provider's numbers may cost.
  static constexpr std::int64_t kIndexMax = 65'535;
  std::uint64_t few_ = 0;
  std::uint32_t size_ = 0;
  std::vector<std::uint64_t> many_;
};

}  // namespace qq::dialects::openai
