// The made-up vendor of examples/declared-adapter.yaml from the file to the wire: what each of our client
// dialects asks becomes its JSON, what it says becomes answers, its requests are signed.
#include <fakes/neutral.h>
#include <gtest/gtest.h>

#include <array>

#include "config/compile.h"
#include "config/load.h"
#include "config/test_environment.h"
#include "dialects/dialect.h"
#include "providers/hmac_signer.h"
#include "wire/json.h"

namespace qq::config {
namespace {

using model::Dialect;

class DeclaredVendorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto config = load_file(QQ_SOURCE_DIR "/examples/declared-adapter.yaml",
                            test_environment({{"BRAIN_KEY_ID", "id-1"}, {"BRAIN_SECRET", "canary-secret"}}));
    ASSERT_TRUE(config) << to_text(config.error().front());
    auto made = compile(*config, healths_, 1, WallTime{});
    ASSERT_TRUE(made) << made.error().message;
    snapshot_ = *made;
    ASSERT_EQ(snapshot_->targets.size(), 1U);
  }
  [[nodiscard]] const model::Target& target() const { return *snapshot_->targets.front(); }

  struct Asked {
    std::string body;
    std::string headers;
    std::string losses;
    model::ChatRequest request;
  };
  [[nodiscard]] Asked asked(Dialect dialect, std::string_view body,
                            const dialects::RequestHead& head = {}) const {
    Asked out;
    auto request = dialects::client_dialect(dialect)->decode_request(body, head);
    if (!request) return {.body = "not read: " + request.error().message};
    out.request = *std::move(request);
    dialects::Losses losses;
    auto encoded = provider().encode_request(out.request, target(), losses);
    if (!encoded) return {.body = "refused " + encoded.error().param + ": " + encoded.error().message};
    EXPECT_FALSE(wire::check_json(encoded->body)) << encoded->body;
    out.body = std::move(encoded->body);
    out.headers = std::move(encoded->header_lines);
    for (const dialects::Loss& loss : losses)
      out.losses.append(loss.field).append(": ").append(loss.why).append("\n");
    return out;
  }
  [[nodiscard]] qq::testing::DecodedStream stream(std::string_view body) const {
    return qq::testing::decode_however_split(provider(), Dialect::Declared, target(), body);
  }
  static const dialects::ProviderDialect& provider() {
    return *dialects::provider_dialect(Dialect::Declared);
  }

  resilience::HealthRegistry healths_;
  std::shared_ptr<const relay::Snapshot> snapshot_;
};

TEST_F(DeclaredVendorTest, HasThePathsOfItsModel) {
  const model::TargetEndpoint& endpoint = target().endpoint(model::Endpoint::Declared);
  EXPECT_EQ(endpoint.path_and_query, "/api/v2/engines/large/generate");
  EXPECT_EQ(endpoint.stream_path, "/api/v2/engines/large/generate-stream?mode=live");
  EXPECT_EQ(target().endpoint_for(model::Endpoint::Messages), model::Endpoint::Declared);
}

