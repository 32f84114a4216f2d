// Generated requests and answers mean the same after a way through both sides. A failure names its seed.
#include <fakes/gemini.h>

#include <random>

#include "model/answer_builder.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using model::Part;

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t most) { return random_() % most; }
  bool coin() { return below(2) == 0; }

  // Never empty: empty texts are nobody's.
  std::string text() {
    static constexpr const char* kPieces[] = {"a",      "Ü", "\n", "\"", "\\",  "{}",
                                              "data: ", " ", "漢", "\t", "</s>"};
    std::string out = "x";
    for (std::size_t i = below(6); i > 0; --i) out += kPieces[below(std::size(kPieces))];
    return out;
  }
  std::string json() { return coin() ? "{}" : R"({"n":1,"t":"\u00e9\"","l":[1.50,null,{"deep":true}]})"; }
  model::OpaqueState state() {
    if (coin()) return {};
    return {coin() ? Dialect::Gemini : Dialect::Anthropic, "state" + std::to_string(below(1000)) + "=="};
  }
  Part with_state(Part part) {
    part.state = state();
    return part;
  }
  Part call() {
    return with_state(Part(model::ToolCallPart{
        .id = "call_" + std::to_string(next_++), .name = coin() ? "f" : "g", .arguments = json()}));
  }
  Part thought() {
    Part part = with_state(Part(model::ReasoningPart{.text = text(), .id = {}}));
    const bool own = part.state.empty() || part.state.maker == Dialect::Gemini;
    part.as<model::ReasoningPart>()->kind =
        own ? model::ReasoningPart::Kind::Summary : model::ReasoningPart::Kind::Full;
    return part;
  }
  Part words() { return with_state(Part(model::TextPart{.text = text(), .citations = {}})); }
  Part picture() { return Part(model::MediaPart{.data = "AAAA", .media_type = "image/png"}); }
  Part code() {
    return Part(model::OpaquePart{
        .dialect = Dialect::Gemini, .type = "executableCode", .value = R"({"executableCode":{"code":"1"}})"});
  }

  model::ChatAnswer answer() {
    model::ChatAnswer made;
    made.dialect = Dialect::Gemini;
    made.id = "gJNwmLTmQ8H-hxHBlyQNjXc";
    made.model = "asked";
    for (std::uint32_t i = 0; i <= below(2); ++i) {
      model::Choice& choice = made.choices.emplace_back();
      choice.index = i;
      bool calls = false;
      std::size_t last = 5;
      for (std::size_t part = below(5) + 1; part > 0; --part) {
        const std::size_t kind = below(5);
        if (kind < 2 && kind == last) continue;  // neighbours of a kind would be one part
        last = kind;
        calls |= kind == 2;
        if (kind == 0) choice.parts.push_back(words());
        if (kind == 1) choice.parts.push_back(thought());
        if (kind == 2) choice.parts.push_back(call());
        if (kind == 3) choice.parts.push_back(picture());
        if (kind == 4) choice.parts.push_back(code());
      }
      if (choice.parts.empty()) choice.parts.push_back(words());
      const bool cut = coin();
      choice.finish = cut ? model::Finish::Length : calls ? model::Finish::ToolCalls : model::Finish::Stop;
      choice.finish_word = cut ? "MAX_TOKENS" : "STOP";
      if (coin()) {
        choice.logprobs =
            R"([{"token":"a","logprob":-0.25,"bytes":null,"top_logprobs":[{"token":"b","logprob":-1,"bytes":null}]}])";
      }
    }
    made.usage = {.input_uncached = 10, .output_text = static_cast<std::int64_t>(below(9))};
    if (coin()) made.usage.cache_read = 3;
    if (coin()) made.usage.reasoning = 4;
    if (coin()) made.usage.image_input = 5;
    if (coin()) made.usage.image_output = 6;
    made.usage.source = model::UsageSource::Provider;
    return made;
  }

  model::ChatRequest request() {
    model::ChatRequest made;
    made.dialect = Dialect::Gemini;
    made.model = "asked";
    made.usage_in_stream = true;
    if (coin()) {
      made.turns.emplace_back().role = model::Role::System;
      made.turns.back().parts.emplace_back(model::TextPart{.text = text(), .citations = {}});
    }
    for (std::size_t round = below(3) + 1; round > 0; --round) {
      model::Turn& user = made.turns.emplace_back();
      for (const model::Part* open : open_) {
        const auto& asked = *open->as<model::ToolCallPart>();
        model::ToolResultPart result;
        result.call_id = asked.id;
        result.name = asked.name;
        result.is_error = coin();
        const bool object = !result.is_error && coin();
        result.content.emplace_back(model::TextPart{.text = object ? json() : text(), .citations = {}});
        user.parts.emplace_back(std::move(result));
      }
      user.parts.emplace_back(model::TextPart{.text = text(), .citations = {}});
      if (coin()) user.parts.push_back(picture());
      open_.clear();
      model::Turn& assistant = made.turns.emplace_back();
      assistant.role = model::Role::Assistant;
      // Other makers' states would be lost by right.
      const auto own = [](Part part) {
        if (part.state.maker != Dialect::Gemini) part.state = {};
        return part;
      };
      assistant.parts.push_back(own(words()));
      for (std::size_t calls = below(3); calls > 0; --calls) assistant.parts.push_back(own(call()));
      calls_.push_back(assistant.parts);
      for (const Part& part : calls_.back()) {
        if (part.as<model::ToolCallPart>() != nullptr) open_.push_back(&part);
      }
    }
    made.turns.pop_back();
    open_.clear();
    if (coin()) made.sampling.temperature = 0.1 * static_cast<double>(below(20));
    if (coin()) made.sampling.top_k = static_cast<std::int64_t>(below(50));
    if (coin()) made.sampling.stop = {text(), text()};
    if (coin()) made.sampling.max_output_tokens = 1 + static_cast<std::int64_t>(below(5000));
    if (coin())
      made.reasoning =
          model::ReasoningWish{.budget_tokens = static_cast<std::int64_t>(below(20000)), .show = coin()};
    if (coin()) {
      made.tools.push_back(
          {.name = "f",
           .description = text(),
           .schema = R"({"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]})"});
      made.tools.push_back({.name = "g"});
      if (coin()) made.tool_choice = model::ToolChoice{model::ToolChoice::Mode::Required, {"f"}};
    }
    if (coin()) made.output = model::OutputFormat{.kind = model::OutputFormat::Kind::JsonObject};
    return made;
  }

 private:
  std::mt19937 random_;
  std::size_t next_ = 0;
  std::vector<const Part*> open_;
  std::vector<std::vector<Part>> calls_;
};

