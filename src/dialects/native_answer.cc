#include "dialects/native_answer.h"

#include <algorithm>

#include "dialects/dialect.h"
#include "dialects/openai/content.h"

namespace qq::dialects {
namespace {

constexpr std::string_view model_key(model::Dialect dialect) noexcept {
  return dialect == model::Dialect::Gemini ? "modelVersion" : "model";
}

// Of a body that was read.
wire::JsonValue document_of(std::string_view body) noexcept {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  return wire::JsonValue(body.substr(begin == std::string_view::npos ? body.size() : begin));
}

}  // namespace

openai::AnswerFacts judge_native_answer(model::Dialect dialect, std::string_view body,
                                        const model::Target& target) {
  openai::AnswerFacts facts;
  auto answer = provider_dialect(dialect)->decode_answer(body, target, {});
  if (!answer) {
    facts.fault = answer.error().kind;
    facts.fault_message = answer.error().message;
    facts.error = std::move(answer).error();
    facts.blank = facts.fault == ErrorKind::EmptyReply && openai::says_white_space(document_of(body));
    return facts;
  }
  facts.usage = answer->usage;
  if (!answer->choices.empty()) {
    const model::Choice& first = answer->choices.front();
    facts.finish_reason =
        first.finish_word.empty() ? std::string(model::to_string(first.finish)) : first.finish_word;
  }
  const wire::JsonValue document = document_of(body);
  if (document.is_object()) {
    if (const auto value = document.member(model_key(dialect))) facts.model_value = *value;
  }
  return facts;
}

std::optional<wire::JsonValue> model_of_event(model::Dialect dialect, std::string_view data) {
  // Only the first of Anthropic's events names it; looking for the word is cheaper than reading them all.
  if (dialect == model::Dialect::Anthropic && data.find("message_start") == std::string_view::npos) return {};
  if (wire::check_json(data, {.check_utf8 = false})) return {};
  wire::JsonValue document(data);
  if (!document.is_object()) return {};
  if (dialect == model::Dialect::Anthropic) {
    const auto message = document.member("message");
    if (!message || !message->is_object()) return {};
    document = *message;
  }
  const auto value = document.member(model_key(dialect));
  if (!value || !value->is_string() || value->raw_string().empty()) return {};
  return value;
}

std::uint32_t choices_asked(model::Dialect dialect, wire::JsonValue request) noexcept {
  if (dialect != model::Dialect::Gemini || !request.is_object()) return 1;
  auto count = request.at("generationConfig", "candidateCount");
  if (!count) count = request.at("generation_config", "candidate_count");
  constexpr std::int64_t kMost = 1024;  // more than any provider gives
  return static_cast<std::uint32_t>(
      std::clamp(count ? count->integer().value_or(1) : std::int64_t{1}, std::int64_t{1}, kMost));
}

}  // namespace qq::dialects
