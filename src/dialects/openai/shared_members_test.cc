#include "dialects/openai/shared_members.h"

#include <fakes/asking.h>

namespace qq::dialects::openai {
namespace {

using namespace qq::testing::asking;
using model::Dialect;

Sent translated(Dialect from, std::string_view body, Dialect to, bool openai = true) {
  const auto request = client_dialect(from)->decode_request(body, {});
  EXPECT_TRUE(request) << body;
  model::Target target;
  target.quirks.chat.openai_words = openai;
  target.quirks.sends_model_in_body = false;
  return sent(*provider_dialect(to), *request, target);
}

TEST(SharedMembers, GoFromChatToResponsesAndBack) {
  const Sent responses = translated(
      Dialect::OpenAiChat,
      R"({"model":"m","messages":[{"role":"user","content":"q"}],"verbosity":"low","safety_identifier":"s",)"
      R"("prompt_cache_retention":"24h","prompt_cache_options":{"mode":"explicit"}})",
      Dialect::OpenAiResponses);
  EXPECT_EQ(responses.at("text", "verbosity"), R"("low")") << responses.body;
  EXPECT_EQ(responses.at("safety_identifier"), R"("s")");
  EXPECT_EQ(responses.at("prompt_cache_retention"), R"("24h")");
  EXPECT_EQ(responses.at("prompt_cache_options"), R"({"mode":"explicit"})");
  EXPECT_EQ(responses.at("user"), "");
  EXPECT_EQ(responses.losses, "");
  const Sent chat =
      translated(Dialect::OpenAiResponses,
                 R"({"model":"m","input":"q","text":{"verbosity":"low"},"safety_identifier":"s",)"
                 R"("prompt_cache_retention":"24h"})",
                 Dialect::OpenAiChat);
  EXPECT_EQ(chat.at("verbosity"), R"("low")") << chat.body;
  EXPECT_EQ(chat.at("safety_identifier"), R"("s")");
  EXPECT_EQ(chat.at("prompt_cache_retention"), R"("24h")");
  EXPECT_EQ(chat.losses, "");
}

TEST(SharedMembers, OthersGetTheUserAlone) {
  constexpr std::string_view kAsked =
      R"({"model":"m","messages":[{"role":"user","content":"q"}],"safety_identifier":"s","verbosity":"low"})";
  const Sent claude = translated(Dialect::OpenAiChat, kAsked, Dialect::Anthropic);
  EXPECT_EQ(claude.at("metadata", "user_id"), R"("s")");
  EXPECT_EQ(claude.losses, "verbosity: the target has no such field\n");
  const Sent other = translated(Dialect::OpenAiChat, kAsked, Dialect::OpenAiResponses, false);
  EXPECT_EQ(other.at("user"), R"("s")");
  EXPECT_EQ(other.at("safety_identifier"), "");
  const Sent own = translated(Dialect::OpenAiChat, kAsked, Dialect::OpenAiChat);
  EXPECT_EQ(own.at("user"), "") << "what was not said";
  EXPECT_EQ(own.at("safety_identifier"), R"("s")");
}

}  // namespace
}  // namespace qq::dialects::openai
