// Faults in the dialects other than OpenAI's, each with its vendor's own errors and ends.
#include <gmock/gmock.h>

#include "simulator/provider/test_spoken.h"

namespace qq::simulator {
namespace {

using namespace testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using wire::JsonValue;

TEST(SpokenFaults, AnErrorHasTheVendorsOwnBody) {
  struct Case {
    std::string_view tongue;
    std::string_view directive;
    int status;
    std::string_view said;
  };
  constexpr std::array<Case, 11> kCases{
      {{"anthropic", "fault=529", 529, R"({"type":"error","error":{"type":"overloaded_error")"},
       {"anthropic", "fault=429", 429, R"("type":"rate_limit_error")"},
       {"anthropic", "fault=context_length", 400, "prompt is too long"},
       {"gemini", "fault=429+retry_after=34.4", 429, R"("retryDelay":"34.4s")"},
       {"gemini", "fault=429", 429, R"("status":"RESOURCE_EXHAUSTED")"},
       {"gemini", "fault=content_filter", 200, R"("blockReason":"PROHIBITED_CONTENT")"},
       {"vertex gemini", "fault=503", 503, R"("status":"UNAVAILABLE")"},
       {"converse", "fault=429", 429, R"({"message":")"},
       {"bedrock invoke", "fault=context_length", 400, "Input is too long"},
       {"cohere", "fault=429", 429, R"("message":"Rate limit)"},
       {"ollama", "fault=500", 500, R"({"error":"The server)"}}};
  for (const Case& each : kCases) {
    SCOPED_TRACE(fmt::format("{} {}", each.tongue, each.directive));
    for (const bool stream : {kPlain, kStream}) {
      const auto reply = told_in(tongue_named(each.tongue), stream, each.directive);
      EXPECT_EQ(reply->head.status, each.status);
      EXPECT_THAT(reply->body, HasSubstr(each.said));
    }
  }
  const auto bedrock = told_in(tongue_named("converse"), kPlain, "fault=429");
  EXPECT_THAT(std::string(bedrock->head.fields.find("x-amzn-errortype").value_or("")),
              StartsWith("ThrottlingException"));
  const auto google = told_in(tongue_named("gemini"), kPlain, "fault=429+retry_after=3");
  EXPECT_FALSE(google->head.fields.find("retry-after")) << "it is in the body";
  EXPECT_EQ(
      told_in(tongue_named("anthropic"), kPlain, "fault=429+retry_after=3")->head.fields.find("retry-after"),
      "3");
}

TEST(SpokenFaults, GoogleAnswersErrorsInTheFormThatWasAskedFor) {
  const auto array = told_in(tongue_named("gemini array"), kStream, "fault=500");
  EXPECT_TRUE(JsonValue(array->body).is_array()) << array->body;
  const auto sse = told_in(tongue_named("gemini"), kStream, "fault=500");
  EXPECT_EQ(sse->head.fields.find("content-type"), "text/event-stream");
  EXPECT_TRUE(JsonValue(sse->body).is_object());
}

TEST(SpokenFaults, AnErrorInAStreamIsToldAsEachVendorDoes) {
  struct Case {
    std::string_view tongue;
    std::string_view said;
  };
  constexpr std::array<Case, 8> kCases{
      {{"anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\""},
       {"vertex claude", "\"error\":{"},
       {"gemini", "\r\n\r\n{\"error\":{\"code\":529"},
       {"gemini array", ",\r\n{\"error\":{\"code\":529"},
       {"converse", "internalServerException"},
       {"bedrock invoke", "internalServerException"},
       {"cohere", R"("finish_reason":"ERROR","error":")"},
       {"ollama", "\n{\"error\":\""}}};
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.tongue);
    const auto reply = told_in(tongue_named(each.tongue), kStream, "fault=error_middle+status=529");
    EXPECT_EQ(reply->head.status, 200);
    EXPECT_THAT(reply->body, HasSubstr(each.said));
    documents_of(*reply);  // frames are whole
  }
  const auto first = told_in(tongue_named("gemini array"), kStream, "fault=error_first");
  EXPECT_THAT(first->body, StartsWith("[{\"error\":"));
  EXPECT_THAT(first->body, EndsWith("]"));
}

TEST(SpokenFaults, AStreamCanEndWithoutItsEnd) {
  struct Case {
    std::string_view tongue;
    std::string_view missing;
  };
  constexpr std::array<Case, 7> kCases{{{"anthropic", "message_delta"},
                                        {"gemini", "finishReason"},
                                        {"gemini array", "finishReason"},
                                        {"converse", "messageStop"},
                                        {"bedrock invoke", "message_delta"},
                                        {"cohere", "message-end"},
                                        {"ollama", "\"done\":true"}}};
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.tongue);
    const Tongue& tongue = tongue_named(each.tongue);
    EXPECT_THAT(joined(documents_of(*told_in(tongue, kStream))), HasSubstr(each.missing));
    const auto cut = told_in(tongue, kStream, "fault=no_finish");
    EXPECT_TRUE(cut->framed);
    EXPECT_THAT(cut->body, Not(HasSubstr(each.missing)));
  }
}

