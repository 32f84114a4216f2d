#include "base/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

#include "base/assert.h"

namespace qq {

Sha256Digest sha256(std::span<const std::string_view> pieces) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  QQ_ASSERT(state != nullptr && EVP_DigestInit_ex(state.get(), EVP_sha256(), nullptr) == 1);
  for (const std::string_view piece : pieces) {
    QQ_ASSERT(EVP_DigestUpdate(state.get(), piece.data(), piece.size()) == 1);
  }
  Sha256Digest out{};
  unsigned size = 0;
  QQ_ASSERT(EVP_DigestFinal_ex(state.get(), out.data(), &size) == 1 && size == out.size());
  return out;
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view text) {
  Sha256Digest out{};
  unsigned size = 0;
  const auto* const done =
      HMAC(EVP_sha256(), key.empty() ? "" : key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &size);
  QQ_ASSERT(done != nullptr && size == out.size());
  return out;
}

}  // namespace qq
