#include "simulator/provider/route.h"

#include <gtest/gtest.h>

#include <array>

namespace qq::simulator {
namespace {

TEST(Routes, PathsOfAllProvidersLeadToTheirEndpoints) {
  struct Case {
    std::string_view path;
    std::string_view query;
    Route route;
    std::string_view model;
    std::string_view vendor;
  };
  constexpr std::array<Case, 22> kCases{{
      {"/v1beta/models/g:embedContent", "", Route::EmbedContents, "g", "gemini"},
      {"/v1beta/models/g:batchEmbedContents", "", Route::EmbedContents, "g", "gemini"},
      {"/v1/projects/p/locations/l/publishers/google/models/e:predict", "", Route::Predict, "e", "vertex"},
      {"/v2/embed", "", Route::CohereEmbed, "", "cohere"},
      {"/model/amazon.titan-embed-text-v2%3A0/invoke", "", Route::InvokeEmbed, "amazon.titan-embed-text-v2:0",
       "bedrock"},
      {"/model/anthropic.c-v1%3A0/count-tokens", "", Route::CountMessages, "anthropic.c-v1:0", "bedrock"},
      {"/v1/responses/compact", "", Route::Compact, "", ""},
      {"/v1/messages", "beta=true", Route::Messages, "", "anthropic"},
      {"/+gap=5/v1/messages/count_tokens", "", Route::CountMessages, "", "anthropic"},
      {"/v1beta/models/g:generateContent", "", Route::GenerateContent, "g", "gemini"},
      {"/v1beta/models/g:streamGenerateContent", "alt=sse", Route::GenerateContent, "g", "gemini"},
      {"/v1beta/models/g:countTokens", "", Route::CountContent, "g", "gemini"},
      {"/v1beta/models", "", Route::Models, "", "gemini"},
      {"/v1/projects/p/locations/l/publishers/google/models/g:generateContent", "", Route::GenerateContent,
       "g", "vertex"},
      {"/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict", "", Route::Messages, "c",
       "vertex"},
      {"/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", "",
       Route::CountMessages, "", "vertex"},
      {"/model/us.amazon.nova-lite-v1%3A0/converse", "", Route::Converse, "us.amazon.nova-lite-v1:0",
       "bedrock"},
      {"/model/arn:aws:bedrock:r:1:inference-profile%2Fx/invoke", "", Route::Messages,
       "arn:aws:bedrock:r:1:inference-profile/x", "bedrock"},
      {"/v2/chat", "", Route::CohereChat, "", "cohere"},
      {"/api/chat", "", Route::OllamaChat, "", "ollama_native"},
      {"/ollama/v1/chat/completions", "", Route::ChatCompletions, "", "ollama"},
      {"/v1/models/rec:openai/x", "", Route::Models, "rec:openai/x", ""},
  }};
  for (const Case& each : kCases) {
    const RoutedPath routed = route_path(each.path, each.query);
    EXPECT_EQ(to_string(routed.route), to_string(each.route)) << each.path;
    EXPECT_EQ(routed.model, each.model) << each.path;
    EXPECT_EQ(routed.vendor, each.vendor) << each.path;
  }
  EXPECT_FALSE(route_path("/v1beta/models/g:streamGenerateContent", "alt=sse").array_stream);
  EXPECT_TRUE(route_path("/v1beta/models/g:streamGenerateContent").array_stream);
}

}  // namespace
}  // namespace qq::simulator
