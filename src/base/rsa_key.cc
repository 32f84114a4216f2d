#include "base/rsa_key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace qq {
namespace {

// A key with a pass phrase is not for a server: never ask a terminal for it.
int no_pass_phrase(char* /*into*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

}  // namespace

void RsaKey::Free::operator()(void* key) const noexcept {
  EVP_PKEY_free(static_cast<EVP_PKEY*>(key));
}

Result<RsaKey> RsaKey::parse(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  RsaKey key(bytes ? PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_pass_phrase, nullptr) : nullptr);
  ERR_clear_error();
  if (!key.key_) return fail(Error::gateway(ErrorKind::Config, "is no private key in PEM form"));
  if (EVP_PKEY_get_base_id(static_cast<EVP_PKEY*>(key.key_.get())) != EVP_PKEY_RSA) {
    return fail(Error::gateway(ErrorKind::Config, "is a private key of another kind than RSA"));
  }
  return key;
}

Result<std::string> RsaKey::sign_sha256(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  auto* const key = static_cast<EVP_PKEY*>(key_.get());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  std::string out;
  bool good = state != nullptr && EVP_DigestSignInit(state.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
              EVP_DigestSign(state.get(), nullptr, &size, bytes, text.size()) == 1;
  if (good) {
    out.resize(size);
    good = EVP_DigestSign(state.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes,
                          text.size()) == 1;
    out.resize(size);
  }
  ERR_clear_error();
  if (!good) return fail(Error::gateway(ErrorKind::Internal, "the private key could not sign"));
  return out;
}

}  // namespace qq
