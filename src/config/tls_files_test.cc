#include "config/tls_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "net/test_certificates.h"

namespace qq::config {
namespace {

using net::testing::make_certificate;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class TlsFiles : public testing::Test {
 protected:
  ~TlsFiles() override { std::remove(other_.c_str()); }
  std::vector<std::string> mistakes(const std::string& certificate, const std::string& key) {
    Config config;
    config.listeners.resize(2);
    config.listeners[1].tls = {.certificate = certificate, .key = key};
    return tls_file_mistakes(config);
  }
  net::testing::Certificate own_ = make_certificate({.name = "config-own"});
  net::testing::Certificate stranger_ = make_certificate({.name = "config-stranger"});
  std::string other_ = own_.certificate_file + ".other";
};

TEST_F(TlsFiles, AKeyAndItsCertificateAreGood) {
  EXPECT_THAT(mistakes(own_.certificate_file, own_.key_file), IsEmpty());
}

TEST_F(TlsFiles, MissingOnesAreNamed) {
  EXPECT_THAT(
      mistakes("/none.pem", "/gone.pem"),
      ElementsAre("listeners[1].tls.certificate: /none.pem cannot be opened: No such file or directory",
                  "listeners[1].tls.key: /gone.pem cannot be opened: No such file or directory"));
}

TEST_F(TlsFiles, AKeyOfAnotherCertificateIsAMistake) {
  EXPECT_THAT(mistakes(own_.certificate_file, stranger_.key_file),
              ElementsAre("listeners[1].tls: cannot use the key \"" + stranger_.key_file +
                          "\": it does not belong to the certificate"));
}

TEST_F(TlsFiles, WhatIsNoPemIsAMistake) {
  std::ofstream(other_) << "hello\n";
  EXPECT_THAT(mistakes(other_, own_.key_file), ElementsAre(HasSubstr("it is not in the file, as PEM")));
  EXPECT_THAT(mistakes(own_.certificate_file, other_), ElementsAre(HasSubstr("cannot use the key")));
}

TEST_F(TlsFiles, AnEncryptedKeyAsksNobodyForAPassword) {
  std::FILE* file = std::fopen(other_.c_str(), "w");
  ASSERT_NE(file, nullptr);
  PEM_write_PrivateKey(file, own_.key.get(), EVP_aes_128_cbc(), nullptr, 0, nullptr,
                       const_cast<char*>("word"));
  std::fclose(file);
  EXPECT_THAT(mistakes(own_.certificate_file, other_), ElementsAre(HasSubstr("it is encrypted")));
}

TEST_F(TlsFiles, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(other_.c_str(), 0600), 0);
  EXPECT_THAT(mistakes(other_, own_.key_file),
              ElementsAre("listeners[1].tls.certificate: " + other_ + " is a pipe, not a file"));
}

TEST_F(TlsFiles, TheAuthoritiesAreLookedAt) {
  Config config;
  config.outbound_ca_file = own_.certificate_file;
  EXPECT_THAT(tls_file_mistakes(config), IsEmpty());
  config.outbound_ca_file = own_.key_file;
  EXPECT_THAT(tls_file_mistakes(config), ElementsAre(StartsWith("outbound.ca_file: cannot use the CA file")));
  config.outbound_ca_file = "/none.pem";
  EXPECT_THAT(tls_file_mistakes(config), ElementsAre(StartsWith("outbound.ca_file: /none.pem cannot be")));
}

}  // namespace
}  // namespace qq::config
