#include "base/base64.h"

#include <gtest/gtest.h>

namespace qq {
namespace {

// RFC 4648, 10.
TEST(Base64, TheVectorsOfTheRfcHold) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, UrlsHaveTheirOwnLettersAndNoPadding) {
  EXPECT_EQ(to_base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  EXPECT_EQ(from_base64url("-_8"), "\xfb\xff");
  EXPECT_FALSE(from_base64url("+/8"));
  EXPECT_FALSE(from_base64("-_8="));
}

TEST(Base64, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9v\n"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
  EXPECT_FALSE(from_base64url("Z"));
  EXPECT_FALSE(from_base64url("Zg=="));
}

}  // namespace
}  // namespace qq
