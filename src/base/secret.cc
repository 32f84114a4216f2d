#include "base/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/assert.h"

namespace qq {

Secret::~Secret() {
  OPENSSL_cleanse(value_.data(), value_.size());
}

std::array<unsigned char, 32> Secret::digest() const {
  std::array<unsigned char, 32> out{};
  unsigned size = 0;
  const int done = EVP_Digest(value_.data(), value_.size(), out.data(), &size, EVP_sha256(), nullptr);
  QQ_ASSERT(done == 1 && size == out.size());
  return out;
}

}  // namespace qq