constexpr std::uint32_t kSeeds = 500;

TEST(GeminiProperties, RequestsMeanTheSameAgain) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const model::ChatRequest request = Maker(seed).request();
    const testing::Encoded made = testing::encoded(request);
    const model::ChatRequest again = testing::request_of(made.body);
    ASSERT_EQ(qq::testing::describe(again), qq::testing::describe(request)) << "seed " << seed << "\n"
                                                                            << made.body;
    ASSERT_EQ(made.losses, "") << "seed " << seed;
  }
}

model::ChatRequest asks_for_thoughts() {
  model::ChatRequest request;
  request.reasoning.emplace().show = true;
  return request;
}

TEST(GeminiProperties, AnswersMeanTheSameAgain) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const model::ChatAnswer answer = Maker(seed).answer();
    Losses losses;
    const std::string body =
        client_side().encode_answer(answer, asks_for_thoughts(), {.model = "asked"}, losses);
    const auto again = provider_side().decode_answer(body, testing::target(), "seed");
    ASSERT_TRUE(again) << "seed " << seed << "\n" << body;
    // Thoughts come back as Google's own summaries.
    model::ChatAnswer expected = answer;
    for (model::Choice& choice : expected.choices) {
      for (Part& part : choice.parts) {
        if (auto* thought = part.as<model::ReasoningPart>())
          thought->kind = model::ReasoningPart::Kind::Summary;
      }
    }
    ASSERT_EQ(qq::testing::describe(*again), qq::testing::describe(expected)) << "seed " << seed << "\n"
                                                                              << body;
    ASSERT_TRUE(losses.empty()) << "seed " << seed;
  }
}

TEST(GeminiProperties, StreamsMeanTheSameAgain) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    model::ChatAnswer answer = Maker(seed).answer();
    const model::ChatRequest request = asks_for_thoughts();
    const AnswerHead head{.model = "asked", .request_id = "req", .array_stream = seed % 3 == 0};
    const auto encoder = client_side().stream_encoder(request, head);
    std::string body;
    model::for_each_event(answer, [&](const model::StreamEvent& event) { encoder->encode(event, body); });
    const auto again = qq::testing::decode_stream(provider_side(), Dialect::Gemini, testing::target(), body,
                                                  {body.size() / 2});
    ASSERT_EQ(again.grammar, "") << "seed " << seed << "\n" << body;
    for (model::Choice& choice : answer.choices) {
      for (Part& part : choice.parts) {
        if (auto* thought = part.as<model::ReasoningPart>())
          thought->kind = model::ReasoningPart::Kind::Summary;
      }
    }
    ASSERT_EQ(qq::testing::describe(again.answer), qq::testing::describe(answer)) << "seed " << seed << "\n"
                                                                                  << body;
  }
}

}  // namespace
}  // namespace qq::dialects::gemini
