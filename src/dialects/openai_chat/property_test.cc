// Whatever can be said in this dialect comes back as it was: requests through a target's body, answers
// through a client's body, and answers through a client's stream. Seeds are fixed; a failing one is printed.
#include <fakes/neutral.h>

#include <random>

#include "dialects/carried_state.h"
#include "dialects/openai_chat/dialect.h"

namespace qq::dialects::openai_chat {
namespace property_test {

using model::MediaPart;
using model::Part;
using model::Role;

#ifdef QQ_SANITIZED
constexpr std::uint32_t kRuns = 300;
#else
constexpr std::uint32_t kRuns = 3000;
#endif

class Making {
 public:
  explicit Making(std::uint32_t seed) : random_(seed) {}

  model::ChatRequest request() {
    model::ChatRequest out;
    out.model = words();
    out.stream = chance(2);
    out.usage_in_stream = out.stream && chance(2);
    for (std::size_t i = below(6); i > 0; --i) turn(out);
    for (std::size_t i = below(3); i > 0; --i) tool(out);
    if (!out.tools.empty() && chance(2)) {
      out.tool_choice = model::ToolChoice{static_cast<model::ToolChoice::Mode>(below(3)), {}};
      // "none" has no subset.
      if (out.tool_choice->mode != model::ToolChoice::Mode::None && chance(2))
        out.tool_choice->only.push_back(out.tools[0].name);
    }
    if (!out.tools.empty() && chance(3)) out.parallel_tool_calls = chance(2);
    if (chance(3)) {
      model::OutputFormat& format = out.output.emplace();
      format.kind = static_cast<model::OutputFormat::Kind>(below(3));
      if (format.kind == model::OutputFormat::Kind::JsonSchema) {
        format.name = words();
        format.schema = R"({"type":"object","x":1e400})";
        if (chance(2)) format.strict = chance(2);
      }
    }
    if (chance(3)) {
      model::ReasoningWish& wish = out.reasoning.emplace();
      if (chance(2))
        wish.effort = static_cast<model::ReasoningWish::Effort>(below(7));
      else
        wish.budget_tokens = 1024 + static_cast<std::int64_t>(below(9999));
      if (chance(2)) wish.show = chance(2);
    }
    sampling(out.sampling);
    if (chance(4)) out.modalities = {"text", "audio"};
    if (chance(4)) out.audio_output = R"({"voice":"v"})";
    if (chance(4)) out.user = words();
    if (chance(4)) out.metadata = R"({"k":"v"})";
    if (chance(4)) out.service_tier = "flex";
    if (chance(4)) out.cache_key = words();
    if (chance(4)) out.store = chance(2);
    if (chance(4)) out.extra.push_back({"odd \" key", "[1,2]"});
    return out;
  }

