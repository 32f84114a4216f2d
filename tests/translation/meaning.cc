#include "translation/meaning.h"

#include <fakes/canonical_json.h>

#include <algorithm>
#include <utility>

#include "dialects/carried_state.h"
#include "wire/json.h"

namespace qq::translation {

using model::Dialect;
using model::Finish;

Meaning meaning_of(const model::ChatAnswer& answer) {
  Meaning out;
  for (const model::Choice& choice : answer.choices) {
    Meaning::Choice& made = out.choices.emplace_back();
    made.index = choice.index;
    made.finish = choice.finish;
    for (const model::Part& part : choice.parts) {
      if (const auto* text = part.as<model::TextPart>()) made.text += text->text;
      if (const auto* refusal = part.as<model::RefusalPart>()) made.refusal += refusal->text;
      if (const auto* thought = part.as<model::ReasoningPart>()) made.reasoning += thought->text;
      if (const auto* call = part.as<model::ToolCallPart>()) {
        made.calls.push_back({.id = dialects::take_carried(call->id).id,
                              .name = call->name,
                              .arguments = call->arguments,
                              .custom = call->kind == model::ToolCallPart::Kind::Custom});
        std::string& arguments = made.calls.back().arguments;
        if (arguments.empty() && !made.calls.back().custom) arguments = "{}";
        if (!wire::check_json(arguments)) arguments = testing::canonical_json(wire::JsonValue(arguments));
      }
    }
  }
  out.input = answer.usage.input_total();
  out.output = answer.usage.output_total();
  out.cache_read = answer.usage.cache_read.value_or(0);
  return out;
}

namespace {

Finish finish_heard(Finish finish, Dialect client) {
  switch (client) {
    case Dialect::OpenAiChat:
      if (finish == Finish::StopString || finish == Finish::Paused) return Finish::Stop;
      return finish == Finish::Refusal ? Finish::Filtered : finish;
    case Dialect::OpenAiResponses:
      if (finish == Finish::StopString) return Finish::Stop;
      return finish == Finish::Refusal ? Finish::Filtered : finish;
    case Dialect::Anthropic:
      if (finish == Finish::Broken) return Finish::Stop;
      return finish == Finish::Filtered ? Finish::Refusal : finish;
    case Dialect::Gemini:
      if (finish == Finish::StopString || finish == Finish::Paused) return Finish::Stop;
      return finish == Finish::Refusal ? Finish::Filtered : finish;
    default: return finish;
  }
}

// What is no object, for those who only know objects.
std::string wrapped(std::string_view key, const std::string& text) {
  std::string out("{\"");
  out.append(key).append("\":");
  wire::append_json_string(out, text);
  return out + "}";
}

}  // namespace

Meaning as_heard(Meaning meaning, Dialect client) {
  const bool one_choice = client == Dialect::OpenAiResponses || client == Dialect::Anthropic;
  const bool only_functions = client == Dialect::Anthropic || client == Dialect::Gemini;
  const bool no_refusals = only_functions;
  if (one_choice) std::erase_if(meaning.choices, [](const auto& choice) { return choice.index != 0; });
  for (Meaning::Choice& choice : meaning.choices) {
    choice.finish = finish_heard(choice.finish, client);
    if (no_refusals) choice.text += std::exchange(choice.refusal, {});
    for (Meaning::Call& call : choice.calls) {
      if (only_functions && std::exchange(call.custom, false)) {
        call.arguments = wrapped("input", call.arguments);
      } else if (client == Dialect::Gemini && wire::check_json(call.arguments)) {
        call.arguments = wrapped("arguments", call.arguments);  // a limit cut them
      }
    }
    if (!choice.calls.empty() && choice.finish == Finish::Stop) choice.finish = Finish::ToolCalls;
  }
  return meaning;
}

bool is_silent(const Meaning& meaning) {
  return std::ranges::all_of(meaning.choices, [](const Meaning::Choice& choice) {
    return choice.text.empty() && choice.reasoning.empty() && choice.refusal.empty() && choice.calls.empty();
  });
}

std::string describe(const Meaning& meaning) {
  std::string out = "input " + std::to_string(meaning.input) + " output " + std::to_string(meaning.output) +
                    " cache_read " + std::to_string(meaning.cache_read) + "\n";
  for (const Meaning::Choice& choice : meaning.choices) {
    out += "choice " + std::to_string(choice.index) + " " + std::string(to_string(choice.finish)) + "\n";
    if (!choice.reasoning.empty()) out += "  thought " + choice.reasoning + "\n";
    if (!choice.text.empty()) out += "  text " + choice.text + "\n";
    if (!choice.refusal.empty()) out += "  refusal " + choice.refusal + "\n";
    for (const Meaning::Call& call : choice.calls)
      out +=
          (call.custom ? "  custom " : "  call ") + call.id + " " + call.name + " " + call.arguments + "\n";
  }
  return out;
}

}  // namespace qq::translation
