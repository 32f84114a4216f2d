// The proof that a thought or a call is a provider's own, which it wants back unchanged: an Anthropic
// thinking block's `signature`, a Gemini part's `thoughtSignature`. Ours can be told from any other, so that
// a translation that loses, swaps or invents one is found out.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "model/part.h"

namespace qq::simulator {

// Base64, the same for the same `seed`.
std::string make_signature(model::Dialect maker, std::uint64_t seed);
// Whether `text` is one that `maker` made.
bool is_signature(model::Dialect maker, std::string_view text);

}  // namespace qq::simulator