TEST(SpokenFaults, AStreamIsCutAtTheEventThatWasAskedFor) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    const Play whole = ask_in(tongue, kStream);
    const Play cut = ask_in(tongue, kStream, "fault=reset_mid_body+at=3");
    EXPECT_EQ(cut.end, PlayEnd::Reset);
    EXPECT_LT(bytes_of(cut).size(), bytes_of(whole).size());
    EXPECT_THAT(bytes_of(whole), StartsWith(bytes_of(cut)));
    EXPECT_EQ(ask_in(tongue, kStream, "fault=stall_after_content").end, PlayEnd::Stall);
  }
}

TEST(SpokenFaults, TheBillMayBeMissingAbsurdOrSaidTwice) {
  constexpr std::array<std::string_view, 6> kBills{"usage",       "usageMetadata", "eval_count",
                                                   "inputTokens", "output_tokens", "promptTokenCount"};
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    for (const bool stream : {kPlain, kStream}) {
      const auto reply = told_in(tongue, stream, "fault=usage_missing");
      const std::string said = stream ? joined(documents_of(*reply)) : reply->body;
      if (!stream) EXPECT_FALSE(wire::check_json(said)) << said;
      for (const std::string_view bill : kBills)
        EXPECT_THAT(said, Not(HasSubstr("\"" + std::string(bill) + "\":")));
      const auto absurd = told_in(tongue, stream, "fault=usage_absurd");
      EXPECT_THAT(stream ? joined(documents_of(*absurd)) : absurd->body, HasSubstr("1000000000000"));
    }
    EXPECT_GT(told_in(tongue, kStream, "fault=usage_repeated")->body.size(),
              told_in(tongue, kStream)->body.size());
  }
}

TEST(SpokenFaults, TextThatIsNoTextGoesOutRaw) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    EXPECT_THAT(joined(documents_of(*told_in(tongue, kStream, "fault=invalid_utf8"))),
                HasSubstr("caf\xe9 \xff\xfe"));
    EXPECT_THAT(told_in(tongue, kPlain, "fault=lone_surrogate")->body, HasSubstr("\\ud83d"));
  }
}

TEST(SpokenFaults, AnEventMayBeBrokenOrOneOfThousands) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    const auto broken = documents_of(*told_in(tongue, kStream, "fault=truncated_json+at=2"));
    const std::string last = broken.empty() ? "" : broken.back();
    const std::size_t json = last.find('{');
    EXPECT_TRUE(json == std::string::npos || wire::check_json(std::string_view(last).substr(json))) << last;
    const auto tiny = documents_of(*told_in(tongue, kStream, "fault=tiny_events+count=1000"));
    EXPECT_GT(tiny.size(), 1000U);
  }
}

TEST(SpokenFaults, NothingIsSaidWithoutChoicesOrContent) {
  for (const Tongue& tongue : kTongues) {
    SCOPED_TRACE(tongue.name);
    for (const std::string_view fault : {"empty_role_only", "empty_no_choices", "empty_null"}) {
      const auto reply = told_in(tongue, kPlain, "fault=" + std::string(fault));
      EXPECT_EQ(reply->head.status, 200);
      EXPECT_FALSE(wire::check_json(reply->body)) << reply->body;
      EXPECT_EQ(texts_in(reply->body, text_key(tongue)), "");
      EXPECT_EQ(texts_in(joined(documents_of(*told_in(tongue, kStream, "fault=" + std::string(fault)))),
                         text_key(tongue)),
                "");
    }
  }
}

}  // namespace
}  // namespace qq::simulator