// The same question in the four dialects is the same request.
TEST_F(DeclaredVendorTest, IsAskedTheSameByEveryClientDialect) {
  constexpr std::string_view kExpected =
      R"({"dialogue":[{"from":"human","content":[{"type":"words","words":"Hi"}]},)"
      R"({"from":"brain","content":[{"type":"words","words":"Hello."}]},)"
      R"({"from":"human","content":[{"type":"words","words":"Who are you?"}]}],"instructions":"Be brief.",)"
      R"("options":{"heat":0.5,"limit":100,"until":["END"]},"live":true})";
  EXPECT_EQ(asked(Dialect::OpenAiChat,
                  R"({"model":"m","stream":true,"temperature":0.5,"max_tokens":100,"stop":"END","messages":[)"
                  R"({"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},)"
                  R"({"role":"assistant","content":"Hello."},{"role":"user","content":"Who are you?"}]})")
                .body,
            kExpected);
  EXPECT_EQ(asked(Dialect::Anthropic,
                  R"({"model":"m","stream":true,"temperature":0.5,"max_tokens":100,"stop_sequences":["END"],)"
                  R"("system":"Be brief.","messages":[{"role":"user","content":"Hi"},)"
                  R"({"role":"assistant","content":[{"type":"text","text":"Hello."}]},)"
                  R"({"role":"user","content":"Who are you?"}]})",
                  {.version = "2023-06-01"})
                .body,
            kExpected);
  EXPECT_EQ(
      asked(Dialect::Gemini,
            R"({"systemInstruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"temperature":0.5,)"
            R"("maxOutputTokens":100,"stopSequences":["END"]},"contents":[)"
            R"({"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello."}]},)"
            R"({"role":"user","parts":[{"text":"Who are you?"}]}]})",
            {.path_model = "m", .path_stream = true})
          .body,
      kExpected);
  // The responses API has no stop strings.
  std::string without_stop(kExpected);
  without_stop.erase(without_stop.find(R"(,"until":["END"])"),
                     std::string_view(R"(,"until":["END"])").size());
  EXPECT_EQ(asked(Dialect::OpenAiResponses,
                  R"({"model":"m","stream":true,"temperature":0.5,"max_output_tokens":100,)"
                  R"("instructions":"Be brief.","input":[{"role":"user","content":"Hi"},)"
                  R"({"role":"assistant","content":[{"type":"output_text","text":"Hello."}]},)"
                  R"({"role":"user","content":"Who are you?"}]})")
                .body,
            without_stop);
}

TEST_F(DeclaredVendorTest, GetsWhatItNeedsThoughNobodySaidIt) {
  const Asked least =
      asked(Dialect::OpenAiChat, R"({"model":"m","messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(least.body, R"({"dialogue":[{"from":"human","content":[{"type":"words","words":"Hi"}]}],)"
                        R"("options":{"limit":1024},"live":false})");
  EXPECT_EQ(least.headers, "x-brain-tenant: acme\r\n");
  EXPECT_EQ(least.losses, "");
}

TEST_F(DeclaredVendorTest, IsOfferedToolsAndToldTheirResults) {
  const Asked tools =
      asked(Dialect::OpenAiChat,
            R"({"model":"m","tools":[{"type":"function","function":{"name":"look","description":"Looks.",)"
            R"("parameters":{"type":"object"}}}],"tool_choice":"required","messages":[)"
            R"({"role":"user","content":"Look"},{"role":"assistant","content":null,"tool_calls":[)"
            R"({"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}}]},)"
            R"({"role":"tool","tool_call_id":"c1","content":"a cat"}]})");
  EXPECT_EQ(tools.body,
            R"({"dialogue":[{"from":"human","content":[{"type":"words","words":"Look"}]},)"
            R"({"from":"brain","content":[],"actions":[{"ref":"c1","ability":"look","input":{"at":1}}]},)"
            R"({"from":"ability","ref":"c1","output":"a cat","failed":false}],"options":{"limit":1024},)"
            R"("abilities":[{"ability":"look","about":"Looks.","input":{"type":"object"}}],)"
            R"("ability_use":{"rule":"required"},"live":false})");
  const Asked one = asked(
      Dialect::Anthropic,
      R"({"model":"m","max_tokens":5,"tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}],)"
      R"("tool_choice":{"type":"tool","name":"b"},"messages":[{"role":"user","content":"Go"}]})",
      {.version = "2023-06-01"});
  EXPECT_TRUE(one.body.contains(R"("abilities":[{"ability":"b","input":{}}])")) << one.body;
  EXPECT_TRUE(one.body.contains(R"("ability_use":{"rule":"required","name":"b"})")) << one.body;
}

TEST_F(DeclaredVendorTest, ConnectsCallsAndResultsOfAHistoryWithoutIds) {
  const Asked gemini = asked(
      Dialect::Gemini,
      R"({"tools":[{"functionDeclarations":[{"name":"look"}]}],"contents":[{"role":"user","parts":[{"text":"Go"}]},)"
      R"({"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]},)"
      R"({"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"a cat"}}}]}]})",
      {.path_model = "m"});
  EXPECT_TRUE(gemini.body.contains(R"("ref":"call_0","ability":"look")")) << gemini.body;
  EXPECT_TRUE(gemini.body.contains(R"({"from":"ability","ref":"call_0",)")) << gemini.body;
}

