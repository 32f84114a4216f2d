#include "dialects/loss_tables.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace qq::dialects {
namespace {

constexpr const char* kDocument = QQ_SOURCE_DIR "/docs/providers.md";

// QQ_GOLDEN_UPDATE=1 writes it anew.
TEST(LossTables, EqualTheirSectionInTheDocumentation) {
  std::ifstream in(kDocument);
  ASSERT_TRUE(in) << kDocument;
  std::ostringstream text;
  text << in.rdbuf();
  const std::string documents = text.str();
  const std::size_t heading = documents.find("\n## What a translation loses\n");
  ASSERT_NE(heading, std::string::npos);
  const std::size_t begin = documents.find("| field |", heading);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = std::min(documents.find("\n## ", begin), documents.size());
  if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(kDocument, std::ios::binary)
        << documents.substr(0, begin) << loss_section() << documents.substr(end);
    return;
  }
  EXPECT_EQ(documents.substr(begin, end - begin), loss_section());
}

TEST(LossTables, NameEachFieldOnce) {
  for (const auto dialect :
       {model::Dialect::OpenAiChat, model::Dialect::OpenAiResponses, model::Dialect::Anthropic,
        model::Dialect::Gemini, model::Dialect::Bedrock, model::Dialect::Cohere, model::Dialect::Ollama}) {
    std::array<int, kFieldCount> times{};
    for (const SupportEntry& entry : support_table(dialect)) {
      EXPECT_EQ(++times[static_cast<std::size_t>(entry.field)], 1) << to_string(entry.field);
      EXPECT_EQ(entry.support.why.empty(), entry.support.verdict == Support::Verdict::Whole);
    }
  }
}

}  // namespace
}  // namespace qq::dialects
