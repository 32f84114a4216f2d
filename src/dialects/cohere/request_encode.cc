// A request for a target. What is decided here and not in the table is told in dialect.h.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialects/anthropic/history.h"
#include "dialects/anthropic/schema.h"
#include "dialects/body_size.h"
#include "dialects/calls.h"
#include "dialects/cohere/sides.h"
#include "dialects/plain_messages.h"
#include "dialects/reasoning.h"
#include "wire/json_writer.h"

namespace qq::dialects::cohere {
namespace {

using model::ChatRequest;
using model::Dialect;
using model::MediaPart;
using model::OutputFormat;
using model::Part;
using model::Role;
using model::ToolChoice;
using Verdict = Support::Verdict;

constexpr std::array kSupport{
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::HostedTools, {Verdict::Lossy, loss::kForeignTool}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Choices, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Logprobs, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::LogitBias, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CustomTools, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ParallelToolCalls, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::ReasoningShow, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::ReasoningSummary, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::AudioInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::VideoInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::OutputModalities, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::ParticipantName, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::User, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Metadata, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::ServiceTier, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CacheKey, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::CacheMarks, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Store, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PreviousResponse, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Conversation, {Verdict::Refused, loss::kNoSuchField}},
};

class RequestWriter {
 public:
  RequestWriter(const ChatRequest& request, const model::Target& target, Losses& losses, std::string& out)
      : request_(request), target_(target), losses_(losses), json_(out), chosen_(request) {}

