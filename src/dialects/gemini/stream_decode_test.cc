// Google's streams and those who speak like it, fed whole, byte by byte and split everywhere.
#include <fakes/gemini.h>

#include "dialects/gemini/partial_args.h"

namespace qq::dialects::gemini {
namespace {

using testing::answer;

std::string events(std::string_view body) {
  return testing::stream(body).events;
}

std::string candidate(std::string_view parts, std::string_view more = "") {
  return R"({"candidates":[{"content":{"parts":[)" + std::string(parts) + R"(],"role":"model"})" +
         std::string(more) + R"(,"index":0}],"modelVersion":"m","responseId":"r"})";
}
std::string sse(std::initializer_list<std::string> chunks) {
  std::string out;
  for (const std::string& chunk : chunks) out += "data: " + chunk + "\r\n\r\n";
  return out;
}
constexpr std::string_view kStop = R"(,"finishReason":"STOP")";
const std::string kHi = candidate(R"({"text":"hi"})", kStop);
constexpr std::string_view kHiEvents =
    "started\n0.0 text\n0.0 + \"hi\"\n0.0 done\n0 finished stop (STOP)\nend\n";

TEST(GeminiStream, ReadsEventsInAllFramings) {
  for (const std::string& body :
       {"data: " + kHi + "\r\n\r\n", "data: " + kHi + "\n\n", "data: " + kHi + "\r\r", "data:" + kHi + "\n\n",
        "\xef\xbb\xbf"
        "data: " +
            kHi + "\r\n\r\n",
        "\r\n\r\n: comment\r\n\r\ndata: " + kHi + "\r\n\r\n", "data: " + kHi, "data: " + kHi + "\r\n",
        "event: x\ndata: " + kHi + "\n\ndata: [DONE]\n\n", "[" + kHi + "]", "[" + kHi + "\n]\n",
        "\xef\xbb\xbf[\r\n" + kHi + "\r\n]", kHi, "data: [" + kHi + "]\n\n",
        "data: {\"candidates\":\ndata: " + kHi.substr(14) + "\n\n"}) {
    EXPECT_EQ(events(body), kHiEvents) << body;
  }
}

TEST(GeminiStream, ArrayElementsMayLieAnywhere) {
  const std::string first = candidate(R"({"text":"{[\"]}"})");
  for (const char* between : {",", ",\r\n", "\n,\n", " , "}) {
    EXPECT_EQ(events("[" + first + between + kHi + "]"),
              "started\n0.0 text\n0.0 + \"{[\"]}hi\"\n0.0 done\n0 finished stop (STOP)\nend\n")
        << between;
  }
}

TEST(GeminiStream, ErrorsComeOutAtEachPlace) {
  const std::string error = R"({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})";
  const std::string pretty = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"busy\"\n  }\n}\n";
  const std::string part = candidate(R"({"text":"a"})");
  const std::string after = "started\n0.0 text\n0.0 + \"a\"\nfailed stream_error busy\n";
  EXPECT_EQ(events(error), "failed stream_error busy\n");
  EXPECT_EQ(events(pretty), "failed stream_error busy\n");
  EXPECT_EQ(events("[" + error + "]"), "failed stream_error busy\n");
  EXPECT_EQ(events(sse({error})), "failed stream_error busy\n");
  EXPECT_EQ(events(sse({part}) + pretty), after);
  EXPECT_EQ(events(sse({part}) + ": wait\r\n" + pretty), after);
  EXPECT_EQ(events(sse({part, error, kHi})), after) << "nothing comes behind it";
  EXPECT_EQ(events("[" + part + ",\n" + error + "]"), after);
  EXPECT_EQ(events(sse({part}) + "\n\n" + error), after);
}

TEST(GeminiStream, WithoutAFinishReasonItWasCut) {
  constexpr std::string_view kCut = "failed stream_cut the stream ended without a finish reason\n";
  const std::string part = candidate(R"({"text":"a"})");
  const std::string begun = "started\n0.0 text\n0.0 + \"a\"\n";
  EXPECT_EQ(events(""), kCut);
  EXPECT_EQ(events(sse({part})), begun + std::string(kCut));
  EXPECT_EQ(events(sse({part}) + "data: {\"candidates\":[{"), begun + std::string(kCut));
  EXPECT_EQ(events("[" + part), begun + std::string(kCut));
  EXPECT_EQ(events("[" + part + ",{\"a\":\""), begun + std::string(kCut));
}

TEST(GeminiStream, WhatIsNoJsonFails) {
  constexpr std::string_view kBad = "failed bad_json an event of the stream is not valid JSON\n";
  EXPECT_EQ(events("data: {oops}\n\n"), kBad);
  EXPECT_EQ(events("[{\"a\":1}{]]]"), "started\n" + std::string(kBad));
  EXPECT_EQ(events("[oops"), kBad);
  EXPECT_EQ(events("[\":{\"a"), kBad);
  EXPECT_EQ(events("data: 1\n\n"), "failed bad_json the provider sent no JSON object\n");
}

TEST(GeminiStream, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(events(sse({candidate("{\"text\":\"a\x92z\"},{\"new\":\"\xff\"}", kStop)})),
            "started\n0.0 text\n0.0 + \"a\xef\xbf\xbdz\"\n0.0 done\n0.1 opaque new\n"
            "0.1 opaque {\"new\":\"\xef\xbf\xbd\"}\n0.1 done\n0 finished stop (STOP)\nend\n");
}

TEST(GeminiStream, EmptyPartsAndUnknownMembersSayNothing) {
  EXPECT_EQ(events(sse({R"({"candidates":[{"content":{"role":"model"}}],"new":1})", candidate(""),
                        candidate(R"({"text":""})"), candidate(R"({"functionCall":{}})"), "{}",
                        R"({"candidates":[]})", candidate(R"({"text":"hi"})"),
                        candidate(R"({"text":""})", kStop)})),
            kHiEvents);
}

TEST(GeminiStream, GoesOnBehindStop) {
  EXPECT_EQ(events(sse({candidate(R"({"text":"a"})", kStop), candidate(R"({"executableCode":{"code":"1"}})"),
                        candidate(R"({"text":"b"})", R"(,"finishReason":"MAX_TOKENS")")})),
            "started\n0.0 text\n0.0 + \"a\"\n0.0 done\n0.1 opaque executableCode\n"
            "0.1 opaque {\"executableCode\":{\"code\":\"1\"}}\n0.1 done\n0.2 text\n0.2 + \"b\"\n0.2 done\n"
            "0 finished length (MAX_TOKENS)\nend\n");
}

TEST(GeminiStream, SignaturesBelongToTheirPart) {
  EXPECT_EQ(
      events(sse(
          {candidate(R"({"text":"think","thought":true})"), candidate(R"({"text":"a"})"),
           candidate(R"({"text":"","thoughtSignature":"s1"})"), candidate(R"({"text":"b"})"),
           candidate(
               R"({"functionCall":{"name":"f","args":{"a": [1, "x y"]},"id":"own"},"thoughtSignature":"s2"},{"functionCall":{"name":"g"}})",
               kStop)})),
      "started\n0.0 reasoning\n0.0 + \"think\"\n0.0 done\n0.1 text\n0.1 + \"a\"\n0.1 state s1\n0.1 done\n"
      "0.2 text\n0.2 + \"b\"\n0.2 done\n0.3 call own f\n0.3 state s2\n0.3 args \"{\"a\":[1,\"x y\"]}\"\n0.3 "
      "done\n"
      "0.4 call call_2cfad118d3ecc02c1 g\n0.4 args \"{}\"\n0.4 done\n0 finished tool_calls (STOP)\nend\n");
}

TEST(GeminiStream, ACallsSignatureComesBeforeItsArguments) {
  EXPECT_EQ(
      events(sse({candidate(R"({"functionCall":{"name":"f","willContinue":true}})"),
                  candidate(R"({"thoughtSignature":"s1","functionCall":{"willContinue":true,"partialArgs":)"
                            R"([{"jsonPath":"$.a","numberValue":1}]}})"),
                  candidate(R"({"thoughtSignature":"late","functionCall":{"partialArgs":)"
                            R"([{"jsonPath":"$.b","numberValue":2}]}})",
                            kStop)})),
      "started\n0.0 call call_2cfad118d3ecc02c0 f\n0.0 state s1\n0.0 args \"{\"a\":1,\"b\":2}\"\n0.0 done\n"
      "0 finished tool_calls (STOP)\nend\n");
}

TEST(GeminiStream, ASignatureBehindTheFirstArgumentsIsKeptAllTheSame) {
  EXPECT_EQ(events(sse({candidate(R"({"functionCall":{"name":"f","willContinue":true,"partialArgs":)"
                                  R"([{"jsonPath":"$.a","numberValue":1}]}})"),
                        candidate(R"({"thoughtSignature":"late","functionCall":{"partialArgs":)"
                                  R"([{"jsonPath":"$.b","numberValue":2}]}})",
                                  kStop)})),
            "started\n0.0 call call_2cfad118d3ecc02c0 f\n0.0 args \"{\"a\":1\"\n0.0 state late\n"
            "0.0 args \",\"b\":2}\"\n0.0 done\n0 finished tool_calls (STOP)\nend\n");
}

TEST(GeminiStream, CandidatesInterleave) {
  EXPECT_EQ(
      events(sse(
          {R"({"candidates":[{"content":{"parts":[{"text":"a"}]}},{"index":1,"content":{"parts":[{"text":"b"}]}}]})",
           R"({"candidates":[{"index":1,"content":{"parts":[{"text":"c"}]},"finishReason":"SAFETY"}]})",
           R"({"candidates":[{"finishReason":"STOP"}]})"})),
      "started\n0.0 text\n0.0 + \"a\"\n1.1 text\n1.1 + \"bc\"\n0.0 done\n1.1 done\n0 finished stop (STOP)\n"
      "1 finished filtered (SAFETY)\nend\n");
}

TEST(GeminiStream, BlockedPromptIsFiltered) {
  for (const char* reason : {"\"PROHIBITED_CONTENT\"", "4"}) {
    EXPECT_EQ(events(sse({R"({"promptFeedback":{"blockReason":)" + std::string(reason) + "}}"})),
              "started\n0 finished filtered (PROHIBITED_CONTENT)\nend\n");
  }
}

TEST(GeminiStream, NumbersStandForWords) {
  EXPECT_EQ(
      events(
          R"([{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":1}],"usageMetadata":{"promptTokenCount":9,)"
          R"("candidatesTokenCount":8,"promptTokensDetails":[{"modality":2,"tokenCount":4},{"modality":4,"tokenCount":3}],"trafficType":1}}])"),
      "started\n0.0 text\n0.0 + \"hi\"\nusage uncached=2 audio_in=3 image_in=4 text=8\n0.0 done\n"
      "0 finished stop (STOP)\nend\n");
}

TEST(GeminiStream, UsageReplacesAndIsToldWhenItChanges) {
  const std::string usage =
      R"({"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"toolUsePromptTokenCount":5,)"
      R"("candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":20}})";
  EXPECT_EQ(events(sse({R"({"usageMetadata":{"trafficType":"ON_DEMAND"}})", usage, usage,
                        R"({"usageMetadata":{"trafficType":"ON_DEMAND"}})", kHi})),
            "started\nusage uncached=11 read=4 text=2 reasoning=3\n" + std::string(kHiEvents).substr(8));
}

