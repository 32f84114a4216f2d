#include "dialects/embeddings/embeddings.h"

#include <gtest/gtest.h>

#include "dialects/losses.h"

namespace qq::dialects::embeddings {
namespace {

using model::Endpoint;

model::Target target_named(std::string_view upstream, bool model_in_body = true) {
  model::Target target;
  target.model = "our-name";
  target.upstream_model = upstream;
  target.quirks.sends_model_in_body = model_in_body;
  return target;
}

struct Sent {
  std::string body;  // or the error's field and text
  std::string lost;
};

Sent sent(std::string_view asked, Endpoint at, const model::Target& target,
          Endpoint asked_at = Endpoint::Embeddings) {
  const auto request = decode_request(asked_at, asked);
  if (!request) return {request.error().param + ": " + request.error().message, {}};
  Losses losses;
  auto body = encode_request(*request, target, at, losses);
  Sent out;
  out.body = body ? *body : body.error().param + ": " + body.error().message;
  for (const Loss& loss : losses) out.lost += loss.field + ";";
  return out;
}

constexpr std::string_view kTwo =
    R"({"model":"m","input":["one","t\"wo"],"dimensions":8,"encoding_format":"base64"})";

TEST(EmbeddingRequests, AreSaidInEachProvidersWords) {
  const model::Target gemini = target_named("gemini-embedding-001", false);
  EXPECT_EQ(sent(kTwo, Endpoint::BatchEmbedContents, gemini).body,
            R"({"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"one"}]},)"
            R"("outputDimensionality":8},{"model":"models/gemini-embedding-001","content":{"parts":)"
            R"([{"text":"t\"wo"}]},"outputDimensionality":8}]})");
  EXPECT_EQ(
      sent(kTwo, Endpoint::Predict, target_named("text-embedding-005", false)).body,
      R"({"instances":[{"content":"one"},{"content":"t\"wo"}],"parameters":{"outputDimensionality":8}})");
  EXPECT_EQ(sent(kTwo, Endpoint::CohereEmbed, target_named("embed-v4.0")).body,
            R"({"model":"embed-v4.0","texts":["one","t\"wo"],"input_type":"search_document",)"
            R"("embedding_types":["float"],"output_dimension":8})");
  EXPECT_EQ(sent(kTwo, Endpoint::InvokeEmbed, target_named("cohere.embed-v4:0", false)).body,
            R"({"texts":["one","t\"wo"],"input_type":"search_document","embedding_types":["float"],)"
            R"("output_dimension":8})");
}

TEST(EmbeddingRequests, OfOneTextGoToModelsThatTakeOne) {
  constexpr std::string_view kOne = R"({"model":"m","input":"one","dimensions":256,"normalize":false})";
  EXPECT_EQ(sent(kOne, Endpoint::InvokeEmbed, target_named("amazon.titan-embed-text-v2:0", false)).body,
            R"({"inputText":"one","dimensions":256,"normalize":false})");
  EXPECT_EQ(sent(kOne, Endpoint::InvokeEmbed, target_named("amazon.titan-embed-image-v1", false)).body,
            R"({"inputText":"one","embeddingConfig":{"outputEmbeddingLength":256}})");
  const Sent vertex = sent(kOne, Endpoint::EmbedContent, target_named("gemini-embedding-2", false));
  EXPECT_EQ(vertex.body, R"({"content":{"parts":[{"text":"one"}]},"outputDimensionality":256})");
  EXPECT_EQ(vertex.lost, "normalize;");
}

TEST(EmbeddingRequests, OfDimensionsThatAModelDoesNotHaveAreRefused) {
  const model::Target g1 = target_named("amazon.titan-embed-text-v1", false);
  EXPECT_EQ(sent(R"({"input":"one","dimensions":256})", Endpoint::InvokeEmbed, g1).body,
            "dimensions: 'dimensions' must be 1536 or left out: this model has no other");
  EXPECT_EQ(sent(R"({"input":"one","dimensions":1536})", Endpoint::InvokeEmbed, g1).body,
            R"({"inputText":"one"})");
}

std::string many(std::size_t count) {
  std::string out = R"({"input":[)";
  for (std::size_t i = 0; i < count; ++i) out += i > 0 ? ",\"x\"" : "\"x\"";
  return out + "]}";
}