  Result<> write() {
    json_.begin_object().member("model", target_.upstream_model).member("stream", request_.stream);
    json_.key("messages").begin_array();
    for (std::size_t turn = 0; turn < request_.turns.size();) {
      const model::Turn& at = request_.turns[turn];
      if (at.role == Role::Assistant) {
        assistant(turn);
        continue;
      }
      ++turn;
      if (at.role == Role::User) {
        QQ_CHECK(user(at));
      } else {
        system(at);
      }
    }
    json_.end_array();
    tools();
    output();
    sampling();
    thinking();
    json_.end_object();
    return {};
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  void lose_once(bool& done, std::string field, std::string_view why) {
    if (!std::exchange(done, true)) losses_.push_back({std::move(field), why});
  }

  // ---- Messages

  void system(const model::Turn& turn) {
    const auto says = [](const Part& part) {
      const auto* text = part.as<model::TextPart>();
      return text != nullptr && !trimmed(text->text).empty();
    };
    if (std::ranges::none_of(turn.parts, says)) return;
    json_.begin_object().member("role", "system").key("content").begin_array();
    for (const Part& part : turn.parts) {
      if (says(part)) write_text(part.as<model::TextPart>()->text);
    }
    json_.end_array().end_object();
  }
  void write_text(std::string_view text) {
    json_.begin_object().member("type", "text").member("text", text).end_object();
  }

  Result<> user(const model::Turn& turn) {
    SplitTurn split = split_user_turn(turn);
    // Blank texts are refused.
    std::erase_if(split.rest, [](const Part* part) {
      const auto* text = part->as<model::TextPart>();
      return text != nullptr && trimmed(text->text).empty();
    });
    for (const model::ToolResultPart* result : split.results) {
      json_.begin_object().member("role", "tool").member("tool_call_id", ids_.of_result(*result));
      const std::string said = text_of_result(*result);
      // Results without any content are refused.
      json_.member("content", trimmed(said).empty() ? "." : std::string_view(said)).end_object();
      if (result->is_error) lose_once(error_lost_, "is_error", loss::kNoSuchField);
    }
    if (split.moved_media) lose(Field::ImageInput, loss::kNearest);
    if (split.rest.empty()) return {};
    json_.begin_object().member("role", "user").key("content").begin_array();
    for (const Part* part : split.rest) {
      if (const auto* media = part->as<MediaPart>()) {
        QQ_CHECK(write_media(*media));
      } else if (const auto* text = part->as<model::TextPart>()) {
        write_text(text->text);
      }
    }
    json_.end_array().end_object();
    return {};
  }
  Result<> write_media(const MediaPart& media) {
    using Source = MediaPart::Source;
    const bool image = media.kind == MediaPart::Kind::Image;
    if (const auto text = image ? std::nullopt : file_as_text(media)) {
      lose(Field::FileInput, loss::kNearest);
      write_text(*text);
      return {};
    }
    if (!image || media.source == Source::FileId) {
      const Field field = image ? Field::ImageInput : Field::FileInput;
      return fail(
          Error::client(ErrorKind::InvalidRequest,
                        image ? "a file of another provider's cannot be read here: send its content"
                              : "files other than text are not possible with this model: send their text",
                        std::string(name_of(field, request_.dialect))));
    }
    json_.begin_object().member("type", "image_url").key("image_url").begin_object();
    if (media.source == Source::Url) {
      json_.member("url", media.data);
    } else {
      const std::string_view type =
          media.media_type.empty() ? "image/png" : std::string_view(media.media_type);
      std::string url = "data:";
      url.reserve(media.data.size() + 40);
      url.append(type).append(";base64,").append(media.data);
      json_.member("url", url);
    }
    if (!media.detail.empty()) json_.member("detail", media.detail);
    json_.end_object().end_object();
    return {};
  }

  void assistant(std::size_t& turn) {
    Spoken spoken = spoken_from(request_.turns, turn);
    if (trimmed(spoken.text).empty()) spoken.text.clear();
    std::string plan;
    std::string thoughts;
    for (const Part* part : spoken.thought_parts) {
      const std::string& text = part->as<model::ReasoningPart>()->text;
      const bool is_plan = part->state.maker == Dialect::Cohere && part->state.data == kPlan;
      (is_plan ? plan : thoughts) += text;
    }
    if (!thoughts.empty() && !target_.reasons) {
      lose_once(thought_lost_, "messages[].reasoning", loss::kNoSuchField);
      thoughts.clear();
    }
    if (spoken.has_media) lose_once(media_lost_, "messages[].content", loss::kNoPlace);
    // A plan belongs to its calls.
    if (spoken.calls.empty()) plan.clear();
    if (spoken.text.empty() && thoughts.empty() && spoken.calls.empty()) return;
    json_.begin_object().member("role", "assistant");
    if (!spoken.text.empty() || !thoughts.empty()) {
      json_.key("content").begin_array();
      if (!thoughts.empty())
        json_.begin_object().member("type", "thinking").member("thinking", thoughts).end_object();
      if (!spoken.text.empty()) write_text(spoken.text);
      json_.end_array();
    }
    if (!plan.empty()) json_.member(kPlan, plan);
    if (!spoken.calls.empty()) {
      json_.key("tool_calls").begin_array();
      for (const model::ToolCallPart* call : spoken.calls) write_call(*call);
      json_.end_array();
    } else if (turn == request_.turns.size()) {
      losses_.push_back({"messages", loss::kNearest});  // the beginning of the answer, which it may not go on
    }
    json_.end_object();
  }
  void write_call(const model::ToolCallPart& call) {
    bool wrapped = false;
    const std::string input = input_of(call, wrapped);
    if (wrapped) losses_.push_back({"messages[].tool_calls", loss::kNotJson});
    json_.begin_object().member("id", ids_.of_call(call)).member("type", "function");
    json_.key("function").begin_object().member("name", call.name).member("arguments", input);
    json_.end_object().end_object();
  }

  // ---- Tools

  [[nodiscard]] bool is_sent(const model::Tool& tool) const {
    return tool.kind != model::Tool::Kind::Hosted && chosen_.has(tool.name);
  }
  void tools() {
    const auto sent = [this](const model::Tool& tool) { return is_sent(tool); };
    const ToolChoice choice = choice_among(request_, Dialect::Cohere, sent, losses_).value_or(ToolChoice{});
    has_tools_ = std::ranges::any_of(request_.tools, sent);
    if (!has_tools_) return;
    bool strict = false;
    bool loose = false;
    json_.key("tools").begin_array();
    for (const model::Tool& tool : request_.tools) {
      if (!is_sent(tool)) continue;
      const bool custom = tool.kind == model::Tool::Kind::Custom;
      json_.begin_object().member("type", "function").key("function").begin_object();
      json_.member("name", tool.name);
      if (!tool.description.empty()) json_.member("description", tool.description);
      json_.raw_member("parameters",
                       custom ? std::string(kCustomInputSchema) : anthropic::input_schema(tool.schema));
      json_.end_object().end_object();
      (tool.strict.value_or(false) ? strict : loose) = true;
    }
    json_.end_array();
    if (strict) json_.member("strict_tools", true);
    if (strict && loose) lose(Field::StrictTools, loss::kNearest);
    if (choice.mode == ToolChoice::Mode::None) json_.member("tool_choice", "NONE");
    if (choice.mode == ToolChoice::Mode::Required) json_.member("tool_choice", "REQUIRED");
  }

  // ---- How it is answered

  void output() {
    if (!request_.output || request_.output->kind == OutputFormat::Kind::Text) return;
    const bool schema = request_.output->kind == OutputFormat::Kind::JsonSchema;
    if (has_tools_) return lose(schema ? Field::JsonSchema : Field::JsonObject, loss::kNotTogether);
    json_.key("response_format").begin_object().member("type", "json_object");
    if (schema && !request_.output->schema.empty()) json_.raw_member("json_schema", request_.output->schema);
    json_.end_object();
  }

  template <typename Number>
  void number(std::string_view name, Field field, const std::optional<Number>& wish, Number least,
              Number most) {
    if (!wish) return;
    const Number taken = std::clamp(*wish, least, most);
    if (taken != *wish) lose(field, loss::kOutOfRange);
    json_.member(name, taken);
  }
  void sampling() {
    const model::Sampling& wish = request_.sampling;
    if (wish.max_output_tokens) json_.member("max_tokens", *wish.max_output_tokens);
    number("temperature", Field::Temperature, wish.temperature, 0.0, 1.0);
    number("p", Field::TopP, wish.top_p, 0.01, 0.99);
    number("k", Field::TopK, wish.top_k, std::int64_t{0}, std::int64_t{500});
    number("frequency_penalty", Field::FrequencyPenalty, wish.frequency_penalty, 0.0, 1.0);
    number("presence_penalty", Field::PresencePenalty, wish.presence_penalty, 0.0, 1.0);
    if (wish.seed) json_.member("seed", *wish.seed);
    if (wish.stop.empty()) return;
    constexpr std::size_t kStopsMost = 5;
    json_.key("stop_sequences").begin_array();
    for (std::size_t i = 0; i < std::min(kStopsMost, wish.stop.size()); ++i) json_.string(wish.stop[i]);
    json_.end_array();
    if (wish.stop.size() > kStopsMost) lose(Field::Stop, loss::kTooMany);
  }

  void thinking() {
    const auto wish = request_.reasoning ? effort_of(*request_.reasoning) : std::nullopt;
    if (!wish) return;
    if (!target_.reasons) {
      if (*wish != Effort::None) lose(Field::Reasoning, loss::kNoSuchField);
      return;
    }
    json_.key("thinking").begin_object();
    json_.member("type", *wish == Effort::None ? "disabled" : "enabled");
    // From High on it thinks as long as it likes, as it does by itself.
    const std::int64_t budget = request_.reasoning->budget_tokens.value_or(budget_of(*wish));
    const bool said = request_.reasoning->budget_tokens.has_value() || *wish < Effort::High;
    if (budget > 0 && said) json_.member("token_budget", budget);
    json_.end_object();
  }

  const ChatRequest& request_;
  const model::Target& target_;
  Losses& losses_;
  wire::JsonWriter json_;
  ChosenTools chosen_;
  anthropic::CallIds ids_;
  bool has_tools_ = false;
  bool error_lost_ = false;
  bool thought_lost_ = false;
  bool media_lost_ = false;
};

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  QQ_CHECK(check_support(request, Dialect::Cohere, support(), losses));
  EncodedRequest out;
  out.body.reserve(body_size_hint(request));
  QQ_CHECK(RequestWriter(request, target, losses, out.body).write());
  return out;
}

}  // namespace qq::dialects::cohere
