// What is said of a choice whose tools a target is not sent.
#include <fakes/asking.h>

#include "dialects/losses.h"

namespace qq::dialects {
namespace {

using namespace qq::testing::asking;
using model::Dialect;
using Mode = model::ToolChoice::Mode;

constexpr std::array kProviders{Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic,
                                Dialect::Gemini,     Dialect::Bedrock,         Dialect::Cohere};

// Claude Code's, when it searches.
model::ChatRequest searching(Dialect hosted_by) {
  model::ChatRequest out = request(turn(model::Role::User, text("q")));
  out.dialect = Dialect::Declared;  // nobody's own
  model::Tool search;
  search.kind = model::Tool::Kind::Hosted;
  search.name = "web_search";
  search.hosted_by = hosted_by;
  search.schema = R"({"type":"web_search"})";
  out.tools.push_back(std::move(search));
  return out;
}
Sent sent_to(Dialect dialect, const model::ChatRequest& request, bool openai_words = true) {
  model::Target target;
  target.upstream_model = "claude-sonnet-4-5";
  target.quirks.chat.openai_words = openai_words;
  return sent(*provider_dialect(dialect), request, target);
}
Dialect another(Dialect dialect) {
  return dialect == Dialect::Anthropic ? Dialect::Gemini : Dialect::Anthropic;
}
bool chooses(const Sent& out) {
  for (const char* word : {"tool_choice", "toolChoice", "toolConfig", "allowedFunctionNames"}) {
    if (out.body.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST(ToolChoice, IsLeftOutWhereItsToolsAre) {
  for (const Dialect dialect : kProviders) {
    for (const model::ToolChoice& wish : {choice(Mode::Required, {"web_search"}), choice(Mode::Required),
                                          choice(Mode::Auto, {"web_search"})}) {
      model::ChatRequest asked = searching(another(dialect));
      asked.tool_choice = wish;
      const Sent out = sent_to(dialect, asked);
      EXPECT_FALSE(chooses(out)) << to_string(dialect) << ": " << out.body << out.refused;
      EXPECT_EQ(out.body.find("\"tools\""), std::string::npos) << out.body;
      EXPECT_NE(out.losses.find("tool_choice: the target refuses it together"), std::string::npos)
          << to_string(dialect) << ": " << out.losses;
    }
  }
}

TEST(ToolChoice, NamesNoToolThatIsNotSent) {
  for (const Dialect dialect : kProviders) {
    model::ChatRequest asked = searching(another(dialect));
    asked.tools.push_back(tool("f"));
    asked.tools.push_back(tool("g"));
    asked.tool_choice = choice(Mode::Required, {"web_search"});
    const Sent none = sent_to(dialect, asked);
    EXPECT_EQ(none.body.find("web_search"), std::string::npos) << to_string(dialect) << ": " << none.body;
    EXPECT_NE(none.losses.find("tool_choice: the target refuses it together"), std::string::npos)
        << to_string(dialect) << ": " << none.losses;
    asked.tool_choice = choice(Mode::Required, {"web_search", "f"});
    for (const bool openai_words : {true, false}) {
      const Sent rest = sent_to(dialect, asked, openai_words);
      EXPECT_EQ(rest.body.find("web_search"), std::string::npos) << to_string(dialect) << ": " << rest.body;
      EXPECT_EQ(rest.losses.find("tool_choice: the target refuses it together"), std::string::npos);
      EXPECT_TRUE(chooses(rest)) << to_string(dialect) << ": " << rest.body;
    }
  }
}

}  // namespace
}  // namespace qq::dialects
