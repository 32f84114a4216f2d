#include "relay/called.h"

#include <gtest/gtest.h>

#include <array>

namespace qq::relay {
namespace {

using model::Endpoint;

std::optional<Called> called_by(std::string_view target) {
  wire::RequestHead head;
  head.method = "POST";
  head.target = target;
  return endpoint_called(head);
}

TEST(Called, EveryPathHasItsEndpoint) {
  constexpr std::array<std::pair<std::string_view, Endpoint>, 8> kExpected = {{
      {"/v1/rerank", Endpoint::Rerank},
      {"/v2/rerank", Endpoint::Rerank},
      {"/v1/responses/compact", Endpoint::CompactResponse},
      {"/v1/audio/speech", Endpoint::AudioSpeech},
      {"/v1/audio/transcriptions", Endpoint::AudioTranscriptions},
      {"/v1/audio/translations", Endpoint::AudioTranslations},
      {"/v1/images/edits", Endpoint::ImagesEdits},
      {"/v1/images/generations", Endpoint::ImagesGenerations},
  }};
  for (const auto& [path, endpoint] : kExpected) {
    const auto called = called_by(path);
    ASSERT_TRUE(called) << path;
    EXPECT_EQ(called->endpoint, endpoint) << path;
    EXPECT_EQ(called->path, path);
    EXPECT_TRUE(is_endpoint(path));
  }
}

TEST(Called, GooglesClientsEmbedByTheMethod) {
  const auto single = called_by("/v1beta/models/gemini-embedding-001:embedContent");
  ASSERT_TRUE(single && single->native);
  EXPECT_EQ(single->endpoint, Endpoint::EmbedContent);
  EXPECT_EQ(single->native->path_model, "gemini-embedding-001");
  EXPECT_FALSE(single->native->array_stream);
  const auto batch = called_by("/v1beta/models/m:batchEmbedContents");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->endpoint, Endpoint::BatchEmbedContents);
  EXPECT_EQ(model::dialect_of(batch->endpoint), model::Dialect::Gemini);
}

TEST(Called, AFormIsOneByItsContentTypeWhereThereAreForms) {
  constexpr std::string_view kForm = "Multipart/form-data; boundary=X";
  for (const std::string_view path :
       {"/v1/images/edits", "/v1/audio/transcriptions", "/v1/audio/translations"}) {
    wire::RequestHead head;
    head.target = path;
    EXPECT_FALSE(endpoint_called(head)->native) << path;
    head.fields.add({"Content-Type", kForm});
    const auto called = endpoint_called(head);
    ASSERT_TRUE(called && called->native) << path;
    EXPECT_EQ(called->native->form_type, kForm);
  }
  wire::RequestHead chat;
  chat.target = "/v1/chat/completions";
  chat.fields.add({"content-type", kForm});
  EXPECT_FALSE(endpoint_called(chat)->native) << "JSON, whatever it calls itself";
}

TEST(Called, WhatIsNotThereIsNotGuessed) {
  for (const std::string_view path : {"/v2/chat/completions", "/v1/rerank/", "/rerank", "/v3/rerank"}) {
    EXPECT_FALSE(called_by(path)) << path;
  }
}

}  // namespace
}  // namespace qq::relay