TEST_F(DeclaredVendorTest, SeesImagesThatComeAsBytes) {
  EXPECT_TRUE(asked(Dialect::OpenAiChat,
                    R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What?"},)"
                    R"({"type":"image_url","image_url":{"url":"data:image/jpeg;base64,QUJD"}}]}]})")
                  .body.contains(R"("content":[{"type":"words","words":"What?"},)"
                                 R"({"type":"picture","format":"image/jpeg","bytes":"QUJD"}])"));
  EXPECT_EQ(
      asked(Dialect::OpenAiChat,
            R"({"model":"m","messages":[{"role":"user","content":[)"
            R"({"type":"image_url","image_url":{"url":"https://pictures.example/cat.png"}}]}]})")
          .body,
      "refused messages[].content: 'messages[].content' is not possible with this model: it takes the image "
      "itself and no reference to it; leave it out or ask another model");
}

TEST_F(DeclaredVendorTest, RefusesInTheCallersWordsWhatItHasNoPlaceFor) {
  EXPECT_EQ(
      asked(Dialect::OpenAiChat, R"({"model":"m","n":2,"messages":[{"role":"user","content":"Hi"}]})").body,
      "refused n: 'n' is not possible with this model: the target has no such field; leave it out or ask "
      "another model");
  EXPECT_EQ(
      asked(
          Dialect::Gemini,
          R"({"generationConfig":{"candidateCount":2},"contents":[{"role":"user","parts":[{"text":"Hi"}]}]})",
          {.path_model = "m"})
          .body.substr(0, 41),
      "refused generationConfig.candidateCount: ");
  EXPECT_EQ(
      asked(
          Dialect::OpenAiChat,
          R"({"model":"m","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"Hi"}]})")
          .body.substr(0, 24),
      "refused response_format:");
}

TEST_F(DeclaredVendorTest, ReportsWhatItLeavesOut) {
  const Asked lossy =
      asked(Dialect::OpenAiChat,
            R"({"model":"m","seed":3,"presence_penalty":1,"user":"u-7","messages":[)"
            R"({"role":"user","content":"Hi"},{"role":"system","content":"Now in French."}]})");
  EXPECT_EQ(lossy.losses,
            "presence_penalty: the target has no such field\nseed: the target has no such field\n"
            "messages: the nearest that the target has\n");
  EXPECT_EQ(lossy.headers, "x-brain-tenant: acme\r\nx-brain-user: u-7\r\n");
  EXPECT_TRUE(lossy.body.contains(R"("instructions":"Now in French.")"));
}

TEST_F(DeclaredVendorTest, NobodysNameBeginsAHeaderOfItsOwn) {
  EXPECT_EQ(asked(Dialect::OpenAiChat,
                  R"({"model":"m","user":"a\r\nx-admin: 1","messages":[{"role":"user","content":"Hi"}]})")
                .body.substr(0, 14),
            "refused user: ");
}

TEST_F(DeclaredVendorTest, AnswersWhole) {
  const auto answer = provider().decode_answer(
      R"({"trace":"t-1","engine":"large-3","result":{"words":"Hello","thoughts":"hm","ended":"complete",)"
      R"("actions":[{"ref":"r1","ability":"look","input":{"at":1}}]},)"
      R"("cost":{"read":10,"written":6,"remembered":4,"thought":1}})",
      target(), "seed");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(
      qq::testing::describe(*answer),
      "answer id=t-1 model=large-3 created=0\n  choice 0 tool_calls (complete)\n    reasoning \"hm\"\n"
      "    text \"Hello\"\n    call r1 look {\"at\":1}\n  usage uncached=6 read=4 text=5 reasoning=1\n");
}