TEST(GeminiStream, ArgumentsInPiecesBecomeJson) {
  const auto piece = [](std::string_view partial, std::string_view more = R"(,"willContinue":true)") {
    return candidate(R"({"functionCall":{"partialArgs":[)" + std::string(partial) + "]" + std::string(more) +
                     "}}");
  };
  const auto call = [&](std::initializer_list<std::string> pieces, const std::string& last) {
    std::string body = sse({candidate(R"({"functionCall":{"name":"f","id":"i","willContinue":true}})")}) +
                       sse(pieces) + last;
    const std::string all = events(body);
    const std::size_t at = all.find("args ");
    return all.substr(at, all.find('\n', at) - at);
  };
  const std::string end = sse({candidate(R"({"functionCall":{}})", kStop)});
  EXPECT_EQ(call({}, end), "args \"{}\"");
  EXPECT_EQ(call({piece(R"({"jsonPath":"$.a","stringValue":"x","willContinue":true})"),
                  piece(R"({"jsonPath":"$.a","stringValue":"\"y\n","willContinue":true})"),
                  piece(R"({"jsonPath":"$.a","stringValue":""})"),
                  piece(R"({"jsonPath":"$.b","boolValue":true},{"jsonPath":"$.c","nullValue":"NULL_VALUE"})"),
                  piece(R"({"jsonPath":"$.l[0]","numberValue":1e2})"),
                  piece(R"({"jsonPath":"$.l[1].k['d e']","stringValue":"s"})"),
                  piece(R"({"jsonPath":"$.z","stringValue":"end"})", "")},
                 sse({candidate("", kStop)})),
            R"(args "{"a":"x\"y\n","b":true,"c":null,"l":[1e2,{"k":{"d e":"s"}}],"z":"end"}")");
  EXPECT_EQ(call({piece(R"({"jsonPath":"$.a.b[0]","stringValue":"cut","willContinue":true})")},
                 sse({candidate("", kStop)})),
            R"(args "{"a":{"b":["cut"]}}")")
      << "the closing part may never come";
}

