// How a client key is stored: HMAC-SHA256 under a pepper that only the server knows, so that a stolen
// configuration or database neither holds keys nor lets anyone try guesses. The keys are random, so a slow
// password hash would cost time on every request and add nothing.
//
//   text form:  hmac-sha256:<64 hex digits>
//
// Source: RFC 2104; RFC 4231 for the test vectors.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace qq::admission {

using KeyDigest = std::array<std::byte, 32>;

// In time that does not depend on where they differ.
bool equal_in_constant_time(const KeyDigest& a, const KeyDigest& b) noexcept;

// "hmac-sha256:…" with small hex digits.
std::string to_text(const KeyDigest& digest);
// The reverse; capital hex digits are accepted too. Errors: Config.
Result<KeyDigest> parse_key_hash(std::string_view text);

// Immutable, cheap to copy, usable from every thread: what the pepper does to SHA-256 before the first byte
// of a key is worked out once, so that a key costs two blocks of SHA-256 and no more.
class KeyHasher {
 public:
  // Shorter peppers are refused: an HMAC under an empty or guessable key proves nothing.
  static constexpr std::size_t kPepperMin = 16;  // bytes; a guess at what nobody types by accident
  // Errors: Config.
  static Result<KeyHasher> make(Secret pepper);

  [[nodiscard]] KeyDigest digest(std::string_view key) const noexcept;

 private:
  struct Pepper;
  explicit KeyHasher(std::shared_ptr<const Pepper> pepper) noexcept : pepper_(std::move(pepper)) {}
  std::shared_ptr<const Pepper> pepper_;
};

}  // namespace qq::admission
