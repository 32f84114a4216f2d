// A private RSA key that signs as RS256 says (RFC 7518 3.3: RSASSA-PKCS1-v1_5 with SHA-256), for the
// assertions by which service accounts ask for tokens. By OpenSSL. Signing with 2048 bits takes about a
// millisecond.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace qq {

class RsaKey {
 public:
  // PEM text, PKCS#8 or PKCS#1, without a pass phrase. Errors (Config) never quote it.
  static Result<RsaKey> parse(std::string_view pem);

  // The signature's bytes. Errors: Internal.
  [[nodiscard]] Result<std::string> sign_sha256(std::string_view text) const;

 private:
  struct Free {
    void operator()(void* key) const noexcept;
  };
  explicit RsaKey(void* key) noexcept : key_(key) {}

  std::unique_ptr<void, Free> key_;  // EVP_PKEY, whose header stays out of ours
};

}  // namespace qq
