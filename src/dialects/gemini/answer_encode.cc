#include "dialects/gemini/answer_encode.h"

#include <algorithm>
#include <array>

#include "dialects/gemini/logprobs.h"
#include "dialects/gemini/part_write.h"
#include "dialects/gemini/usage.h"
#include "dialects/gemini/words.h"
#include "dialects/losses.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using wire::JsonWriter;

class AnswerWriter {
 public:
  AnswerWriter(const model::ChatAnswer& answer, const model::ChatRequest& request, const AnswerHead& head,
               Losses& losses)
      : answer_(answer),
        head_(head),
        losses_(losses),
        shows_thoughts_(shows_thoughts(request)),
        own_(answer.dialect == Dialect::Gemini),
        json_(out_) {}

  std::string run() {
    json_.begin_object();
    // A prompt that was blocked is answered without candidates.
    const bool blocked =
        own_ &&
        std::ranges::find(answer_.extra, "promptFeedback", &model::ExtraField::key) != answer_.extra.end() &&
        std::ranges::all_of(answer_.choices, [](const model::Choice& choice) {
          return choice.parts.empty() && choice.finish == model::Finish::Filtered;
        });
    if (!blocked) {
      json_.key("candidates").begin_array();
      for (const model::Choice& choice : answer_.choices) write(choice);
      json_.end_array();
    }
    if (own_) write_extra(json_, answer_.extra, {});
    write_usage(json_, answer_.usage);
    json_.member("modelVersion", head_.model);
    json_.member("responseId", response_id(answer_.id, head_));
    json_.end_object();
    return std::move(out_);
  }

 private:
  void lose(const char* what, std::string_view why) { losses_.push_back({what, why}); }

  void write(const model::Choice& choice) {
    json_.begin_object().key("content").begin_object().key("parts").begin_array();
    carried_ = {};
    for (const model::Part& part : choice.parts) write(part);
    json_.end_array().member("role", "model").end_object();
    json_.member("finishReason", finish_word(choice.finish, choice.finish_word));
    json_.member("index", choice.index);
    for (const model::Part& part : choice.parts) write_citations(part);
    if (!choice.logprobs.empty()) write_logprobs(json_, wire::JsonValue(choice.logprobs));
    if (own_) write_extra(json_, answer_.extra, "candidates[" + std::to_string(choice.index) + "]");
    json_.end_object();
  }

  void write(const model::Part& part) {
    const std::string signature = state_field(part.state, Dialect::Gemini);
    if (const auto* text = part.as<model::TextPart>()) {
      if (!text->text.empty() || !signature.empty()) write_text(json_, text->text, TextKind::Text, signature);
    } else if (const auto* refusal = part.as<model::RefusalPart>()) {
      write_text(json_, refusal->text, TextKind::Text);
    } else if (const auto* reasoning = part.as<model::ReasoningPart>()) {
      const bool redacted = reasoning->kind == model::ReasoningPart::Kind::Redacted;
      if (shows_thoughts_ && !redacted) {
        write_text(json_, reasoning->text, TextKind::Thought, signature);
      } else if (!part.state.empty()) {
        carried_.reasoning.push_back(part);
      }
    } else if (const auto* call = part.as<model::ToolCallPart>()) {
      if (!write_call(json_, *call, part.state, answer_.dialect, carried_)) lose("reasoning", loss::kNoPlace);
      carried_ = {};
    } else if (const auto* media = part.as<model::MediaPart>()) {
      json_.begin_object();
      write_media(json_, *media, media->media_type);
      write_signature(json_, signature);
      json_.end_object();
    } else if (const auto* opaque = part.as<model::OpaquePart>()) {
      if (is_google_part(opaque->value) && opaque->dialect == Dialect::Gemini) {
        json_.raw(opaque->value);
      } else {
        lose("content", loss::kForeignPart);
      }
    }
  }

  void write_citations(const model::Part& part) {
    const auto* text = part.as<model::TextPart>();
    if (text == nullptr) return;
    for (const model::Json& citation : text->citations) {
      const std::string_view name = google_citation(citation);
      if (name.empty() || !own_) {
        lose("citations", loss::kNoPlace);
      } else {
        json_.raw_member(name, wire::JsonValue(citation).member(name)->text());
      }
    }
  }

  const model::ChatAnswer& answer_;
  const AnswerHead& head_;
  Losses& losses_;
  bool shows_thoughts_;
  bool own_;
  std::string out_;
  JsonWriter json_;
  Carried carried_;
};

}  // namespace

std::string_view response_id(std::string_view provider_id, const AnswerHead& head) noexcept {
  // "gJNwmLTmQ8H-hxHBlyQNjXc": 22 or 23 letters, digits, '-' and '_' in what was recorded.
  constexpr std::array<std::string_view, 3> kOthers{"msg_", "resp_", "chatcmpl-"};
  const bool google =
      provider_id.size() >= 20 && provider_id.size() <= 24 &&
      std::ranges::none_of(kOthers, [&](std::string_view prefix) { return provider_id.starts_with(prefix); });
  return google || head.request_id.empty() ? provider_id : head.request_id;
}

bool is_google_part(std::string_view json) noexcept {
  const wire::JsonValue part(json);
  constexpr std::array<std::string_view, 5> kParts{"executableCode", "codeExecutionResult", "toolCall",
                                                   "toolResponse", "inlineData"};
  return std::ranges::any_of(kParts, [&](std::string_view name) { return part.member(name).has_value(); });
}

std::string_view google_citation(std::string_view json) noexcept {
  wire::JsonMembers members{wire::JsonValue(json)};
  if (!members.next()) return {};
  for (const std::string_view name : {"groundingMetadata", "citationMetadata", "urlContextMetadata"}) {
    if (members.key_is(name)) return name;
  }
  return {};
}

bool write_call(JsonWriter& json, const model::ToolCallPart& call, const model::OpaqueState& state,
                Dialect maker, const Carried& carried) {
  const std::optional<std::string> id = with_carried(call.id, carried);
  json.begin_object().key("functionCall").begin_object();
  const std::string_view said = id ? std::string_view(*id) : std::string_view(call.id);
  if (!said.empty()) json.member("id", said);
  json.member("name", call.name).key("args");
  if (call.kind == model::ToolCallPart::Kind::Custom) {
    json.begin_object().member("input", call.arguments).end_object();
  } else {
    write_arguments(json, call.arguments);
  }
  json.end_object();
  // Gemini refuses calls of its own without one.
  const bool is_unsigned = state.empty() && maker != Dialect::Gemini;
  write_signature(json, is_unsigned ? no_state_field(maker) : state_field(state, Dialect::Gemini));
  json.end_object();
  return id.has_value();
}

std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses) {
  return AnswerWriter(answer, request, head, losses).run();
}

}  // namespace qq::dialects::gemini
