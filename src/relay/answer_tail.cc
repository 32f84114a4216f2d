#include "relay/answer_tail.h"

#include <algorithm>

#include "dialects/openai/answer.h"
#include "wire/json_part.h"

namespace qq::relay {

void AnswerTail::append(std::string_view bytes) {
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kKept)));
  if (tail_.size() > 2 * kKept) tail_.erase(0, tail_.size() - kKept);
}

bool AnswerTail::read_usage(const UpstreamReply::Piece& piece) {
  append(piece.bytes);
  return true;
}

model::Usage AnswerTail::usage(const model::Quirks& quirks) const {
  return dialects::openai::decode_usage(wire::object_in_tail(tail_, "usage"), quirks);
}

}  // namespace qq::relay
