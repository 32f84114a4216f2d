// Made-up requests and answers of every kind, by seed: what is written is read back as what it was.
#include <fakes/anthropic.h>

#include <random>

#include "model/answer_builder.h"

namespace qq::dialects::anthropic {
namespace {

using model::Dialect;
using model::Part;

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool maybe() { return below(2) == 0; }
  std::string words() {
    static const std::vector<std::string> kWords{"a",    "\n",   "é",  "\"q\"", "\\",
                                                 "中文", "\x01", "😀", " tail", "{}"};
    std::string out = "w";
    for (std::size_t i = below(6); i > 0; --i) out += kWords[below(kWords.size())];
    return out + ".";
  }
  Part text() {
    Part part(model::TextPart{.text = words(), .citations = {}});
    if (below(4) == 0)
      part.as<model::TextPart>()->citations.emplace_back(R"({"type":"char_location","cited_text":"c"})");
    return part;
  }
  Part thought() {
    const bool redacted = below(3) == 0;
    Part part(model::ReasoningPart{
        .kind = redacted ? model::ReasoningPart::Kind::Redacted : model::ReasoningPart::Kind::Full,
        .text = redacted || maybe() ? "" : words(),
        .id = {}});
    part.state = {Dialect::Anthropic, "c2ln" + std::to_string(below(100))};
    return part;
  }
  Part opaque() {
    return Part(
        model::OpaquePart{Dialect::Anthropic, "server_tool_use",
                          R"({"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1.50}})"});
  }
  Part call() {
    const std::string id = "toolu_" + std::to_string(++calls_);
    open_.push_back(id);
    return testing::call(id, "f", maybe() ? "{}" : R"({"a":[1,2.50,"x\n"]})");
  }
  void mark(Part& part) {
    if (marks_ < 3 && below(4) == 0) {
      ++marks_;
      part.cache =
          model::CacheMark{.ttl = maybe() ? model::CacheMark::Ttl::Default : model::CacheMark::Ttl::OneHour};
    }
  }
  std::vector<Part> answer_parts() {
    std::vector<Part> parts;
    if (maybe()) parts.push_back(thought());
    for (std::size_t i = below(3); i > 0; --i) parts.push_back(below(4) == 0 ? opaque() : text());
    parts.push_back(text());
    for (std::size_t i = below(3); i > 0; --i) parts.push_back(call());
    return parts;
  }
  model::Turn user_turn() {
    model::Turn turn;
    for (const std::string& id : std::exchange(open_, {})) {
      Part result = testing::result(id, words(), "f");
      result.as<model::ToolResultPart>()->is_error = maybe();
      if (maybe()) result.as<model::ToolResultPart>()->content.push_back(image());
      turn.parts.push_back(std::move(result));
    }
    if (maybe()) turn.parts.push_back(image());
    turn.parts.push_back(Part(model::TextPart{.text = words(), .citations = {}}));
    mark(turn.parts.back());
    return turn;
  }
  Part image() { return Part(model::MediaPart{.data = "AAAA", .media_type = "image/png"}); }

  model::ChatRequest request() {
    model::ChatRequest out;
    out.dialect = Dialect::Anthropic;
    out.model = "claude-x";
    out.usage_in_stream = true;
    out.stream = maybe();
    out.sampling.max_output_tokens = 1 + static_cast<std::int64_t>(below(9999));
    if (maybe()) out.sampling.temperature = static_cast<double>(below(100)) / 100;
    if (maybe()) out.sampling.top_k = static_cast<std::int64_t>(below(50));
    if (maybe()) out.sampling.stop = {words()};
    if (maybe()) out.turns.push_back(testing::turn(model::Role::System, testing::text(words())));
    out.turns.push_back(user_turn());
    for (std::size_t i = below(4); i > 0; --i) {
      model::Turn answer;
      answer.role = model::Role::Assistant;
      answer.parts = answer_parts();
      out.turns.push_back(std::move(answer));
      out.turns.push_back(user_turn());
    }
    if (maybe())
      out.tools.push_back(
          {.name = "f", .description = words(), .schema = R"({"type":"object"})", .extra = {}});
    if (!out.tools.empty() && maybe()) {
      out.tool_choice = model::ToolChoice{static_cast<model::ToolChoice::Mode>(below(3)), {}};
      if (out.tool_choice->mode != model::ToolChoice::Mode::None && maybe())
        out.parallel_tool_calls = maybe();
    }
    if (maybe()) {
      out.reasoning.emplace();
      out.reasoning->budget_tokens = static_cast<std::int64_t>(below(3)) - 1;
      if (*out.reasoning->budget_tokens != 0 && maybe()) out.reasoning->show = maybe();
      if (maybe()) out.reasoning->effort = model::ReasoningWish::Effort::Low;
    }
    if (maybe()) {
      out.output.emplace();
      out.output->kind = model::OutputFormat::Kind::JsonSchema;
      out.output->schema = R"({"type":"object","minProperties":1})";
    }
    if (maybe()) out.user = words();
    if (maybe()) out.service_tier = maybe() ? "auto" : "default";
    if (maybe()) out.cache = model::CacheMark{};
    if (maybe()) out.extra.push_back({"container", "\"c\""});
    if (maybe()) out.extra.push_back({"anthropic-beta", "\"b1,b2\""});
    return out;
  }

