// What the providers' endpoints for embeddings say, as the gateway reads it.
#include "simulator/provider/native_embeddings.h"

#include <gmock/gmock.h>

#include "dialects/embeddings/embeddings.h"
#include "simulator/provider/test_support.h"
#include "simulator/provider/vectors.h"

namespace qq::simulator::native {
namespace {

using namespace testing;
using model::Endpoint;
using ::testing::HasSubstr;

constexpr std::string_view kKeys = "x-goog-api-key: k\r\nauthorization: Bearer k\r\n";
constexpr std::string_view kVertex = "/v1/projects/p/locations/l/publishers/google/models/sim-e:predict";

std::string told(std::string_view path, const std::string& body, std::string_view lines = kKeys) {
  return read_reply(bytes_of(play_of(path, body, {}, lines)))->body;
}

TEST(NativeEmbeddings, AreTheVectorsOfTheTexts) {
  struct Case {
    std::string_view path;
    std::string_view body;
    Endpoint endpoint;
    std::int64_t tokens;  // 0: it does not say
  };
  for (
      const Case& each :
      {Case{
           "/v1beta/models/sim-e:batchEmbedContents",
           R"({"requests":[{"model":"models/sim-e","content":{"parts":[{"text":"one"}]},"outputDimensionality":8},)"
           R"({"model":"models/sim-e","content":{"parts":[{"text":"two"}]},"outputDimensionality":8}]})",
           Endpoint::BatchEmbedContents, 0},
       {kVertex,
        R"({"instances":[{"content":"one"},{"content":"two"}],"parameters":{"outputDimensionality":8}})",
        Endpoint::Predict, 8},
       {"/v2/embed",
        R"({"model":"sim-e","texts":["one","two"],"input_type":"search_query","output_dimension":8})",
        Endpoint::CohereEmbed, 5},
       {"/model/cohere.embed-v4%3A0/invoke",
        R"({"texts":["one","two"],"input_type":"search_query","output_dimension":8})", Endpoint::InvokeEmbed,
        0}}) {
    SCOPED_TRACE(each.path);
    const std::string body = told(each.path, std::string(each.body));
    dialects::embeddings::Request request;
    request.texts = {"one", "two"};
    std::string room;
    const auto answer = dialects::embeddings::decode_answer(body, request, {}, each.endpoint, room);
    ASSERT_TRUE(answer) << answer.error().message << body;
    EXPECT_EQ(answer->usage.input_total(), each.tokens);
    const std::string expected = dialects::embeddings::encode_answer(*answer, request, "m");
    EXPECT_THAT(expected, HasSubstr(numbers_json(unit_vector("one", 8))));
    EXPECT_THAT(expected, HasSubstr(numbers_json(unit_vector("two", 8))));
  }
  EXPECT_THAT(told("/v1beta/models/sim-e:embedContent", R"({"content":{"parts":[{"text":"one"}]}})"),
              HasSubstr(R"("embedding": {)"));
  EXPECT_THAT(told("/model/amazon.titan-embed-text-v2%3A0/invoke", R"({"inputText":"one","dimensions":8})"),
              HasSubstr(R"("inputTextTokenCount":4)"));
}

std::string requests(std::size_t count) {
  std::string out = R"({"requests":[)";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += R"({"model":"models/sim-e","content":{"parts":[{"text":"x"}]}})";
  }
  return out + "]}";
}

TEST(NativeEmbeddings, RefuseWhatTheProvidersRefuse) {
  constexpr std::string_view kBatch = "/v1beta/models/sim-e:batchEmbedContents";
  EXPECT_THAT(told(kBatch, requests(101)), HasSubstr("at most 100 requests"));
  EXPECT_THAT(told(kBatch, R"({"requests":[{"model":"models/other","content":{"parts":[{"text":"x"}]}}]})"),
              HasSubstr("model does not match"));
  EXPECT_THAT(told(kBatch, requests(1), ""), HasSubstr("unregistered callers"));
  EXPECT_THAT(told("/v2/embed", R"({"model":"sim-e","texts":["x"]})"), HasSubstr("input_type is required"));
  EXPECT_THAT(told("/v2/embed", R"({"model":"sim-e","texts":["x"],"input_type":"clustering"})", ""),
              HasSubstr("no api key"));
  EXPECT_THAT(told(kVertex, R"({"instances":[]})"), HasSubstr("no text"));
}

TEST(NativeEmbeddings, AreBrokenByFaultsAsOthersAre) {
  EXPECT_THAT(told("/v2/embed", R"({"model":"sim-e+fault=429","texts":["x"],"input_type":"clustering"})"),
              HasSubstr("message"));
  EXPECT_THAT(
      told("/v2/embed", R"({"model":"sim-e+fault=usage_missing","texts":["x"],"input_type":"clustering"})"),
      ::testing::Not(HasSubstr("billed_units")));
}

}  // namespace
}  // namespace qq::simulator::native