TEST(EmbeddingRequests, WithMoreTextsThanACallTakesAreRefusedByName) {
  struct Most {
    Endpoint at;
    std::string_view model;
    std::size_t most;
  };
  for (const Most& each : {Most{Endpoint::BatchEmbedContents, "gemini-embedding-001", 100},
                           {Endpoint::Predict, "text-005", 250},
                           {Endpoint::Predict, "gemini-embedding-001", 1},
                           {Endpoint::EmbedContent, "gemini-embedding-2", 1},
                           {Endpoint::CohereEmbed, "embed-v4.0", 96},
                           {Endpoint::InvokeEmbed, "cohere.embed-v4:0", 96},
                           {Endpoint::InvokeEmbed, "amazon.titan-embed-text-v2:0", 1},
                           {Endpoint::Embeddings, "text-embedding-3-small", 2'048}}) {
    const model::Target target = target_named(each.model);
    EXPECT_TRUE(sent(many(each.most), each.at, target).body.starts_with('{')) << each.model;
    const std::string refused = sent(many(each.most + 1), each.at, target).body;
    EXPECT_TRUE(refused.starts_with("input: 'input' has " + std::to_string(each.most + 1) + " texts"))
        << refused;
  }
}

TEST(EmbeddingRequests, OfTokensAreRefusedByName) {
  for (const std::string_view tokens : {R"({"input":[1,2,3]})", R"({"input":[[1,2],[3]]})"}) {
    const std::string refused = sent(tokens, Endpoint::CohereEmbed, target_named("embed-v4.0")).body;
    EXPECT_TRUE(refused.starts_with("input: 'input' holds tokens")) << refused;
  }
}

TEST(EmbeddingRequests, ThatAreNoneNameTheField) {
  const model::Target target = target_named("m");
  const auto why = [&](std::string_view asked) { return sent(asked, Endpoint::CohereEmbed, target).body; };
  EXPECT_TRUE(why(R"({"model":"m"})").starts_with("input: "));
  EXPECT_TRUE(why(R"({"input":[]})").starts_with("input: "));
  EXPECT_TRUE(why(R"({"input":{"text":"x"}})").starts_with("input: "));
  EXPECT_TRUE(why(R"({"input":["a",7]})").starts_with("input[1]: "));
  EXPECT_TRUE(why(R"({"input":[7,"a"]})").starts_with("input[1]: "));
  EXPECT_TRUE(why(R"({"input":"a","input":"b"})").starts_with("input: "));
  EXPECT_TRUE(why(R"({"input":[1],"input":"b"})").starts_with("input: "));
  EXPECT_TRUE(why(R"({"input":"a","dimensions":0})").starts_with("dimensions: "));
  EXPECT_TRUE(why(R"({"input":"a","encoding_format":"int8"})").starts_with("encoding_format: "));
  EXPECT_TRUE(why(R"({"input":"a","input_type":7})").starts_with("input_type: "));
}

TEST(EmbeddingRequests, SayWhatATextIsForOnlyWhereTheCallerDoes) {
  const model::Target gemini = target_named("gemini-embedding-001", false);
  EXPECT_EQ(sent(R"({"input":"a","input_type":"search_query"})", Endpoint::Predict, gemini).body,
            R"({"instances":[{"content":"a","task_type":"RETRIEVAL_QUERY"}]})");
  EXPECT_EQ(sent(R"({"input":"a","task_type":"SEMANTIC_SIMILARITY"})", Endpoint::Predict, gemini).body,
            R"({"instances":[{"content":"a","task_type":"SEMANTIC_SIMILARITY"}]})");
  const model::Target cohere = target_named("embed-v4.0");
  const Sent query = sent(R"({"input":"a","task_type":"RETRIEVAL_QUERY"})", Endpoint::CohereEmbed, cohere);
  EXPECT_TRUE(query.body.contains(R"("input_type":"search_query")")) << query.body;
  EXPECT_EQ(query.lost, "");
  const Sent alike =
      sent(R"({"input":"a","task_type":"SEMANTIC_SIMILARITY"})", Endpoint::CohereEmbed, cohere);
  EXPECT_TRUE(alike.body.contains(R"("input_type":"search_document")")) << alike.body;
  EXPECT_EQ(alike.lost, "task_type;");
}

TEST(EmbeddingRequests, TellWhatIsLost) {
  constexpr std::string_view kAsked =
      R"({"input":"a","user":"u-1","title":"t","truncate":"END","normalize":true,"input_type":"clustering"})";
  EXPECT_EQ(sent(kAsked, Endpoint::CohereEmbed, target_named("embed-v4.0")).lost, "title;normalize;user;");
  EXPECT_EQ(sent(kAsked, Endpoint::BatchEmbedContents, target_named("e")).lost, "truncate;normalize;user;");
  EXPECT_EQ(sent(kAsked, Endpoint::InvokeEmbed, target_named("amazon.titan-embed-text-v2:0")).lost,
            "input_type;title;truncate;user;");
}

TEST(EmbeddingRequests, OfGooglesClientsGoToGoogleAsTheyAre) {
  constexpr std::string_view kBatch =
      R"({"requests":[{"model":"models/alias","content":{"parts":[{"text":"a"},{"inlineData":{"data":"AA=="}}]},)"
      R"("taskType":"CLUSTERING","new":1},{"model":"models/alias","content":{"parts":[{"text":"b"}]}}]})";
  const Sent batch =
      sent(kBatch, Endpoint::BatchEmbedContents, target_named("real", false), Endpoint::BatchEmbedContents);
  EXPECT_EQ(
      batch.body,
      R"({"requests":[{"model":"models/real","content":{"parts":[{"text":"a"},{"inlineData":{"data":"AA=="}}]},)"
      R"("taskType":"CLUSTERING","new":1},{"model":"models/real","content":{"parts":[{"text":"b"}]}}]})");
  EXPECT_EQ(batch.lost, "");
  EXPECT_EQ(sent(R"({"model":"models/alias","content":{"parts":[{"text":"a"}]},"title":"t"})",
                 Endpoint::EmbedContent, target_named("real", false), Endpoint::EmbedContent)
                .body,
            R"({"content":{"parts":[{"text":"a"}]},"title":"t"})");
}

TEST(EmbeddingRequests, OfGooglesClientsGoToOthersWhereTheyAreTexts) {
  const model::Target openai = target_named("text-embedding-3-small");
  const Sent single = sent(
      R"({"content":{"parts":[{"text":"a"},{"text":"b"}]},"outputDimensionality":64,"taskType":"CLUSTERING"})",
      Endpoint::Embeddings, openai, Endpoint::EmbedContent);
  EXPECT_EQ(single.body,
            R"({"model":"text-embedding-3-small","input":["ab"],"encoding_format":"float","dimensions":64})");
  EXPECT_EQ(single.lost, "taskType;");
  const Sent nested = sent(
      R"({"content":{"parts":[{"text":"a"}]},"taskType":"CLUSTERING","embed_content_config":{"output_dimensionality":64}})",
      Endpoint::Embeddings, openai, Endpoint::EmbedContent);
  EXPECT_NE(nested.body.find(R"("dimensions":64)"), std::string::npos) << nested.body;
  EXPECT_EQ(nested.lost, "taskType;") << "what stands beside the configuration is not read";
  const auto refused = [&](std::string_view asked) {
    return sent(asked, Endpoint::Embeddings, openai, Endpoint::BatchEmbedContents).body;
  };
  EXPECT_TRUE(
      refused(
          R"({"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"inlineData":{}}]}}]})")
          .starts_with("requests[1].content.parts: "));
  EXPECT_TRUE(refused(R"({"requests":[{"content":{"parts":[{"text":"a"}]}},)"
                      R"({"content":{"parts":[{"text":"b"}]},"outputDimensionality":5}]})")
                  .starts_with("requests[1]: "));
  EXPECT_TRUE(refused(R"({"requests":[{}]})").starts_with("requests[0].content: "));
  EXPECT_TRUE(refused(R"({"requests":[]})").starts_with("requests: "));
}

