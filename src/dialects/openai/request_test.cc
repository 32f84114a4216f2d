#include "dialects/openai/request.h"

namespace qq::dialects::openai {
namespace {

using model::Endpoint;

Result<RequestFacts> inspect(std::string_view body, Endpoint endpoint = Endpoint::ChatCompletions) {
  return inspect_request(endpoint, body, {});
}

model::Target target(std::string upstream_model, model::Quirks quirks = {}) {
  model::Target made;
  made.upstream_model = std::move(upstream_model);
  made.quirks = quirks;
  return made;
}

std::string encoded(std::string_view body, const model::Target& to,
                    Endpoint endpoint = Endpoint::ChatCompletions) {
  const auto facts = inspect(body, endpoint);
  EXPECT_TRUE(facts) << facts.error().message;
  TargetBody out;
  encode_for_target(*facts, body, endpoint, to, out);
  std::string joined;
  for (const std::string_view piece : out.pieces) joined += piece;
  EXPECT_EQ(joined.size(), out.bytes);
  EXPECT_FALSE(wire::check_json(joined)) << joined;
  return joined;
}

TEST(InspectRequest, ReadsTheFieldsWeOwn) {
  const auto facts = inspect(
      R"({"messages":[],"model":"gpt\u002d4","stream":true,"stream_options":{"include_usage":true}})");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->model, "gpt-4");
  EXPECT_EQ(facts->model_value.text(), R"("gpt\u002d4")");
  EXPECT_TRUE(facts->stream);
  EXPECT_TRUE(facts->usage_in_stream_asked);
}

TEST(InspectRequest, TakesNullForAbsent) {
  const auto facts = inspect(R"({"model":"m","stream":null,"stream_options":null})");
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->stream);
  EXPECT_FALSE(facts->usage_in_stream_asked);
}

TEST(InspectRequest, LeavesWhatIsNotOursAlone) {
  const auto facts = inspect(
      R"({"model":"m","temperature":1e400,"seed":123456789012345678901234567890,"user":"a","user":"b","x":"\ud800",)"
      R"("messages":[{"role":"user","content":"model","model":"inner","model":"twice"}]})");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->model, "m");
}

struct Refused {
  std::string_view body;
  std::string_view param;
  std::string_view code;
  std::string_view words;
};

TEST(InspectRequest, NamesTheFieldAndTheFix) {
  constexpr std::array kCases = {
      Refused{"", "", "invalid_json", "no body"},
      Refused{" \n", "", "invalid_json", "no body"},
      Refused{R"({"model":"m",})", "", "invalid_json", "at byte"},
      Refused{R"({"model":"m"} x)", "", "invalid_json", "at byte"},
      Refused{"[]", "", "invalid_type", "JSON object"},
      Refused{R"("model")", "", "invalid_type", "JSON object"},
      Refused{"{}", "model", "missing_required_parameter", "you must provide a model parameter"},
      Refused{R"({"model":null})", "model", "invalid_type", "must be a string"},
      Refused{R"({"model":7})", "model", "invalid_type", "must be a string"},
      Refused{R"({"model":""})", "model", "invalid_value", "empty"},
      Refused{R"({"model":"a","model":"b"})", "model", "invalid_json", "given twice"},
      Refused{R"({"model":"a","model":"a"})", "model", "invalid_json", "given twice"},
      Refused{R"({"mod\u0065l":"a"})", "model", "invalid_json", "escapes"},
      Refused{R"({"model":"a","\u006dodel":"b"})", "model", "invalid_json", "escapes"},
      Refused{R"({"model":"m","stream":"true"})", "stream", "invalid_type", "true or false"},
      Refused{R"({"model":"m","stream":1})", "stream", "invalid_type", "true or false"},
      Refused{R"({"model":"m","stream":true,"stream":false})", "stream", "invalid_json", "given twice"},
      Refused{R"({"model":"m","str\u0065am":true})", "stream", "invalid_json", "escapes"},
      Refused{R"({"model":"m","stream_options":[]})", "stream_options", "invalid_type", "object"},
      Refused{R"({"model":"m","stream_options":{"include_usage":"yes"}})", "stream_options.include_usage",
              "invalid_type", "true or false"},
      Refused{R"({"model":"m","stream_options":{"include_usage":true,"include_usage":false}})",
              "stream_options.include_usage", "invalid_json", "given twice"},
      Refused{R"({"model":"m","stream_options":{},"stream_options":{}})", "stream_options", "invalid_json",
              "given twice"},
  };
  for (const Refused& refused : kCases) {
    const auto facts = inspect(refused.body);
    ASSERT_FALSE(facts) << refused.body;
    EXPECT_EQ(facts.error().kind, ErrorKind::InvalidRequest) << refused.body;
    EXPECT_EQ(facts.error().origin, ErrorOrigin::Client) << refused.body;
    EXPECT_EQ(facts.error().param, refused.param) << refused.body;
    EXPECT_EQ(facts.error().code, refused.code) << refused.body;
    EXPECT_THAT(facts.error().message, ::testing::HasSubstr(std::string(refused.words))) << refused.body;
  }
}

