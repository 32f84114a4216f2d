#pragma once
#include <string_view>

#include "base/result.h"
#include "model/chat_answer.h"

namespace qq::dialects::gemini {

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed);

}  // namespace qq::dialects::gemini
