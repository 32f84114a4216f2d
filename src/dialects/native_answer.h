// Whole answers and events of the dialects other than OpenAI's that pass through to a client of the same
// dialect: what the gateway must know of them, and where the model's name stands.
//
// Pure; views point into what was given.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "dialects/openai/answer.h"
#include "model/part.h"

namespace qq::dialects {

// As openai::judge_answer, of Anthropic's and Gemini's answers.
openai::AnswerFacts judge_native_answer(model::Dialect dialect, std::string_view body,
                                        const model::Target& target);

// The value that names the model in a stream's event, if this one does.
std::optional<wire::JsonValue> model_of_event(model::Dialect dialect, std::string_view data);

// How many choices a request of that dialect asks for; `request` was read. What is no such number is the
// provider's to refuse.
std::uint32_t choices_asked(model::Dialect dialect, wire::JsonValue request) noexcept;

}  // namespace qq::dialects