TEST(InspectRequest, CountsTheChoicesThatAreAskedFor) {
  const auto choices = [](Endpoint endpoint, std::string_view body) {
    const auto facts = inspect_request(endpoint, body, {});
    return facts ? facts->choices : 0;
  };
  EXPECT_EQ(choices(Endpoint::ChatCompletions, R"({"model":"m"})"), 1U);
  EXPECT_EQ(choices(Endpoint::ChatCompletions, R"({"model":"m","n":128})"), 128U);
  for (const std::string_view odd : {"null", "0", "-3", "\"2\"", "1.5"}) {
    EXPECT_EQ(choices(Endpoint::ChatCompletions, R"({"model":"m","n":)" + std::string(odd) + "}"), 1U) << odd;
  }
  EXPECT_EQ(choices(Endpoint::Completions, R"({"model":"m","prompt":"a","n":2})"), 2U);
  EXPECT_EQ(choices(Endpoint::Completions, R"({"model":"m","prompt":["a","b","c"],"n":2})"), 6U);
  EXPECT_EQ(choices(Endpoint::Completions, R"({"model":"m","prompt":[[1,2],[3]]})"), 2U);
  EXPECT_EQ(choices(Endpoint::Completions, R"({"model":"m","prompt":[1,2,3]})"), 1U) << "tokens";
  EXPECT_EQ(choices(Endpoint::Responses, R"({"model":"m","n":5})"), 1U);
}

TEST(InspectRequest, RefusesTwinsInOtherLetters) {
  for (const std::string_view twin :
       {R"("MODEL":"x")", R"("Model":"x")", R"("STREAM":true)", R"("Stream_Options":{})",
        R"("MOD\u0045L":"x")", R"("\u004dodel":"x")"}) {
    const auto facts =
        inspect_request(Endpoint::ChatCompletions, R"({"model":"m",)" + std::string(twin) + "}", {});
    ASSERT_FALSE(facts) << twin;
    EXPECT_EQ(facts.error().code, "invalid_json") << twin;
  }
  EXPECT_TRUE(inspect_request(Endpoint::ChatCompletions,
                              R"({"model":"m","Models":1,"ｍodel":1,"m\u006fdels":2})", {}));
}

TEST(InspectRequest, IgnoresStreamWhereThereAreNone) {
  for (const Endpoint endpoint : {Endpoint::Embeddings, Endpoint::Moderations, Endpoint::Rerank,
                                  Endpoint::CountInputTokens, Endpoint::CountMessageTokens}) {
    for (const std::string_view value : {"true", "1", "null"}) {
      const auto facts =
          inspect_request(endpoint, R"({"model":"m","stream":)" + std::string(value) + "}", {});
      ASSERT_TRUE(facts) << to_string(endpoint) << value;
      EXPECT_FALSE(facts->stream) << to_string(endpoint) << value;
    }
  }
  EXPECT_TRUE(inspect_request(Endpoint::ImagesGenerations, R"({"model":"m","stream":true})", {})->stream);
}

TEST(InspectRequest, ModerationsMayLeaveTheModelOut) {
  EXPECT_TRUE(inspect(R"({"input":"x"})", Endpoint::Moderations));
  EXPECT_FALSE(inspect(R"({"input":"x"})", Endpoint::Embeddings));
}

TEST(InspectRequest, KeepsToTheLimitsItIsGiven) {
  wire::JsonLimits limits;
  limits.nodes_max = 5;
  const auto facts =
      inspect_request(Endpoint::ChatCompletions, R"({"model":"m","a":[1,2,3,4,5,6,7,8,9]})", limits);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().message,
            "the body has too many values at byte 18; this gateway takes 5 (limits.json_nodes_max)");
  limits.depth_max = 2;
  const auto deep = inspect_request(Endpoint::ChatCompletions, R"({"a":[[[]]]})", limits);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "the body is nested too deeply at byte 6; this gateway takes 2 levels");
}

TEST(EncodeForTarget, LeavesTheBodyAloneWhenNothingIsToChange) {
  constexpr std::string_view kBody = " {\"messages\" : [ ], \"model\":\"m\"}\n";
  EXPECT_EQ(encoded(kBody, target("m")), kBody);
}