// ---- Answers
// ------------------------------------------------------------------------------------------------

Request asked_for(std::size_t texts, bool base64 = false) {
  Request request;
  request.texts.assign(texts, "x");
  request.base64 = base64;
  return request;
}

// What the client gets, or the error's kind.
std::string answered(std::string_view body, Endpoint at, std::size_t texts, bool base64 = false) {
  const Request request = asked_for(texts, base64);
  std::string room;
  const auto answer = decode_answer(body, request, target_named("m"), at, room);
  return answer ? encode_answer(*answer, request, "our-name") : std::string(to_string(answer.error().kind));
}

constexpr std::string_view kAnswered =
    R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,-0.5]},)"
    R"({"object":"embedding","index":1,"embedding":[0.25,2e-3]}],"model":"our-name")";

TEST(EmbeddingAnswers, OfEachProviderAreTheSame) {
  const std::string told = std::string(kAnswered) + R"(,"usage":{"prompt_tokens":7,"total_tokens":7}})";
  EXPECT_EQ(
      answered("{\n \"embeddings\": [\n  {\"values\": [\n 1,\n -0.5\n ]},\n {\"values\": [0.25, 2e-3]}],"
               "\"usageMetadata\": {\"promptTokenCount\": 7}}\n",
               Endpoint::BatchEmbedContents, 2),
      told);
  EXPECT_EQ(answered(R"({"predictions":[{"embeddings":{"values":[1,-0.5],"statistics":{"token_count":3}}},)"
                     R"({"embeddings":{"values":[0.25,2e-3],"statistics":{"token_count":4}}}]})",
                     Endpoint::Predict, 2),
            told);
  EXPECT_EQ(
      answered(R"({"id":"i","embeddings":{"float":[[1,-0.5],[0.25,2e-3]],"int8":null},"texts":["a","b"],)"
               R"("meta":{"billed_units":{"input_tokens":7}}})",
               Endpoint::CohereEmbed, 2),
      told);
  EXPECT_EQ(
      answered(
          R"({"object":"list","data":[{"index":1,"embedding":[0.25,2e-3]},{"index":0,"embedding":[1,-0.5]}],)"
          R"("usage":{"prompt_tokens":7,"total_tokens":7}})",
          Endpoint::Embeddings, 2),
      told)
      << "in the order of the texts";
}

