// Cuts text into the pieces that the built-in answers stream and count as tokens: words with the space
// before them in Latin text, single characters otherwise. A rule, not a tokenizer: it is the same on every
// machine and anyone can recompute a bill from it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace qq::simulator {

// The pieces joined are `text`. Bytes that are no UTF-8 are pieces of their own.
std::vector<std::string> token_pieces(std::string_view text);

}  // namespace qq::simulator