constexpr std::string_view kStream =
    "data: {\"kind\":\"begin\",\"trace\":\"t-1\",\"engine\":\"large-3\",\"cost\":{\"read\":10}}\n\n"
    "data: {\"kind\":\"thoughts\",\"words\":\"hm\"}\n\n"
    "data: {\"kind\":\"words\",\"words\":\"Hel\"}\n\ndata: {\"kind\":\"words\",\"words\":\"lo\"}\n\n"
    "data: "
    "{\"kind\":\"action\",\"action\":{\"slot\":0,\"ref\":\"r1\",\"ability\":\"look\",\"piece\":\"{"
    "\\\"at\\\"\"}}\n\n"
    "data: {\"kind\":\"action\",\"action\":{\"slot\":0,\"piece\":\":1}\"}}\n\n"
    "data: {\"kind\":\"end\",\"ended\":\"action\",\"cost\":{\"written\":6}}\n\n";

TEST_F(DeclaredVendorTest, AnswersInAStream) {
  const auto told = stream(kStream);
  EXPECT_EQ(qq::testing::describe(told.answer),
            "answer id=t-1 model=large-3 created=0\n  choice 0 tool_calls (action)\n    reasoning \"hm\"\n"
            "    text \"Hello\"\n    call r1 look {\"at\":1}\n  usage uncached=10 text=6\n");
  EXPECT_TRUE(told.ended);
}

// What comes out reads as a stream of every client's dialect.
TEST_F(DeclaredVendorTest, ItsStreamCanBeToldInEveryClientDialect) {
  for (const Dialect dialect :
       {Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini}) {
    model::ChatRequest request;
    request.dialect = dialect;
    const dialects::AnswerHead head{.model = "brain-large", .request_id = "r", .now = 1};
    struct Teller final : dialects::EventSink {
      std::unique_ptr<dialects::StreamEncoder> encoder;
      std::string out;
      void on_event(const model::StreamEvent& event) override { encoder->encode(event, out); }
    } teller;
    teller.encoder = dialects::client_dialect(dialect)->stream_encoder(request, head);
    const auto decoder = provider().stream_decoder(target(), "seed");
    decoder->feed(kStream, teller);
    decoder->finish(teller);
    const auto* const reader = dialects::provider_dialect(dialect);
    const auto read = qq::testing::decode_stream(*reader, dialect, model::Target{}, teller.out);
    EXPECT_EQ(read.grammar, "") << teller.out;
    EXPECT_TRUE(read.ended) << to_string(dialect) << teller.out;
    std::string text;
    for (const model::Part& part : read.answer.choices.at(0).parts) {
      if (const auto* words = part.as<model::TextPart>()) text += words->text;
    }
    EXPECT_EQ(text, "Hello") << teller.out;
    EXPECT_EQ(read.answer.choices[0].finish, model::Finish::ToolCalls) << to_string(dialect);
  }
}

TEST_F(DeclaredVendorTest, ItsErrorsAreOurs) {
  const auto spent = stream(
      "data: {\"kind\":\"words\",\"words\":\"Hel\"}\n\n"
      "data: {\"kind\":\"fault\",\"fault\":{\"code\":\"E_SPENT\",\"text\":\"no more\"}}\n\n");
  ASSERT_TRUE(spent.error);
  EXPECT_EQ(spent.error->kind, ErrorKind::QuotaExhausted);
  EXPECT_EQ(spent.error->message, "no more");
  EXPECT_EQ(stream("data: {\"kind\":\"words\",\"words\":\"Hel\"}\n\n").error->kind, ErrorKind::StreamCut);
}

TEST_F(DeclaredVendorTest, SignsWhatItSends) {
  ASSERT_EQ(target().request_auth, model::RequestAuth::Hmac);
  ASSERT_TRUE(target().declared->hmac);
  constexpr std::array<std::string_view, 1> kBody{"{}"};
  const std::string lines = providers::hmac_header_lines(
      *target().declared->hmac, target().signing_credential,
      {.host = "brain.example", .path_and_query = "/api/v2/engines/large/generate", .body_pieces = kBody},
      WallTime{std::chrono::seconds(1'700'000'000)}, "0011");
  EXPECT_EQ(lines,
            "authorization: BRAIN-HMAC Key=id-1, "
            "Signature=fa98769fca857afb7c8f4f0c50c1dc4497b7dc505e9d8ae7026674f1ecc77179\r\n"
            "x-brain-time: 1700000000\r\nx-brain-nonce: 0011\r\n");
}

}  // namespace
}  // namespace qq::config
