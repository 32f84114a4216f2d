#include "base/secret.h"

#include <openssl/crypto.h>

namespace qq {

Secret::~Secret() {
  OPENSSL_cleanse(value_.data(), value_.size());
}

}  // namespace qq
