#include "admission/digest_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace qq::admission {
namespace {

constexpr std::size_t kSlotsPerDigest = 4;

std::uint64_t word(const KeyDigest& digest, std::size_t index) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data() + index * sizeof value, sizeof value);
  return value;
}

}  // namespace

DigestTable::DigestTable(std::span<const KeyDigest> digests)
    : digests_(1), slots_(std::bit_ceil(std::max<std::size_t>(digests.size() * kSlotsPerDigest, 8))) {
  digests_.insert(digests_.end(), digests.begin(), digests.end());
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t number = 1; number < digests_.size(); ++number) {
    const KeyDigest& digest = digests_[number];
    std::size_t steps = 1;
    std::size_t at = word(digest, 0) & mask;
    for (; slots_[at].number != 0; at = (at + 1) & mask) {
      QQ_ASSERT(digests_[slots_[at].number] != digest);
      ++steps;
    }
    slots_[at] = {.tag = word(digest, 1), .number = number};
    walk_ = std::max(walk_, steps);
  }
}

std::optional<std::size_t> DigestTable::find(const KeyDigest& digest) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  const std::size_t start = word(digest, 0) & mask;
  const std::uint64_t tag = word(digest, 1);
  // Two digests with equal tags in one walk would hide one another; of random digests that is one chance in
  // 2^60, and the key that lost would merely be unknown.
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < walk_; ++i) {
    const Slot& slot = slots_[(start + i) & mask];
    const std::uint64_t keep = -static_cast<std::uint64_t>(slot.tag == tag);
    number = (slot.number & keep) | (number & ~keep);
  }
  const bool same = equal_in_constant_time(digests_[number], digest);
  if (!same || number == 0) return std::nullopt;
  return number - 1;
}

}  // namespace qq::admission
