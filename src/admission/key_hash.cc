#include "admission/key_hash.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace qq::admission {
namespace {

constexpr std::string_view kScheme = "hmac-sha256:";
constexpr std::string_view kHex = "0123456789abcdef";

std::optional<unsigned> hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// A thread's HMAC context with a pepper's inner and outer state worked out. OpenSSL can only fail here for
// want of memory or of SHA-256 itself, neither of which a caller could do anything about.
class ThreadContext {
 public:
  ThreadContext() : mac_(EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr)) {
    QQ_ASSERT(mac_ != nullptr);
    context_ = EVP_MAC_CTX_new(mac_);
    QQ_ASSERT(context_ != nullptr);
  }
  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;
  ~ThreadContext() {
    EVP_MAC_CTX_free(context_);
    EVP_MAC_free(mac_);
  }

  KeyDigest digest(std::uint64_t pepper_id, std::string_view pepper, std::string_view key) {
    start(pepper_id, pepper);
    KeyDigest result;
    std::size_t length = 0;
    QQ_ASSERT(EVP_MAC_update(context_, bytes_of(key), key.size()) == 1);
    QQ_ASSERT(EVP_MAC_final(context_, reinterpret_cast<unsigned char*>(result.data()), &length,
                            result.size()) == 1);
    QQ_ASSERT(length == result.size());
    return result;
  }

 private:
  void start(std::uint64_t pepper_id, std::string_view pepper) {
    if (pepper_id == pepper_id_) {
      // Without a key the context goes back to the state after the last one.
      QQ_ASSERT(EVP_MAC_init(context_, nullptr, 0, nullptr) == 1);
      return;
    }
    std::array<char, 7> name{"SHA256"};
    const std::array<OSSL_PARAM, 2> params{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0), OSSL_PARAM_construct_end()};
    QQ_ASSERT(EVP_MAC_init(context_, bytes_of(pepper), pepper.size(), params.data()) == 1);
    pepper_id_ = pepper_id;
  }

  EVP_MAC* mac_;
  EVP_MAC_CTX* context_ = nullptr;
  std::uint64_t pepper_id_ = 0;  // 0: none yet
};

}  // namespace

bool equal_in_constant_time(const KeyDigest& a, const KeyDigest& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string to_text(const KeyDigest& digest) {
  std::string text(kScheme);
  text.reserve(kScheme.size() + 2 * digest.size());
  for (const std::byte byte : digest) {
    text += kHex[std::to_integer<std::size_t>(byte >> 4)];
    text += kHex[std::to_integer<std::size_t>(byte & std::byte{0xF})];
  }
  return text;
}

Result<KeyDigest> parse_key_hash(std::string_view text) {
  if (!text.starts_with(kScheme)) {
    return fail(Error::gateway(ErrorKind::Config,
                               "a key hash begins with \"hmac-sha256:\"; make one with "
                               "`queqiao keys hash`"));
  }
  const std::string_view digits = text.substr(kScheme.size());
  KeyDigest digest;
  bool good = digits.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const auto high = hex_value(digits[2 * i]);
    const auto low = hex_value(digits[2 * i + 1]);
    good = high && low;
    if (good) digest[i] = static_cast<std::byte>(*high << 4 | *low);
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
  static std::atomic<std::uint64_t> next_id{1};
  Pepper own{.value = std::move(pepper), .id = next_id.fetch_add(1, std::memory_order_relaxed)};
  return KeyHasher(std::make_shared<const Pepper>(std::move(own)));
}

KeyDigest KeyHasher::digest(std::string_view key) const {
  thread_local ThreadContext context;
  return context.digest(pepper_->id, pepper_->value.reveal(), key);
}

}  // namespace qq::admission
