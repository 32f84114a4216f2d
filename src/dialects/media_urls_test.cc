#include "dialects/media_urls.h"

#include <gtest/gtest.h>

#include <chrono>

namespace qq::dialects {
namespace media_urls_test {

using model::MediaPart;

model::Part media(std::string url, MediaPart::Kind kind = MediaPart::Kind::Image) {
  return model::Part(MediaPart{.kind = kind,
                               .source = MediaPart::Source::Url,
                               .data = std::move(url),
                               .media_type = {},
                               .name = {},
                               .detail = {}});
}

model::ChatRequest with(model::Part part) {
  model::ChatRequest request;
  request.dialect = model::Dialect::OpenAiChat;
  model::Turn& turn = request.turns.emplace_back();
  turn.role = model::Role::User;
  turn.parts.push_back(std::move(part));
  return request;
}

model::Part inside_a_result(model::Part part) {
  model::ToolResultPart result;
  result.content.push_back(std::move(part));
  return model::Part(std::move(result));
}

std::string refusal(const model::ChatRequest& request) {
  const auto checked = check_media_urls(request);
  return checked ? std::string() : checked.error().param + ": " + checked.error().message;
}

TEST(MediaUrls, AreFoundInWhatTheCallerSent) {
  const wire::JsonValue request(
      R"({"model":"http://host/a.png?","messages":[{"role":"user","content":"http://host/a"},)"
      R"({"role":"user","content":[{"type":"text","text":"x"},)"
      R"({"type":"image_url","image_url":{"url":"HTTP:\/\/host/a.png"}}]}]})");
  EXPECT_EQ(place_of_url(request, "http://host/a.png"), "messages[1].content[1].image_url.url");
  EXPECT_EQ(place_of_url(request, "http://host/b.png"), "");
}

TEST(MediaUrls, OnlyTheWebIsForCallersToName) {
  for (const char* url : {"https://host/a.png", "http://host"})
    EXPECT_EQ(refusal(with(media(url))), "") << url;
  for (const char* url :
       {"s3://bucket/key", "gs://bucket/key", "file:///etc/passwd", "ftp://host/a", "//host/a", "a.png",
        "/a.png", "", "data:", "data:image/png,plain", "javascript:x", "http:/host"}) {
    EXPECT_NE(refusal(with(media(url))), "") << url;
    EXPECT_NE(refusal(with(inside_a_result(media(url)))), "") << url;
  }
  EXPECT_EQ(
      refusal(with(media("s3://bucket/key"))),
      "messages[].content: URLs of the scheme 's3' are not possible with this model: give an https URL or "
      "the bytes");
  EXPECT_NE(refusal(with(media("DATA:x"))).find("base64"), std::string::npos);
  const std::string odd = refusal(with(media("s3\n\"<b>:x")));
  EXPECT_EQ(odd.find("<b>"), std::string::npos) << "a scheme is told only if it is a word";
}

TEST(MediaUrls, BytesAndNamesOfFilesAreNoUrls) {
  for (const auto source : {MediaPart::Source::Base64, MediaPart::Source::FileId, MediaPart::Source::Text}) {
    model::Part part = media("s3");
    part.as<MediaPart>()->source = source;
    EXPECT_EQ(refusal(with(std::move(part))), "");
  }
}

TEST(MediaUrls, ASchemeIsReadInAnyCase) {
  for (model::ChatRequest request :
       {with(media("HTTPS://Host/A.png")), with(inside_a_result(media("HttpS://Host/A.png")))}) {
    tidy_media_urls(request);
    EXPECT_EQ(refusal(request), "");
    const model::Part& part = request.turns[0].parts[0];
    const auto* result = part.as<model::ToolResultPart>();
    const auto* tidied = (result != nullptr ? result->content[0] : part).as<MediaPart>();
    EXPECT_EQ(tidied->data, "https://Host/A.png");
  }
}

TEST(MediaUrls, ThePlaceOfOneInADeepDocumentIsFoundInOnePass) {
  constexpr std::size_t kDeep = 900;
  std::string text = R"({"a":)";
  std::string place = "a";
  for (std::size_t i = 0; i < kDeep; ++i) {
    text += "[";
    place += "[0]";
  }
  text += "[\"";
  for (std::size_t i = 0; i < 2'000'000; ++i) text += "\\n";
  text += R"(","https://x"])";
  text.append(kDeep, ']').append("}");
  place += "[1]";
  const auto from = std::chrono::steady_clock::now();
  EXPECT_EQ(place_of_url(wire::JsonValue(text), "https://x"), place);
  // One pass takes some milliseconds, and one for each level some seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(1));
}

}  // namespace media_urls_test
}  // namespace qq::dialects
