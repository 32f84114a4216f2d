#include "dialects/empty_answer.h"

#include <algorithm>

#include "base/text.h"

namespace qq::dialects {
namespace {

bool says_something(const model::Part& part) noexcept {
  if (const auto* text = part.as<model::TextPart>()) return !trimmed(text->text).empty();
  if (const auto* thought = part.as<model::ReasoningPart>())
    return !trimmed(thought->text).empty() || !part.state.empty();
  return true;
}

bool may_be_empty(model::Finish finish) noexcept {
  using model::Finish;
  return finish == Finish::Length || finish == Finish::StopString || finish == Finish::Filtered ||
         finish == Finish::Refusal || finish == Finish::Paused;
}

}  // namespace

bool is_empty(const model::ChatAnswer& answer) noexcept {
  return std::ranges::all_of(answer.choices, [](const model::Choice& choice) {
    return !may_be_empty(choice.finish) && std::ranges::none_of(choice.parts, says_something);
  });
}

}  // namespace qq::dialects
