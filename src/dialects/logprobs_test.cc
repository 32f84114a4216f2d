// A count of log probabilities is said beside the flag alone: targets refuse it by itself.
#include <fakes/asking.h>

namespace qq::dialects {
namespace {

using namespace qq::testing::asking;
using model::Dialect;

struct Said {
  Dialect dialect;
  std::string_view flag;
  std::string_view count;
};
constexpr std::array kSaid{
    Said{Dialect::OpenAiChat, R"("logprobs":true)", R"("top_logprobs":2)"},
    Said{Dialect::OpenAiResponses, R"("include":["message.output_text.logprobs"])", R"("top_logprobs":2)"},
    Said{Dialect::Gemini, R"("responseLogprobs":true)", R"("logprobs":2)"},
    Said{Dialect::Ollama, R"("logprobs":true)", R"("top_logprobs":2)"},
};

Sent asked_for(Dialect dialect, std::int64_t count) {
  model::ChatRequest wish = request(turn(model::Role::User, text("q")));
  wish.dialect = dialect == Dialect::OpenAiResponses ? Dialect::OpenAiChat : Dialect::OpenAiResponses;
  wish.sampling.top_logprobs = count;
  model::Target target;
  target.upstream_model = "gemini-2.5-flash";
  return sent(*provider_dialect(dialect), wish, target);
}

TEST(Logprobs, ACountAloneAsksForThem) {
  for (const Said& said : kSaid) {
    const std::string body = asked_for(said.dialect, 2).body;
    EXPECT_NE(body.find(said.flag), std::string::npos) << body;
    EXPECT_NE(body.find(said.count), std::string::npos) << body;
  }
}

TEST(Logprobs, ACountOfNoneAsksForNothing) {
  for (const Dialect dialect : {Dialect::OpenAiChat, Dialect::Gemini, Dialect::Ollama}) {
    const std::string body = asked_for(dialect, 0).body;
    EXPECT_EQ(body.find("logprobs"), std::string::npos) << body;
    EXPECT_EQ(body.find("Logprobs"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace qq::dialects
