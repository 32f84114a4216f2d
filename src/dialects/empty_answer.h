// Whether an answer is none: nothing that was said or called for, and no reason why that may be so. Thoughts
// are something; whether the client can see them is for the relay to judge.
#pragma once
#include "model/chat_answer.h"

namespace qq::dialects {

bool is_empty(const model::ChatAnswer& answer) noexcept;

}  // namespace qq::dialects
