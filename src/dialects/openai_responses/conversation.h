// What clients send to the conversations that the gateway keeps: their items are looked at when they come,
// for a broken one would make every later request in its conversation fail.
#pragma once
#include <string_view>

#include "base/result.h"
#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {

struct ConversationBody {
  wire::JsonValue items;  // an array of items, a view into the body; empty: none were given
  model::Json metadata;   // an object
};
// Of a body that makes a conversation, changes its metadata or adds to it. One of nothing but white space is
// as good as {}. Errors: InvalidRequest, naming the place inside the body ("items[1].role"); a key that is
// given twice or written with escapes is one, too.
Result<ConversationBody> read_conversation(std::string_view body);

}  // namespace qq::dialects::openai_responses
