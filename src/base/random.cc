#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstddef>

#include "base/assert.h"

namespace qq {

Random::Random(std::uint64_t seed) noexcept {
  for (auto& word : state_) {
    seed += 0x9E3779B97F4A7C15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    word = z ^ (z >> 31);
  }
}

Random::result_type Random::operator()() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) noexcept {
  QQ_ASSERT(bound >= 1);
  // Rejection keeps it exactly uniform: the last, incomplete stretch of the range is drawn again.
  const std::uint64_t limit = max() - max() % bound;
  std::uint64_t draw = (*this)();
  while (draw >= limit) draw = (*this)();
  return draw % bound;
}

double Random::unit() noexcept {
  return static_cast<double>((*this)() >> 11) * 0x1.0p-53;
}

void fill_with_secure_random(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = getrandom(out.data(), out.size(), 0);
    if (n < 0) {
      QQ_ASSERT(errno == EINTR);
      continue;
    }
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

std::uint64_t secure_random_seed() {
  std::uint64_t seed = 0;
  fill_with_secure_random(std::as_writable_bytes(std::span(&seed, 1)));
  return seed;
}

}  // namespace qq
