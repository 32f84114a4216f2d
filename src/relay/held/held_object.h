// What providers say of the files and batches that they hold, and how the gateway tells it on. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/target.h"
#include "model/usage.h"
#include "relay/held/holding_store.h"

namespace qq::relay {

struct HeldObject {
  std::string id;
  std::string purpose;            // of OpenAI's files
  std::vector<std::string> left;  // OpenAI's batches: the files that it has left behind
  bool ended = false;             // a batch that will not change any more, whatever came of it
  model::Usage usage;             // of a batch that says what it used
};

// From a document that was checked. Errors (BadJson, the provider's): no id that can be asked for.
Result<HeldObject> read_held_object(HoldingKind kind, std::string_view json, const model::Quirks& quirks);

// As the client is to read it. Anthropic's batches say where their results are: at the provider, where a
// client's key is nobody's; here it is our own path, which clients join to the address that they ask.
std::string told_object(HoldingKind kind, std::string json, std::string_view id);

// A page in the shape of its dialect. Of what the provider has said nothing yet, a file that a batch has left
// behind, what is known.
std::string encode_page(HoldingKind kind, const HoldingPage& page);

}  // namespace qq::relay
