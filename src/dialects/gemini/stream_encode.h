#pragma once
#include <memory>
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects::gemini {

// A response that says nothing, to keep a client waiting. Google's Go and Python SDKs take a comment for a
// broken answer, and the chats of its JavaScript SDK forget a turn of which one response has no part.
inline constexpr std::string_view kGeminiHeartbeat =
    "data: "
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n";

std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request, const AnswerHead& head);

}  // namespace qq::dialects::gemini
