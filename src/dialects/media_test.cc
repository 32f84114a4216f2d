#include "dialects/media.h"

#include <gtest/gtest.h>

namespace qq::dialects {
namespace {

using model::Dialect;
using MediaKind = model::MediaPart::Kind;

TEST(Media, AreTextByTypeOrElseByName) {
  const auto is_text = [](std::string type, std::string name) {
    return is_text_file(
        {.kind = MediaKind::File, .data = "AAAA", .media_type = std::move(type), .name = std::move(name)});
  };
  for (const char* type :
       {"text/csv", "application/json; charset=utf-8", "application/ld+json", "image/svg+xml"})
    EXPECT_TRUE(is_text(type, "a.pdf")) << type;
  EXPECT_TRUE(is_text("", "notes.md"));
  EXPECT_FALSE(is_text("", "a.docx"));
  EXPECT_FALSE(is_text("application/pdf", "a.txt"));
  EXPECT_EQ(image_type("/9j/4AAQ"), "image/jpeg");
  EXPECT_EQ(image_type("iVBORw0K"), "image/png");
}

TEST(Media, OfUrlsArePassedOnWhereTheTargetFetchesThem) {
  const auto takes = [](Dialect dialect, MediaKind kind, std::string url, const model::Target& target = {}) {
    return takes_url(target, dialect,
                     {.kind = kind, .source = model::MediaPart::Source::Url, .data = std::move(url)});
  };
  const std::string web = "https://a.example/b";
  EXPECT_TRUE(takes(Dialect::OpenAiChat, MediaKind::Image, web));
  EXPECT_FALSE(takes(Dialect::OpenAiChat, MediaKind::File, web)) << "OpenAI takes a file's bytes or its id";
  EXPECT_FALSE(takes(Dialect::OpenAiChat, MediaKind::Audio, web));
  model::Target openrouter;
  openrouter.quirks.chat.takes_file_urls = true;
  EXPECT_TRUE(takes(Dialect::OpenAiChat, MediaKind::File, web, openrouter));
  EXPECT_TRUE(takes(Dialect::OpenAiResponses, MediaKind::File, web));
  EXPECT_TRUE(takes(Dialect::Anthropic, MediaKind::File, web));
  model::Target vertex;
  vertex.quirks.messages_form = model::MessagesForm::Vertex;
  EXPECT_FALSE(takes(Dialect::Anthropic, MediaKind::File, web, vertex));
  EXPECT_FALSE(takes(Dialect::Gemini, MediaKind::Image, web));
  EXPECT_TRUE(takes(Dialect::Gemini, MediaKind::Video, "https://youtu.be/x"));
  EXPECT_FALSE(takes(Dialect::Bedrock, MediaKind::Image, web));
}

}  // namespace
}  // namespace qq::dialects
