// Keys and certificates made on the spot. For tests only.
#pragma once
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/assert.h"

namespace qq::net::testing {

struct FreeCertificate {
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};

struct Certificate {
  std::unique_ptr<EVP_PKEY, FreeCertificate> key;
  std::unique_ptr<X509, FreeCertificate> certificate;
  std::string certificate_file;
  std::string key_file;
};

struct CertificateRequest {
  std::string name = "test";            // also the files' name
  std::string alternative_names;        // "DNS:api.example.com,IP:127.0.0.1"
  const Certificate* issuer = nullptr;  // null: signs itself
  bool authority = false;
  std::chrono::seconds expires_in = std::chrono::hours(24);
};

inline Certificate make_certificate(const CertificateRequest& request) {
  Certificate made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  X509* const x509 = made.certificate.get();
  X509_set_version(x509, X509_VERSION_3);
  static long serial = 1;
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), -2L * 24 * 3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), static_cast<long>(request.expires_in.count()));
  X509_set_pubkey(x509, made.key.get());
  X509_NAME* const subject = X509_get_subject_name(x509);
  const std::string common = request.name + " " + std::to_string(serial);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1, 0);
  const Certificate& issuer = request.issuer != nullptr ? *request.issuer : made;
  X509_set_issuer_name(x509, X509_get_subject_name(issuer.certificate.get()));
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer.certificate.get(), x509, nullptr, nullptr, 0);
  const auto add = [&](int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    QQ_ASSERT(extension != nullptr);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
  };
  add(NID_basic_constraints, request.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!request.alternative_names.empty()) add(NID_subject_alt_name, request.alternative_names);
  X509_sign(x509, issuer.key.get(), EVP_sha256());

  const std::string base =
      ::testing::TempDir() + "queqiao-" + std::to_string(::getpid()) + "-" + request.name;
  made.certificate_file = base + ".crt";
  made.key_file = base + ".key";
  std::FILE* file = std::fopen(made.certificate_file.c_str(), "w");
  QQ_ASSERT(file != nullptr);
  PEM_write_X509(file, x509);
  std::fclose(file);
  file = std::fopen(made.key_file.c_str(), "w");
  QQ_ASSERT(file != nullptr);
  PEM_write_PrivateKey(file, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  return made;
}

inline void remove_files(const Certificate& certificate) {
  std::remove(certificate.certificate_file.c_str());
  std::remove(certificate.key_file.c_str());
}

}  // namespace qq::net::testing
