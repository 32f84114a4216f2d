#include "base/sha1.h"

#include <openssl/evp.h>

#include "base/assert.h"

namespace qq {

Sha1Digest sha1(std::string_view text) {
  Sha1Digest out{};
  unsigned size = 0;
  QQ_ASSERT(EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_sha1(), nullptr) == 1 &&
            size == out.size());
  return out;
}

}  // namespace qq
