#include <fakes/neutral.h>

#include "dialects/ollama/dialect.h"
#include "dialects/ollama/time.h"

namespace qq::dialects::ollama {
namespace {

using qq::testing::describe;

qq::testing::DecodedStream decoded(const std::string& body) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Ollama, {}, body, body.size());
}
std::string line(const std::string& message, const std::string& rest = R"("done":false)") {
  return R"({"model":"q","created_at":"2026-11-30T00:00:01.5Z","message":{"role":"assistant",)" + message +
         "}," + rest + "}\n";
}
const std::string kDone = line(
    R"("content":"")",
    R"("done":true,"done_reason":"stop","prompt_eval_count":9,"prompt_eval_cached_count":4,"eval_count":3)");

TEST(OllamaStream, ThoughtsTextsAndCallsComeLineByLine) {
  const auto stream =
      decoded(line(R"("content":"","thinking":"Hm")") + line(R"("content":"","thinking":"m")") +
              line(R"("content":"Hel")") + "\r\n" + line(R"("content":"lo")") +
              line(R"("content":"","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}},)"
                   R"({"id":"c","function":{"index":1,"name":"g","arguments":{}}}])") +
              kDone);
  EXPECT_EQ(stream.answer.model, "q");
  EXPECT_EQ(stream.answer.created, 1795996801);
  const std::string made = stream.answer.choices.at(0).parts.at(2).as<model::ToolCallPart>()->id;
  EXPECT_TRUE(made.starts_with("call_"));
  EXPECT_EQ(
      stream.events,
      "started\n0.0 reasoning\n0.0 + \"Hmm\"\n0.0 done\n0.1 text\n0.1 + \"Hello\"\n0.1 done\n0.2 call " +
          made +
          " f\n0.2 args \"{\"x\":1}\"\n0.2 done\n0.3 call c g\n0.3 args \"{}\"\n0.3 done\n"
          "usage uncached=5 read=4 text=3\n0 finished tool_calls (stop)\nend\n");
}

TEST(OllamaStream, TheLastLineMayLackItsEnd) {
  EXPECT_TRUE(decoded(line(R"("content":"x")") + kDone.substr(0, kDone.size() - 1)).ended);
}

TEST(OllamaStream, LogprobsAreInOpenAisForm) {
  const auto stream = decoded(
      line(R"("content":"x")", R"("done":false,"logprobs":[{"token":"x","logprob":-0.5,"bytes":[120]}])") +
      kDone);
  EXPECT_EQ(stream.answer.choices.at(0).logprobs,
            R"([{"token":"x","logprob":-0.5,"bytes":[120],"top_logprobs":[]}])");
}

TEST(OllamaStream, ErrorsAndCutsAreErrors) {
  EXPECT_EQ(decoded(line(R"("content":"x")")).error->kind, ErrorKind::StreamCut);
  EXPECT_EQ(decoded(line(R"("content":"x")") + "{\"error\":\"out of memory\"}\n").error->message,
            "out of memory");
  EXPECT_EQ(decoded("nonsense\n").error->kind, ErrorKind::BadJson);
}

TEST(OllamaAnswer, IsOneLineThatIsAlsoTheLast) {
  const auto answer = provider_side().decode_answer(
      R"({"model":"q","created_at":"x","message":{"role":"assistant","content":"Hi","thinking":"Hm","tool_calls":)"
      R"([{"function":{"name":"f","arguments":null}}]},"done":true,"done_reason":"length",)"
      R"("total_duration":5,"prompt_eval_count":2,"eval_count":1})",
      {}, "seed");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(describe(*answer).substr(0, describe(*answer).find("    call")),
            "answer id= model=q created=0 +total_duration=5\n  choice 0 length (length)\n"
            "    reasoning \"Hm\"\n    text \"Hi\"\n");
  EXPECT_EQ(answer->choices[0].parts[2].as<model::ToolCallPart>()->arguments, "{}");
  EXPECT_EQ(describe(answer->usage), "uncached=2 text=1");
}

TEST(OllamaAnswer, WhatIsNoAnswerIsAnError) {
  const auto error_of = [](std::string_view body) {
    return provider_side().decode_answer(body, {}, "seed").error();
  };
  EXPECT_EQ(error_of(R"({"error":"model not found"})").message, "model not found");
  EXPECT_EQ(error_of("").kind, ErrorKind::BadJson);
  EXPECT_EQ(error_of("{}").kind, ErrorKind::EmptyReply);
  EXPECT_EQ(error_of(R"({"message":{"content":""},"done":true,"done_reason":"load"})").kind,
            ErrorKind::EmptyReply);
}

TEST(OllamaTime, ReadsZonesAndNothingElse) {
  EXPECT_EQ(unix_time("1970-01-02T00:00:00Z"), 86400);
  EXPECT_EQ(unix_time("1970-01-02T00:00:00.123456789+02:00"), 86400 - 7200);
  EXPECT_EQ(unix_time("1970-01-02T00:00:00-00:30"), 86400 + 1800);
  for (const char* const text : {"", "yesterday", "1970-13-02T00:00:00Z", "1970-01-02 00:00:00Z",
                                 "1970-01-02T00:00:00", "19x0-01-02T00:00:00Z"}) {
    EXPECT_EQ(unix_time(text), 0) << text;
  }
}

}  // namespace
}  // namespace qq::dialects::ollama
