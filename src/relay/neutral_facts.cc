#include "relay/neutral_facts.h"

#include <algorithm>

namespace qq::relay {
namespace {

bool part_has_content(const model::Part& part) noexcept {
  if (const auto* text = part.as<model::TextPart>()) return has_something_to_see(text->text);
  if (const auto* reasoning = part.as<model::ReasoningPart>()) return has_something_to_see(reasoning->text);
  if (const auto* refusal = part.as<model::RefusalPart>()) return !refusal->text.empty();
  return true;
}

}  // namespace

bool is_fine_without_content(model::Finish finish) noexcept {
  switch (finish) {
    case model::Finish::StopString:
    case model::Finish::Length:
    case model::Finish::Filtered:
    case model::Finish::Refusal:
    case model::Finish::Paused: return true;
    default: return false;
  }
}

Error broken_generation(std::string_view word) {
  return Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                         "the provider ended its answer with \"" + std::string(word) + "\"");
}

bool has_something_to_see(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

bool has_content(const model::ChatAnswer& answer) noexcept {
  return std::ranges::any_of(answer.choices, [](const model::Choice& choice) {
    return is_fine_without_content(choice.finish) || std::ranges::any_of(choice.parts, part_has_content);
  });
}

bool says_white_space(const model::ChatAnswer& answer) noexcept {
  return std::ranges::any_of(answer.choices, [](const model::Choice& choice) {
    return std::ranges::any_of(choice.parts, [](const model::Part& part) {
      const auto* text = part.as<model::TextPart>();
      return text != nullptr && !text->text.empty();
    });
  });
}

void NeutralFacts::take_finish(const model::StreamEvent& event) {
  ++finished_;
  empty_legitimate_ = empty_legitimate_ || is_fine_without_content(event.finish);
  if (finish_word_.empty()) {
    finish_word_ = event.word.empty() ? std::string(model::to_string(event.finish)) : std::string(event.word);
  }
}

void NeutralFacts::on_event(const model::StreamEvent& event) {
  using Kind = model::StreamEvent::Kind;
  choices_ = std::max(choices_, event.choice + 1);
  switch (event.kind) {
    case Kind::TextDelta:
      content_seen_ = content_seen_ || has_something_to_see(event.text);
      blank_seen_ = blank_seen_ || !event.text.empty();
      break;
    case Kind::PartStarted:
      content_seen_ = content_seen_ || event.part_kind == model::PartKind::ToolCall ||
                      event.part_kind == model::PartKind::Opaque;
      break;
    case Kind::ArgumentsDelta:
    case Kind::MediaDelta:
    case Kind::OpaqueDelta: content_seen_ = true; break;
    case Kind::UsageSoFar: take_usage(*event.usage); break;
    case Kind::Finished: take_finish(event); break;
    case Kind::End: end_seen_ = true; break;
    case Kind::Failed: error_ = *event.error; break;
    default: break;
  }
}

}  // namespace qq::relay
