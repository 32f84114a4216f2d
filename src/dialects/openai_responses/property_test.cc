// What is written and read again means the same: requests, answers, and answers as streams, made of a seed.
#include <fakes/neutral.h>

#include <random>

#include "dialects/openai_responses/dialect.h"

namespace qq::dialects::openai_responses {
namespace {

constexpr model::Dialect kOurs = model::Dialect::OpenAiResponses;
constexpr int kRounds = 300;

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  model::ChatAnswer answer() {
    model::ChatAnswer answer;
    answer.dialect = kOurs;
    answer.id = "resp_" + word();
    answer.model = "asked";
    answer.created = 1 + static_cast<std::int64_t>(below(1000));
    model::Choice& choice = answer.choices.emplace_back();
    bool calls = false;
    for (std::size_t count = 1 + below(5); count > 0; --count) choice.parts.push_back(output_part(calls));
    // Sealed thoughts alone are an empty answer.
    choice.parts.emplace_back(model::TextPart{text() + "x", {}});
    const bool cut = below(4) == 0;
    choice.finish = calls ? model::Finish::ToolCalls : model::Finish::Stop;
    choice.finish_word = "completed";
    if (cut) {
      choice.finish = model::Finish::Length;
      choice.finish_word = "max_output_tokens";
    }
    answer.usage = {.input_uncached = count(),
                    .cache_read = count(),
                    .output_text = count(),
                    .reasoning = count(),
                    .source = model::UsageSource::Provider};
    return answer;
  }

  model::ChatRequest request() {
    model::ChatRequest request;
    request.dialect = kOurs;
    request.usage_in_stream = true;
    request.model = word();
    request.stream = maybe();
    if (maybe()) {
      request.turns.push_back(
          {.role = model::Role::System, .parts = {model::Part(model::TextPart{text(), {}})}});
    }
    for (std::size_t turns = 1 + below(4); turns > 0; --turns) add_turns(request);
    for (std::size_t tools = below(3); tools > 0; --tools) request.tools.push_back(tool());
    if (!request.tools.empty() && maybe()) {
      request.tool_choice = model::ToolChoice{model::ToolChoice::Mode::Required, {request.tools[0].name}};
    }
    if (maybe()) request.output = model::OutputFormat{.kind = model::OutputFormat::Kind::JsonObject};
    if (maybe())
      request.reasoning = model::ReasoningWish{.effort = static_cast<model::ReasoningWish::Effort>(below(7))};
    if (maybe()) request.sampling.temperature = static_cast<double>(below(200)) / 100;
    if (maybe()) request.sampling.max_output_tokens = count();
    if (maybe()) request.parallel_tool_calls = maybe();
    if (maybe()) request.store = maybe();
    if (maybe()) request.user = word();
    if (maybe()) request.extra.push_back({"truncation", "\"auto\""});
    request.wants_reasoning_state = maybe();
    return request;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool maybe() { return below(2) == 0; }
  std::int64_t count() { return static_cast<std::int64_t>(below(10000)); }
  std::string word() {
    std::string out;
    for (std::size_t size = 1 + below(8); size > 0; --size) out += static_cast<char>('a' + below(26));
    return out + std::to_string(made_++);
  }
  std::string text() {
    constexpr std::string_view kPieces[] = {"a",  " ", "\n", "\"",     "\\",   "é",
                                            "😀", "{", "\t", "data: ", "\r\n", "\x01"};
    std::string out;
    for (std::size_t size = 1 + below(12); size > 0; --size) out += kPieces[below(std::size(kPieces))];
    return out;
  }
  model::Part call() {
    const bool custom = below(3) == 0;
    return model::Part(model::ToolCallPart{
        .kind = custom ? model::ToolCallPart::Kind::Custom : model::ToolCallPart::Kind::Function,
        .id = "call_" + word(),
        .name = word(),
        .arguments = custom ? text() : "{\"a\":" + std::to_string(count()) + "}"});
  }
  model::Part thought() {
    model::Part part(model::ReasoningPart{
        .kind = maybe() ? model::ReasoningPart::Kind::Summary : model::ReasoningPart::Kind::Full,
        .text = text(),
        .id = "rs_" + word()});
    part.state.maker = kOurs;
    if (maybe()) part.state.data = word();
    if (!part.state.empty() && below(3) == 0) {
      part.as<model::ReasoningPart>()->kind = model::ReasoningPart::Kind::Redacted;
      part.as<model::ReasoningPart>()->text.clear();
    }
    return part;
  }
  model::Part output_part(bool& calls) {
    switch (below(5)) {
      case 0: return thought();
      case 1: calls = true; return call();
      case 2: return model::Part(model::RefusalPart{text()});
      case 3:
        return model::Part(
            model::OpaquePart{kOurs, "web_search_call",
                              R"({"type":"web_search_call","id":")" + word() + R"(","status":"completed"})"});
      default: {
        model::TextPart part{text(), {}};
        if (maybe()) part.citations.push_back(R"({"type":"url_citation","url":")" + word() + "\"}");
        return model::Part(std::move(part));
      }
    }
  }
  void add_turns(model::ChatRequest& request) {
    model::Turn user{.role = model::Role::User};
    user.parts.emplace_back(model::TextPart{text(), {}});
    if (maybe())
      user.parts.emplace_back(model::MediaPart{.data = "QUJD", .media_type = "image/png", .detail = "low"});
    request.turns.push_back(std::move(user));
    if (maybe()) return;
    model::Turn assistant{.role = model::Role::Assistant};
    if (maybe()) assistant.parts.push_back(thought());
    if (maybe()) assistant.parts.emplace_back(model::TextPart{text(), {}});
    model::Turn results{.role = model::Role::User};
    for (std::size_t calls = 1 + below(2); calls > 0; --calls) {
      const model::Part& made = assistant.parts.emplace_back(call());
      const auto* of = made.as<model::ToolCallPart>();
      model::ToolResultPart result{.call_id = of->id, .name = of->name};
      if (maybe()) result.content.emplace_back(model::TextPart{text(), {}});
      results.parts.emplace_back(std::move(result));
    }
    request.turns.push_back(std::move(assistant));
    request.turns.push_back(std::move(results));
  }
  model::Tool tool() {
    model::Tool tool{.name = word(), .description = text(), .schema = R"({"type":"object"})"};
    if (maybe()) tool.strict = maybe();
    if (below(4) == 0) tool = {.kind = model::Tool::Kind::Custom, .name = word(), .description = text()};
    return tool;
  }

