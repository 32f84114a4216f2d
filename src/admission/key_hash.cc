#include "admission/key_hash.h"

// SHA256_CTX is OpenSSL's older interface, deprecated for new code and here to stay until version 4.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/hex.h"

namespace qq::admission {
namespace {

constexpr std::string_view kHashScheme = "hmac-sha256:";

unsigned char* bytes_of(KeyDigest& digest) noexcept {
  return reinterpret_cast<unsigned char*>(digest.data());
}

}  // namespace

// RFC 2104: H(K xor opad, H(K xor ipad, text)), with both pads hashed already. OpenSSL's newer interface has
// no way to keep such a state without an allocation and several locks a key.
struct KeyHasher::Pepper {
  SHA256_CTX inner;
  SHA256_CTX outer;

  explicit Pepper(std::string_view pepper) noexcept {
    std::array<unsigned char, SHA256_CBLOCK> block{};
    if (pepper.size() > block.size()) {
      SHA256(reinterpret_cast<const unsigned char*>(pepper.data()), pepper.size(), block.data());
    } else {
      std::memcpy(block.data(), pepper.data(), pepper.size());
    }
    start(inner, block, 0x36);
    start(outer, block, 0x5c);
    OPENSSL_cleanse(block.data(), block.size());
  }
  Pepper(const Pepper&) = delete;
  Pepper& operator=(const Pepper&) = delete;
  // The states are worth as much as the pepper itself.
  ~Pepper() {
    OPENSSL_cleanse(&inner, sizeof inner);
    OPENSSL_cleanse(&outer, sizeof outer);
  }

 private:
  static void start(SHA256_CTX& state, std::array<unsigned char, SHA256_CBLOCK> block,
                    unsigned char pad) noexcept {
    for (unsigned char& byte : block) byte ^= pad;
    QQ_ASSERT(SHA256_Init(&state) == 1);
    QQ_ASSERT(SHA256_Update(&state, block.data(), block.size()) == 1);
    OPENSSL_cleanse(block.data(), block.size());
  }
};

bool equal_in_constant_time(const KeyDigest& a, const KeyDigest& b) noexcept {
  std::uint64_t differ = 0;
  for (std::size_t at = 0; at < a.size(); at += sizeof differ) {
    std::uint64_t of_a = 0;
    std::uint64_t of_b = 0;
    std::memcpy(&of_a, a.data() + at, sizeof of_a);
    std::memcpy(&of_b, b.data() + at, sizeof of_b);
    differ |= of_a ^ of_b;
  }
  return differ == 0;
}

std::string to_text(const KeyDigest& digest) {
  return std::string(kHashScheme) + to_hex(digest);
}

Result<KeyDigest> parse_key_hash(std::string_view text) {
  if (!text.starts_with(kHashScheme)) {
    return fail(Error::gateway(ErrorKind::Config,
                               "a key hash begins with \"hmac-sha256:\"; make one with "
                               "`queqiao keys hash`"));
  }
  const std::string_view digits = text.substr(kHashScheme.size());
  KeyDigest digest;
  bool good = digits.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const int high = hex_digit(static_cast<unsigned char>(digits[2 * i]));
    const int low = hex_digit(static_cast<unsigned char>(digits[2 * i + 1]));
    good = high >= 0 && low >= 0;
    if (good) digest[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (!good) {
    return fail(Error::gateway(ErrorKind::Config,
                               "a key hash is \"hmac-sha256:\" and 64 hex digits; make one with "
                               "`queqiao keys hash`"));
  }
  return digest;
}

Result<KeyHasher> KeyHasher::make(Secret pepper) {
  if (pepper.reveal().size() < kPepperMin) {
    return fail(Error::gateway(ErrorKind::Config, "the key pepper must have at least 16 bytes"));
  }
  return KeyHasher(std::make_shared<const Pepper>(pepper.reveal()));
}

KeyDigest KeyHasher::digest(std::string_view key) const noexcept {
  KeyDigest digest;
  SHA256_CTX state = pepper_->inner;
  QQ_ASSERT(SHA256_Update(&state, key.data(), key.size()) == 1);
  QQ_ASSERT(SHA256_Final(bytes_of(digest), &state) == 1);
  state = pepper_->outer;
  QQ_ASSERT(SHA256_Update(&state, digest.data(), digest.size()) == 1);
  QQ_ASSERT(SHA256_Final(bytes_of(digest), &state) == 1);
  return digest;
}

}  // namespace qq::admission