TEST(GeminiStream, LogprobsAreOpenAis) {
  EXPECT_EQ(
      events(sse({candidate(
          R"({"text":"hi"})",
          R"(,"finishReason":"STOP","logprobsResult":{"chosenCandidates":[{"token":"h","logProbability":-0.5,"tokenId":7},{"token":"i","logProbability":-1}],"topCandidates":[{"candidates":[{"token":"h","logProbability":-0.5}]},{"candidates":[]}]})")})),
      "started\n0.0 text\n0.0 + \"hi\"\n"
      R"(logprobs [{"token":"h","logprob":-0.5,"bytes":null,"top_logprobs":[{"token":"h","logprob":-0.5,"bytes":null}]},{"token":"i","logprob":-1,"bytes":null,"top_logprobs":[]}])"
      "\n0.0 done\n0 finished stop (STOP)\nend\n");
}

TEST(GeminiStream, ADeltaLeavesWithTheBytesItCameIn) {
  const auto decoder = provider_side().stream_decoder(testing::target(), "seed");
  class Counting final : public EventSink {
   public:
    void on_event(const model::StreamEvent& event) override {
      deltas += event.kind == model::StreamEvent::Kind::TextDelta ||
                        event.kind == model::StreamEvent::Kind::ArgumentsDelta
                    ? 1
                    : 0;
    }
    int deltas = 0;
  } sink;
  decoder->feed(sse({candidate(R"({"text":"a"})")}), sink);
  EXPECT_EQ(sink.deltas, 1);
  decoder->feed(sse({candidate(R"({"functionCall":{"name":"f","args":{}}})")}), sink);
  EXPECT_EQ(sink.deltas, 2);
}

