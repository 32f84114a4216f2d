#include "providers/masking.h"

namespace qq::providers {
namespace {

TEST(MaskKeys, HidesKeysOfEveryForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Incorrect API key provided: sk-abcdefgh12345678. See", "Incorrect API key provided: sk-****. See"},
      {"sk-proj-AbC_def-123456 is wrong", "sk-**** is wrong"},
      {"gsk_0123456789abcdef", "gsk_****"},
      {"key 'xai-ABCDEFGHIJKL'", "key 'xai-****'"},
      {"AIzaSyA1234567890abc", "AIza****"},
      {"in organization org-AbCdEfGh12345678 on tokens", "in organization org-**** on tokens"},
      {"project proj_AbCdEfGh12345678", "project proj_****"},
      {"Authorization: Bearer abc.def-123456", "Authorization: Bearer ****"},
      {"key 0123456789abcdef0123456789abcdef refused", "key **** refused"},
      {"key id AKIAIOSFODNN7EXAMPLE is", "key id AKIA**** is"},
      {"User: arn:aws:iam::123456789012:user/me may not", "User: arn:aws:iam::****:user/me may not"},
      {"token ya29.a0Af_B-y12345 ended", "token ya29.**** ended"},
      {"key 0123456789abcdef0123456789abcdef.Secret16Chars00 refused", "key **** refused"},
      {"{\"message\":\"bad\\nsk-abcdefgh12345678\\u0022\"}", "{\"message\":\"bad\\nsk-****\\u0022\"}"},
  };
  for (const auto& [text, masked] : cases) EXPECT_EQ(mask_keys(text), masked);
}

TEST(MaskKeys, LeavesIdsNamesAndProseAlone) {
  for (const std::string text :
       {"Previous response with id 'resp_0123456789abcdef0123456789abcdef0123456789abcdef' not found.",
        "chatcmpl-0123456789abcdef0123456789abcdef0123",
        "The model `meta-llama/Llama-3.3-70B-Instruct-Turbo` is gone", "a task-something-long-and-wordy",
        "org-wide settings", "proj_manager", "Incorrect API key provided: sk-.",
        "Bearer authentication required", "550e8400-e29b-41d4-a716-446655440000", "trailing backslash \\",
        "\\u00", ""}) {
    EXPECT_EQ(mask_keys(text), text);
  }
}

TEST(MaskKeysInJson, KeepsTheTextAroundTheKeys) {
  EXPECT_EQ(mask_keys_in_json(R"({"message":"a \"sk-abcdefgh12345678\" b","code":null})"),
            R"({"message":"a \"sk-****\" b","code":null})");
  EXPECT_EQ(mask_keys_in_json(R"({"message":"\u4f60\u597d","n":[1,"x"]})"),
            R"({"message":"\u4f60\u597d","n":[1,"x"]})");
}

TEST(MaskKeysInJson, ShowsNothingOfAValueWhoseEscapesHideAKey) {
  EXPECT_EQ(mask_keys_in_json(R"({"message":"sk\u002dabcdefgh12345678"})"), "");
  EXPECT_EQ(mask_keys_in_json(R"({"a":{"\u0073k-abcdefgh12345678":1}})"), "");
}

TEST(HideCredential, FindsTheTargetsOwnKeyWhateverItLooksLike) {
  model::Target target;
  for (const std::string line :
       {"authorization: Bearer our/plain=secret\r\n", "api-key: our/plain=secret\r\n"}) {
    target.auth_header_lines = Secret(line);
    Error error =
        Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "no our/plain=secret, no service");
    error.code = "our/plain=secret";
    error.object = R"({"message":"no our/plain=secret"})";
    hide_credential(error, target);
    EXPECT_EQ(error.message, "no ****, no service");
    EXPECT_EQ(error.code, "****");
    EXPECT_EQ(error.object, R"({"message":"no ****"})");
    error.object = R"({"message":"no our\/plain=secret"})";
    hide_credential(error, target);
    EXPECT_EQ(error.object, "");
  }
}

TEST(HideCredential, FindsItInOtherLettersAndPercentEncoded) {
  constexpr std::string_view kCredential = "our/Plain=secret";
  for (const std::string_view shown :
       {"our/Plain=secret", "OUR/PLAIN=SECRET", "our%2FPlain%3Dsecret", "our%2fplain%3dsecret"}) {
    std::string text = "no " + std::string(shown) + ", no";
    EXPECT_TRUE(shows_credential(text, kCredential)) << shown;
    hide_credential(text, kCredential);
    EXPECT_EQ(text, "no ****, no");
    std::string json = R"({"message":"no )" + std::string(shown) + R"("})";
    hide_credential_in_json(json, kCredential);
    EXPECT_EQ(json, R"({"message":"no ****"})");
  }
  EXPECT_FALSE(shows_credential("our plain secret, 100%", kCredential));
}

TEST(HideCredential, FindsABeginningAtTheEndOfWhatMayBeCut) {
  const auto hidden = [](std::string text) {
    hide_credential(text, "our/plain=secret");
    return text;
  };
  EXPECT_EQ(hidden("no our/plain=secre"), "no ****");
  EXPECT_EQ(hidden("no our/plai"), "no ****");
  EXPECT_EQ(hidden("no our/pla"), "no our/pla") << "seven characters are no secret";
  EXPECT_EQ(hidden("our/plain, no"), "our/plain, no") << "nor is what goes on otherwise";
  EXPECT_EQ(hidden("our/plain=secretour/plain=s"), "********");
  EXPECT_EQ(hidden(""), "");
}

TEST(HideCredential, LeavesTheTextAloneWithoutOneOrWithAWord) {
  model::Target target;
  for (const std::string line : {"", "authorization: Bearer none\r\n"}) {
    target.auth_header_lines = Secret(line);
    Error error = Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "there is none: ");
    hide_credential(error, target);
    EXPECT_EQ(error.message, "there is none: ");
  }
}

}  // namespace
}  // namespace qq::providers