TEST(EmbeddingAnswers, WithoutFiguresHaveNoUsage) {
  const std::string told = std::string(kAnswered) + "}";
  EXPECT_EQ(answered(R"({"embeddings":[{"values":[1,-0.5]},{"values":[0.25,2e-3]}]})",
                     Endpoint::BatchEmbedContents, 2),
            told);
  EXPECT_EQ(answered(R"({"embeddings":[[1,-0.5],[0.25,2e-3]]})", Endpoint::InvokeEmbed, 2), told);
  EXPECT_EQ(answered(R"({"predictions":[{"embeddings":{"values":[1,-0.5],"statistics":{"token_count":3}}},)"
                     R"({"embeddings":{"values":[0.25,2e-3]}}]})",
                     Endpoint::Predict, 2),
            told)
      << "a part of the figures is no figure";
}

TEST(EmbeddingAnswers, OfTitanHaveItsCount) {
  EXPECT_EQ(
      answered(R"({"embedding":[1],"embeddingsByType":{"float":[1]},"inputTextTokenCount":5})",
               Endpoint::InvokeEmbed, 1),
      R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"our-name",)"
      R"("usage":{"prompt_tokens":5,"total_tokens":5}})");
}

// 1.0f is 0x3f800000 and -0.5f 0xbf000000: the lowest byte comes first.
TEST(EmbeddingAnswers, InBase64AreLittleEndianFloats) {
  EXPECT_EQ(answered(R"({"embeddings":[{"values":[1,-0.5]}]})", Endpoint::BatchEmbedContents, 1, true),
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAL8="}],)"
            R"("model":"our-name"})");
}

TEST(EmbeddingAnswers, ThatAreNoneAreErrors) {
  EXPECT_EQ(answered("<html>", Endpoint::Predict, 1), "bad_json");
  EXPECT_EQ(answered(R"({"embeddings":[]})", Endpoint::BatchEmbedContents, 1), "empty_reply");
  EXPECT_EQ(answered(R"({"error":{"message":"no"}})", Endpoint::BatchEmbedContents, 1), "stream_error");
  EXPECT_EQ(answered(R"({"embeddings":[{"values":[1]}]})", Endpoint::BatchEmbedContents, 2), "bad_json")
      << "five texts as one content come back as one vector";
  EXPECT_EQ(answered(R"({"embeddings":[{"values":["x"]}]})", Endpoint::BatchEmbedContents, 1), "bad_json");
  EXPECT_EQ(answered(R"({"embeddings":[{"values":[]}]})", Endpoint::BatchEmbedContents, 1), "bad_json");
  EXPECT_EQ(answered(R"({"data":[{"index":999999999,"embedding":[1]}]})", Endpoint::Embeddings, 1),
            "empty_reply");
}

TEST(EmbeddingAnswers, AreToldInGooglesWordsToItsClients) {
  Request request = asked_for(1);
  std::string room;
  const auto answer = decode_answer(
      R"({"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":3,"total_tokens":3}})", request,
      target_named("m"), Endpoint::Embeddings, room);
  ASSERT_TRUE(answer);
  request.asked = Endpoint::EmbedContent;
  EXPECT_EQ(encode_answer(*answer, request, "x"),
            R"({"embedding":{"values":[1,2]},"usageMetadata":{"promptTokenCount":3}})");
  request.asked = Endpoint::BatchEmbedContents;
  EXPECT_EQ(encode_answer(*answer, request, "x"),
            R"({"embeddings":[{"values":[1,2]}],"usageMetadata":{"promptTokenCount":3}})");
}

}  // namespace
}  // namespace qq::dialects::embeddings
