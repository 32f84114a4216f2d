// RSA keys made for a test, and the other side of RS256.
#pragma once
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <string>
#include <string_view>

namespace qq::fakes {

class RsaPair {
 public:
  RsaPair() : key_(EVP_RSA_gen(2048)) {}
  RsaPair(const RsaPair&) = delete;
  RsaPair& operator=(const RsaPair&) = delete;
  ~RsaPair() { EVP_PKEY_free(key_); }

  [[nodiscard]] std::string pem() const { return written(key_); }
  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const {
    EVP_MD_CTX* const state = EVP_MD_CTX_new();
    const bool good =
        EVP_DigestVerifyInit(state, nullptr, EVP_sha256(), nullptr, key_) == 1 &&
        EVP_DigestVerify(state, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
    EVP_MD_CTX_free(state);
    return good;
  }

  // A private key of another kind.
  static std::string elliptic_pem() {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    std::string pem = written(key);
    EVP_PKEY_free(key);
    return pem;
  }

 private:
  static std::string written(EVP_PKEY* key) {
    BIO* const out = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out, &data);
    std::string text(data, static_cast<std::size_t>(size));
    BIO_free(out);
    return text;
  }

  EVP_PKEY* key_;
};

}  // namespace qq::fakes
