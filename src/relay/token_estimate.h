// How many tokens a request has, for whoever asks for a count where no target can count: an estimate by the
// characters, the same for every model, and told as one (x-queqiao-estimated).
//
//   four bytes of ASCII make a token; a character beyond ASCII makes one, a letter of an alphabet half of
//   one; a turn adds 4, a tool 8, an image 765, a minute of audio or a page of a file is not looked into
//
// Sources: OpenAI's rule of thumb of four characters a token; 765 is its figure for a 1,024 x 1,024 image in
// high detail. Wrong by a third for prose, by more for code and rare scripts.
#pragma once
#include "model/chat_request.h"
#include "model/usage.h"

namespace qq::relay {

model::TokenCount estimated_tokens(const model::ChatRequest& request);
// Rounded up.
model::TokenCount estimated_tokens(std::string_view text) noexcept;

}  // namespace qq::relay
