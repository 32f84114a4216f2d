#include "dialects/provider_json.h"

#include <gtest/gtest.h>

#include "dialects/dialect.h"
#include "wire/json.h"

namespace qq::dialects {
namespace {

TEST(ProviderJson, IsTakenAsItIs) {
  constexpr std::string_view kBody = R"({"text":"Grüße, \ud800"})";
  std::string_view text = kBody;
  std::string repaired;
  EXPECT_EQ(check_provider_json(text, repaired), nullptr);
  EXPECT_EQ(text.data(), kBody.data()) << "no copy is made";
}

TEST(ProviderJson, LosesBytesThatAreNoUtf8) {
  struct Case {
    std::string_view sent;
    std::string_view taken;
  };
  for (const Case& each :
       {Case{"{\"a\":\"x\xffy\"}", "{\"a\":\"x\xef\xbf\xbdy\"}"},
        Case{"{\"k\xc3\":1}", "{\"k\xef\xbf\xbd\":1}"}, Case{"[\"\xe4\xbd\"]", "[\"\xef\xbf\xbd\"]"},
        Case{"[\"\xed\xa0\x80\"]", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]"}}) {
    std::string_view text = each.sent;
    std::string repaired;
    EXPECT_EQ(check_provider_json(text, repaired), nullptr);
    EXPECT_EQ(text, each.taken);
    EXPECT_FALSE(wire::check_json(text));
  }
}

TEST(ProviderJson, ThatIsNoneSaysWhy) {
  for (std::string_view text : {"{\"a\":", "\xff", "<html>", "{} x"}) {
    std::string repaired;
    const char* const why = check_provider_json(text, repaired);
    ASSERT_NE(why, nullptr) << text;
    EXPECT_NE(std::string_view(why), "");
  }
}

}  // namespace
}  // namespace qq::dialects
