#include "base/ids.h"

namespace qq {

RequestId RequestId::make(WallTime now, Random& random) noexcept {
  static constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  RequestId id;
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  auto milliseconds = static_cast<std::uint64_t>(since_epoch.count());
  for (int i = 9; i >= 0; --i) {
    id.text_[static_cast<std::size_t>(i)] = kAlphabet[milliseconds & 31U];
    milliseconds >>= 5U;
  }
  // 16 characters of 5 random bits: 8 from each of two draws.
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = random();
    for (std::size_t i = 0; i < 8; ++i) {
      id.text_[10 + half * 8 + i] = kAlphabet[bits & 31U];
      bits >>= 5U;
    }
  }
  return id;
}

}  // namespace qq
