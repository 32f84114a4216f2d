// What the fuzzers of wire/ share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

// A property that must hold for every input; the fuzzer keeps the input that breaks it.
#define FUZZ_CHECK(expression)                                                             \
  do {                                                                                     \
    if (!(expression)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #expression); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)

namespace qq::fuzz {

// The input in a heap block of its exact size, so that a sanitizer sees every read beyond it.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes.begin(), bytes.end()) {}
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Cuts of 1 to 16 bytes that depend on nothing but the seed.
class Cuts {
 public:
  explicit Cuts(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::size_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return 1 + (state_ >> 28);
  }

 private:
  std::uint32_t state_;
};

}  // namespace qq::fuzz