  model::ChatAnswer answer() {
    model::ChatAnswer out;
    out.id = "chatcmpl-" + std::to_string(below(1000));
    out.model = words();
    out.created = 1 + static_cast<std::int64_t>(below(1000));
    const std::size_t choices = 1 + below(2);
    for (std::size_t i = 0; i < choices; ++i) {
      model::Choice& choice = out.choices.emplace_back();
      choice.index = static_cast<std::uint32_t>(i);
      for (std::size_t n = below(3); n > 0; --n)
        choice.parts.push_back(thought(static_cast<std::int64_t>(n)));
      if (chance(2)) choice.parts.push_back(text());
      if (chance(4)) choice.parts.emplace_back(model::RefusalPart{words()});
      if (chance(4)) choice.parts.emplace_back(image());
      std::size_t calls = below(3);
      for (std::size_t n = 0; n < calls; ++n) choice.parts.push_back(call(chance(3)));
      if (choice.parts.empty()) choice.parts.push_back(text());
      choice.finish = calls > 0 ? model::Finish::ToolCalls : model::Finish::Length;
      choice.finish_word = calls > 0 ? "tool_calls" : "length";
      if (chance(4)) choice.logprobs = R"([{"token":"a"},{"token":"b"}])";
    }
    model::Usage& usage = out.usage;
    usage.source = model::UsageSource::Provider;
    usage.input_uncached = static_cast<std::int64_t>(below(100));
    usage.output_text = static_cast<std::int64_t>(below(100));
    if (chance(2)) usage.cache_read = static_cast<std::int64_t>(below(100));
    if (chance(2)) usage.cache_write = static_cast<std::int64_t>(below(100));
    if (chance(2)) usage.reasoning = static_cast<std::int64_t>(below(100));
    return out;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool chance(std::size_t of) { return below(of) == 0; }
  std::string words() {
    static constexpr std::array<std::string_view, 6> kPieces{"a", "\"", "\\", "\n", "\xe2\x82\xac", "</x>"};
    std::string out = "w";
    for (std::size_t i = below(5); i > 0; --i) out += kPieces[below(kPieces.size())];
    return out;
  }
  Part text() {
    Part part(model::TextPart{.text = words(), .citations = {}});
    if (chance(5))
      part.as<model::TextPart>()->citations = {R"({"type":"url_citation","url_citation":{"url":"u"}})"};
    return part;
  }
  MediaPart image() { return {.data = "QUJD", .media_type = "image/png", .name = {}, .detail = {}}; }
  Part call(bool with_state) {
    Part part(model::ToolCallPart{.id = "call_" + std::to_string(below(100000)),
                                  .name = "f" + std::to_string(below(9)),
                                  .arguments = chance(3) ? "{}" : R"({"x":"\n"})"});
    if (with_state) part.state = {model::Dialect::Gemini, words()};
    return part;
  }
  Part thought(std::int64_t index) {
    Part part(model::ReasoningPart{.text = words(), .id = {}});
    if (chance(2)) part.state = {model::Dialect::Anthropic, words() + std::to_string(index)};
    if (chance(4)) {
      *part.as<model::ReasoningPart>() = {.kind = model::ReasoningPart::Kind::Redacted, .text = {}, .id = {}};
      part.state = {model::Dialect::Anthropic, words() + std::to_string(index)};
    }
    return part;
  }
  // What a provider of this dialect made, which goes back to it.
  Part own_thought() {
    Part part(model::ReasoningPart{.text = words(), .id = {}});
    if (chance(2))
      part.state = {model::Dialect::OpenAiChat, R"({"type":"reasoning.text","signature":"s","format":"f"})"};
    return part;
  }

  void turn(model::ChatRequest& out) {
    model::Turn turn;
    switch (below(4)) {
      case 0:
        turn.role = chance(2) ? Role::System : Role::Developer;
        turn.parts.push_back(text_alone());
        break;
      case 1:
        if (chance(2)) turn.name = words();
        for (std::size_t i = 1 + below(3); i > 0; --i) turn.parts.push_back(content());
        break;
      case 2: {
        turn.role = Role::Assistant;
        if (chance(2)) turn.parts.push_back(own_thought());
        if (chance(2)) turn.parts.push_back(text());
        if (chance(4)) turn.parts.emplace_back(model::RefusalPart{words()});
        for (std::size_t i = below(3); i > 0; --i) turn.parts.push_back(call(false));
        if (turn.parts.empty()) turn.parts.push_back(text());
        break;
      }
      default: {
        if (!out.turns.empty() && is_results(out.turns.back())) return;
        for (std::size_t i = 1 + below(2); i > 0; --i) {
          Part result(
              model::ToolResultPart{.call_id = "call_none", .name = words(), .content = {text_alone()}});
          turn.parts.push_back(std::move(result));
        }
        // A result's name is not sent.
        for (Part& part : turn.parts) part.as<model::ToolResultPart>()->name.clear();
      }
    }
    out.turns.push_back(std::move(turn));
  }
  static bool is_results(const model::Turn& turn) {
    return !turn.parts.empty() && turn.parts[0].as<model::ToolResultPart>() != nullptr;
  }
  Part text_alone() { return Part(model::TextPart{.text = words(), .citations = {}}); }
  Part content() {
    using Kind = MediaPart::Kind;
    using Source = MediaPart::Source;
    Part part = text_alone();
    switch (below(6)) {
      case 0: part = Part(image()); break;
      case 1:
        part = Part(MediaPart{
            .source = Source::Url, .data = "https://x", .media_type = {}, .name = {}, .detail = "low"});
        break;
      case 2:
        part = Part(MediaPart{
            .kind = Kind::Audio, .data = "QUJD", .media_type = "audio/mpeg", .name = {}, .detail = {}});
        break;
      case 3:
        part = Part(MediaPart{.kind = Kind::File,
                              .data = "QUJD",
                              .media_type = "application/pdf",
                              .name = "a.pdf",
                              .detail = {}});
        break;
      default: break;
    }
    if (chance(4)) part.cache = model::CacheMark{static_cast<model::CacheMark::Ttl>(below(3))};
    if (chance(4)) part.extra.push_back({"odd", "null"});
    return part;
  }
  void tool(model::ChatRequest& out) {
    model::Tool& tool = out.tools.emplace_back();
    tool.name = "t" + std::to_string(out.tools.size());
    if (chance(2)) tool.description = words();
    if (chance(2)) tool.schema = R"({"type":"object"})";
    if (chance(2)) tool.strict = chance(2);
    if (chance(4)) tool.kind = model::Tool::Kind::Custom;
    if (chance(4)) tool.cache = model::CacheMark{};
    if (chance(4)) tool.extra = {{"y", "2"}, {"function.x", "1"}};
  }
  void sampling(model::Sampling& out) {
    const auto number = [&] { return static_cast<double>(below(1000)) / 7; };
    if (chance(3)) out.temperature = number();
    if (chance(3)) out.top_p = number();
    if (chance(3)) out.top_k = static_cast<std::int64_t>(below(50));
    if (chance(3)) out.presence_penalty = -number();
    if (chance(3)) out.frequency_penalty = number();
    if (chance(3)) out.seed = -5;
    if (chance(3)) out.stop = {words(), words()};
    if (chance(3)) out.max_output_tokens = static_cast<std::int64_t>(below(5000));
    if (chance(3)) out.choices = 2;
    if (chance(3)) out.logprobs = chance(2);
    if (chance(3)) out.top_logprobs = 3;
    if (chance(3)) out.logit_bias = R"({"5":-1})";
  }

  std::mt19937 random_;
};

model::Target generous(const std::string& model) {
  model::Target target;
  target.upstream_model = model;
  target.quirks.force_include_usage = false;
  target.quirks.chat = {.thinking = model::ChatQuirks::Thinking::Object,
                        .thoughts = model::ChatQuirks::Thoughts::Details,
                        .openai_words = true,
                        .takes_top_k = true,
                        .takes_cache_control = true};
  return target;
}

TEST(ChatProperty, RequestsComeBackAsTheyWere) {
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    const model::ChatRequest request = Making(seed).request();
    Losses losses;
    const auto encoded = provider_side().encode_request(request, generous(request.model), losses);
    ASSERT_TRUE(encoded) << "seed " << seed;
    EXPECT_TRUE(losses.empty()) << "seed " << seed << ": " << losses[0].field;
    const auto again = client_side().decode_request(encoded->body, {});
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message << encoded->body;
    ASSERT_EQ(testing::describe(*again), testing::describe(request))
        << "seed " << seed << ": " << encoded->body;
  }
}

// Puts state that travelled in ids back onto the calls.
model::ChatAnswer unpacked(model::ChatAnswer answer) {
  for (model::Choice& choice : answer.choices) {
    for (Part& part : choice.parts) {
      auto* call = part.as<model::ToolCallPart>();
      if (call == nullptr) continue;
      CarriedId carried = take_carried(call->id);
      call->id = carried.id;
      part.state = carried.carried.call;
    }
  }
  return answer;
}

TEST(ChatProperty, AnswersComeBackAsTheyWere) {
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    const model::ChatAnswer answer = Making(seed).answer();
    const AnswerHead head{.model = answer.model, .request_id = "r", .now = 1};
    Losses losses;
    const std::string body = client_side().encode_answer(answer, {}, head, losses);
    EXPECT_TRUE(losses.empty()) << "seed " << seed << ": " << losses[0].field;
    const auto again = provider_side().decode_answer(body, {}, "seed");
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message << body;
    ASSERT_EQ(testing::describe(unpacked(*again)), testing::describe(answer)) << "seed " << seed << body;
  }
}

TEST(ChatProperty, AnswersComeThroughStreamsAsTheyWere) {
  model::ChatRequest request;
  request.usage_in_stream = true;
  for (std::uint32_t seed = 0; seed < kRuns; ++seed) {
    const model::ChatAnswer answer = Making(seed).answer();
    const AnswerHead head{.model = answer.model, .request_id = "r", .now = 1};
    const auto encoder = client_side().stream_encoder(request, head);
    std::string bytes;
    model::for_each_event(answer, [&](const model::StreamEvent& event) { encoder->encode(event, bytes); });
    const testing::DecodedStream again =
        testing::decode_stream(provider_side(), model::Dialect::OpenAiChat, {}, bytes);
    ASSERT_EQ(again.grammar, "") << "seed " << seed;
    ASSERT_TRUE(again.ended) << "seed " << seed << bytes;
    ASSERT_EQ(testing::describe(unpacked(again.answer)), testing::describe(answer))
        << "seed " << seed << bytes;
  }
}

}  // namespace property_test
}  // namespace qq::dialects::openai_chat