  model::ChatAnswer answer() {
    model::ChatAnswer out;
    out.dialect = Dialect::Anthropic;
    out.id = "msg_1";
    out.model = "asked";
    model::Choice choice;
    choice.parts = answer_parts();
    choice.finish = open_.empty() ? model::Finish::StopString : model::Finish::ToolCalls;
    choice.finish_word = open_.empty() ? "stop_sequence" : "tool_use";
    if (open_.empty()) choice.stop_string = words();
    out.usage = {.input_uncached = static_cast<std::int64_t>(below(100)),
                 .output_text = static_cast<std::int64_t>(below(100)),
                 .source = model::UsageSource::Provider};
    if (maybe()) out.usage.cache_read = static_cast<std::int64_t>(below(100));
    if (maybe()) out.usage.cache_write = static_cast<std::int64_t>(below(100));
    if (out.usage.cache_write && maybe())
      out.usage.cache_write_1h = 1 + static_cast<std::int64_t>(below(100));
    if (maybe()) out.usage.reasoning = static_cast<std::int64_t>(below(100));
    out.choices.push_back(std::move(choice));
    return out;
  }

 private:
  std::mt19937 random_;
  std::vector<std::string> open_;  // calls that wait for their results
  std::size_t calls_ = 0;
  std::size_t marks_ = 0;
};

constexpr std::uint32_t kSeeds = 400;

TEST(AnthropicRoundTrip, Requests) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const model::ChatRequest request = Maker(seed).request();
    const testing::Sent out = testing::sent(request, testing::target_of(request.model));
    EXPECT_EQ(out.lost(), "") << seed;
    const bool beta = out.headers.find("anthropic-beta: b1,b2\r\n") != std::string::npos;
    const model::ChatRequest again = testing::decoded(out.body, {.beta = beta ? "b1,b2" : ""});
    ASSERT_EQ(qq::testing::describe(again), qq::testing::describe(request)) << "seed " << seed;
  }
}

TEST(AnthropicRoundTrip, Answers) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const model::ChatAnswer answer = Maker(seed).answer();
    Losses losses;
    const std::string body =
        client_side().encode_answer(answer, {}, {.model = "asked", .request_id = "r"}, losses);
    EXPECT_TRUE(losses.empty()) << seed;
    const auto again = provider_side().decode_answer(body, {}, "seed");
    ASSERT_TRUE(again) << seed << ": " << again.error().message << body;
    ASSERT_EQ(qq::testing::describe(*again), qq::testing::describe(answer)) << "seed " << seed;
  }
}

TEST(AnthropicRoundTrip, AnswersAsStreams) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const model::ChatAnswer answer = Maker(seed).answer();
    const model::ChatRequest request;
    const auto encoder = client_side().stream_encoder(request, {.model = "asked", .request_id = "r"});
    std::string body;
    model::for_each_event(answer, [&](const model::StreamEvent& event) { encoder->encode(event, body); });
    const auto stream =
        qq::testing::decode_stream(provider_side(), Dialect::Anthropic, testing::target_of("claude-x"), body);
    EXPECT_EQ(stream.grammar, "") << seed;
    EXPECT_TRUE(stream.ended) << seed;
    ASSERT_EQ(qq::testing::describe(stream.answer), qq::testing::describe(answer)) << "seed " << seed << "\n"
                                                                                   << body;
  }
}

}  // namespace
}  // namespace qq::dialects::anthropic
