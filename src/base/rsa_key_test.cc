#include "base/rsa_key.h"

#include <fakes/rsa_keys.h>
#include <gtest/gtest.h>

namespace qq {
namespace {

TEST(RsaKey, SignsWhatItsOtherHalfVerifies) {
  const fakes::RsaPair pair;
  const auto key = RsaKey::parse(pair.pem());
  ASSERT_TRUE(key) << key.error().message;
  const auto signature = key->sign_sha256("what is said");
  ASSERT_TRUE(signature);
  EXPECT_TRUE(pair.verifies("what is said", *signature));
  EXPECT_FALSE(pair.verifies("something else", *signature));
}

TEST(RsaKey, IsNotReadFromAnythingElse) {
  const std::string half = fakes::RsaPair().pem().substr(0, 200);
  for (const std::string& text :
       {std::string(), std::string("secret words"), half, fakes::RsaPair::elliptic_pem()}) {
    const auto key = RsaKey::parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().kind, ErrorKind::Config);
    EXPECT_EQ(key.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace qq