  std::mt19937 random_;
  int made_ = 0;
};

TEST(ResponsesProperty, RequestsSurvive) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const model::ChatRequest request = Maker(seed).request();
    Losses losses;
    model::Target target;
    target.upstream_model = request.model;
    const auto encoded = provider_side().encode_request(request, target, losses);
    ASSERT_TRUE(encoded) << "seed " << seed << ": " << encoded.error().message;
    EXPECT_TRUE(losses.empty()) << "seed " << seed;
    const auto again = client_side().decode_request(encoded->body, {});
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().param << "\n" << encoded->body;
    ASSERT_EQ(testing::without_item_ids(testing::describe(*again)),
              testing::without_item_ids(testing::describe(request)))
        << "seed " << seed << "\n"
        << encoded->body;
  }
}

TEST(ResponsesProperty, AnswersSurvive) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const model::ChatAnswer answer = Maker(seed).answer();
    Losses losses;
    const std::string body =
        client_side().encode_answer(answer, {}, {.model = "asked", .request_id = "01REQ"}, losses);
    EXPECT_TRUE(losses.empty()) << "seed " << seed;
    const auto again = provider_side().decode_answer(body, {}, "seed");
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message << "\n" << body;
    ASSERT_EQ(testing::describe(*again), testing::describe(answer)) << "seed " << seed << "\n" << body;
  }
}

TEST(ResponsesProperty, StreamsSurvive) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const model::ChatAnswer answer = Maker(seed).answer();
    const model::ChatRequest request;  // the encoder looks at it
    const auto encoder = client_side().stream_encoder(request, {.model = "asked", .request_id = "01REQ"});
    std::string out;
    model::for_each_event(answer, [&](const model::StreamEvent& event) { encoder->encode(event, out); });
    const auto again = testing::decode_stream(provider_side(), kOurs, {}, out);
    EXPECT_EQ(again.grammar, "") << "seed " << seed;
    ASSERT_TRUE(again.ended) << "seed " << seed << "\n" << out;
    ASSERT_EQ(testing::describe(again.answer), testing::describe(answer)) << "seed " << seed << "\n" << out;
  }
}

}  // namespace
}  // namespace qq::dialects::openai_responses