TEST(GeminiAnswer, EmptyOnesAreTold) {
  EXPECT_EQ(answer("{}"), "empty_reply the provider's answer is empty");
  EXPECT_EQ(answer(candidate("", kStop)), "empty_reply the provider's answer is empty");
  EXPECT_EQ(answer(candidate(R"({"text":" \n"})", kStop)), "empty_reply the provider's answer is empty");
  EXPECT_EQ(answer(candidate("", R"(,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad call")")),
            "empty_reply bad call");
  for (const char* fine : {"MAX_TOKENS", "SAFETY", "RECITATION"}) {
    EXPECT_TRUE(
        answer(candidate("", R"(,"finishReason":")" + std::string(fine) + "\"")).starts_with("answer"))
        << fine;
  }
}

TEST(GeminiAnswer, IsNoJsonOrAnError) {
  EXPECT_EQ(answer("<html>"), "bad_json the provider's answer is not valid JSON");
  EXPECT_EQ(answer("[]"), "empty_reply the provider's answer is empty");
  EXPECT_EQ(answer(R"({"error":{"code":400,"message":"no"}})"), "stream_error no");
  EXPECT_EQ(answer(R"([{"error":{"code":400,"message":"no"}}])"), "stream_error no");
}

TEST(GeminiAnswer, OfABlockedPromptKeepsItsFeedback) {
  EXPECT_EQ(
      answer(R"({"promptFeedback":{"blockReason":"SAFETY"},"createTime":"2026-05-19T14:59:42.780296Z"})"),
      "answer id= model= created=1779202782 +promptFeedback={\"blockReason\":\"SAFETY\"}\n"
      "  choice 0 filtered (SAFETY)\n  usage \n");
}

}  // namespace
}  // namespace qq::dialects::gemini