TEST(EncodeForTarget, ReplacesTheModelAndNothingElse) {
  EXPECT_EQ(encoded(R"({ "a":1, "model" : "m\u0021" ,"new_field":{"x":1.0}})", target("Org/M\"1")),
            R"({ "a":1, "model" : "Org/M\"1" ,"new_field":{"x":1.0}})");
}

TEST(EncodeForTarget, LeavesTheModelOutWhereTheUrlHasIt) {
  const auto azure = target("dep", {.sends_model_in_body = false});
  EXPECT_EQ(encoded(R"({"model":"m","a":1})", azure), R"({"a":1})");
  EXPECT_EQ(encoded(R"({"a":1,"model":"m"})", azure), R"({"a":1})");
  EXPECT_EQ(encoded(R"({"a":1,"model":"m","b":2})", azure), R"({"a":1,"b":2})");
  EXPECT_EQ(encoded(R"({"model":"m"})", azure), R"({})");
}

TEST(EncodeForTarget, AddsTheModelWhereTheClientMayLeaveItOut) {
  EXPECT_EQ(encoded(R"({"input":"x"})", target("omni"), Endpoint::Moderations),
            R"({"model":"omni","input":"x"})");
}

TEST(EncodeForTarget, ForcesUsageIntoStreams) {
  const auto to = target("m");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true})", to),
            R"({"stream_options":{"include_usage":true},"model":"m","stream":true})");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true,"stream_options":null})", to),
            R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true,"stream_options":{}})", to),
            R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})");
  EXPECT_EQ(
      encoded(R"({"model":"m","stream":true,"stream_options":{"include_obfuscation":false}})", to),
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}})");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true,"stream_options":{"include_usage":false}})", to),
            R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})");
}

TEST(EncodeForTarget, ForcesUsageOnlyWhereItIsWantedAndKnown) {
  const auto untouched = [](std::string_view body, const model::Target& to, Endpoint endpoint) {
    EXPECT_EQ(encoded(body, to, endpoint), body);
    EXPECT_FALSE(usage_was_forced(*inspect(body, endpoint), endpoint, to)) << body;
  };
  untouched(R"({"model":"m","stream":false})", target("m"), Endpoint::ChatCompletions);
  untouched(R"({"model":"m"})", target("m"), Endpoint::ChatCompletions);
  untouched(R"({"model":"m","stream":true})", target("m"), Endpoint::Responses);
  untouched(R"({"model":"m","stream":true})", target("m", {.force_include_usage = false}),
            Endpoint::ChatCompletions);
  untouched(R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})", target("m"),
            Endpoint::Completions);
}

TEST(EncodeForTarget, DropsTheWishForUsageWhereItIsRefused) {
  const auto to = target("m", {.force_include_usage = false, .refuses_include_usage = true});
  const auto sent = [&](std::string_view body) { return encoded(body, to); };
  EXPECT_EQ(sent(R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})"),
            R"({"model":"m","stream":true})");
  EXPECT_EQ(sent(R"({"stream_options":{"include_usage":false},"model":"m"})"), R"({"model":"m"})");
  EXPECT_EQ(sent(R"({"model":"m","stream_options":{"x":1,"include_usage":true},"stream":true})"),
            R"({"model":"m","stream_options":{"x":1},"stream":true})");
  EXPECT_EQ(sent(R"({"model":"m","stream":true,"stream_options":{"x":1}})"),
            R"({"model":"m","stream":true,"stream_options":{"x":1}})")
      << "what is not ours stays";
  EXPECT_EQ(sent(R"({"model":"m","stream":true,"stream_options":null})"),
            R"({"model":"m","stream":true,"stream_options":null})");
  const auto renamed = target("up", to.quirks);
  EXPECT_EQ(encoded(R"({"model":"m","stream_options":{"include_usage":true},"stream":true})", renamed),
            R"({"model":"up","stream":true})");
}

TEST(EncodeForTarget, MakesBothEditsInAnyOrderOfMembers) {
  const auto to = target("up");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true,"stream_options":{"include_usage":false}})", to),
            R"({"model":"up","stream":true,"stream_options":{"include_usage":true}})");
  EXPECT_EQ(encoded(R"({"stream_options":{"include_usage":false},"stream":true,"model":"m"})", to),
            R"({"stream_options":{"include_usage":true},"stream":true,"model":"up"})");
  EXPECT_EQ(encoded(R"({"model":"m","stream":true})", target("dep", {.sends_model_in_body = false})),
            R"({"stream_options":{"include_usage":true},"stream":true})");
}

}  // namespace
}  // namespace qq::dialects::openai
