// What is said beside a fault: the vendor's words, waits, pauses, sizes.
#include "simulator/provider/compose.h"
#include "simulator/provider/test_support.h"

namespace qq::simulator {
namespace {

using namespace testing;

TEST(StatusFaults, EachHasTheVendorsBody) {
  for (const int status : {400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529}) {
    SCOPED_TRACE(status);
    for (const char* vendor : {"openai", "azure", "mistral", "xai", "zhipu", "openrouter", "qwen", "deepseek",
                               "llamacpp", "vllm", "groq"}) {
      const auto reply =
          read_reply(bytes_of(chat_play(fmt::format("{}+vendor={}", status, vendor), kStream)));
      EXPECT_EQ(reply->head.status, status);
      EXPECT_TRUE(reply->framed);
      EXPECT_FALSE(wire::check_json(reply->body)) << reply->body;
    }
  }
  const auto xai = read_reply(bytes_of(chat_play("429+vendor=xai", kPlain)));
  EXPECT_TRUE(wire::JsonValue(xai->body).member("error")->is_string());
  const auto zhipu = read_reply(bytes_of(chat_play("insufficient_quota+vendor=zhipu", kPlain)));
  EXPECT_EQ(wire::JsonValue(zhipu->body).at("error", "code")->string(), "1113");
  const auto mistral = read_reply(bytes_of(chat_play("401+vendor=mistral", kPlain)));
  EXPECT_EQ(mistral->body, R"({"detail":"Invalid API Key"})");
}

TEST(RetryAfter, IsSentInTheFormThatWasAsked) {
  const auto sent = [](const std::string& directive, std::string_view field) {
    const auto reply = read_reply(bytes_of(chat_play("429+" + directive, kPlain)));
    return std::string(reply->head.fields.find(field).value_or("(absent)"));
  };
  for (const char* value : {"1", "1.5", "0", "-1", "1000000000", "soon"}) {
    EXPECT_EQ(sent(fmt::format("retry_after={}", value), "retry-after"), value);
  }
  EXPECT_EQ(sent("retry_after=date:30", "retry-after"), "Thu, 01 Jan 2026 00:00:30 GMT");
  EXPECT_EQ(sent("retry_after_ms=250", "retry-after-ms"), "250");
  EXPECT_EQ(sent("should_retry=false", "x-should-retry"), "false");
  EXPECT_EQ(sent("gap=0", "retry-after"), "(absent)");
}

TEST(Pacing, StandsBeforeTheFirstContentAndBetweenEvents) {
  const Play play = chat_play("delay=7+ttft=100+gap=20+words=3", kStream);
  std::vector<std::int64_t> pauses;
  for (const Step& step : play.steps) pauses.push_back(step.pause.count());
  // Head and role, three words, finish, usage, [DONE] with the last chunk.
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{7, 100, 20, 20, 20, 20, 20}));
}

TEST(Pacing, JitterStaysWithinItsShareAndRepeatsWithItsSeed) {
  const auto pauses = [](std::string_view directives) {
    std::vector<std::int64_t> found;
    for (const Step& step : chat_play(directives, kStream).steps) found.push_back(step.pause.count());
    return found;
  };
  const auto first = pauses("gap=100+jitter=50+seed=3+words=50");
  EXPECT_EQ(first, pauses("gap=100+jitter=50+seed=3+words=50"));
  EXPECT_NE(first, pauses("gap=100+jitter=50+seed=4+words=50"));
  for (std::size_t i = 2; i < first.size(); ++i) {
    EXPECT_GE(first[i], 50);
    EXPECT_LE(first[i], 150);
  }
}

TEST(Chunks, AreAsBigAsAsked) {
  const auto reply = read_reply(bytes_of(chat_play("chunk=1+words=1", kPlain)));
  EXPECT_TRUE(reply->framed);
  std::string chunks;
  for (const char byte : reply->body) chunks += fmt::format("1\r\n{}\r\n", byte);
  EXPECT_TRUE(reply->raw.ends_with("\r\n\r\n" + chunks + "0\r\n\r\n"));
}

}  // namespace
}  // namespace qq::simulator
