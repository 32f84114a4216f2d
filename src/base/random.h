// The random source that pure code takes as an argument: small, fast, seedable, not for secrets.
// Source: Sebastiano Vigna, "splitmix64", 2015, and Blackman/Vigna "xoshiro256**", 2018.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace qq {

class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed) noexcept;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }
  result_type operator()() noexcept;

  // Uniform in [0, bound); bound >= 1.
  std::uint64_t below(std::uint64_t bound) noexcept;
  // Uniform in [0, 1).
  double unit() noexcept;

 private:
  std::array<std::uint64_t, 4> state_;
};

// From the operating system, for keys, secrets and seeds.
void fill_with_secure_random(std::span<std::byte> out);
std::uint64_t secure_random_seed();

}  // namespace qq
