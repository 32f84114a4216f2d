// Conversations that the gateway keeps: a request that names an earlier answer (`previous_response_id`) or a
// conversation becomes one that holds all of it. Works on the JSON of client and store, so that nothing of an
// item is lost, whether the request is translated afterwards or passes through.
//
//   first request   input I1                                  answer output O1      stored as {I1, O1}
//   second request  previous_response_id, input I2  ->  input I1 O1 I2, answer O2   stored as {I1 O1 I2, O2}
//
// The way of a request (the store is the port relay/response_store.h):
//
//   wanted = state_wanted(members)                    what it continues, whether to keep the answer
//   past   = exchange_of(entry.input, entry.response)  or, of a conversation, {joined(items), "[]"}
//   names  = named_items(input)                       items that are only named, to be found in the store
//   whole  = with_history(request, input, past, found)  if there is a past or a name; it is sent with nothing
//                                                     kept at the provider (stateless.h), as are all others
//   ... the answer `response` is complete
//   told   = as_kept(response, wanted)                what the client reads and the store keeps
//   kept   = kept_answer(told)                        id, model, time, and `input_items` of the whole
//   turn   = turn_items(own input_items, response)    what a conversation gets
//
// As with OpenAI's own store, `instructions` are not part of what is kept, and `item_reference`s find their
// item in it. What items said of the store they came from is left out: `created_by`, ids that were made here
// (turn_items), and thoughts of which there is only an id, which no other store knows.
//
// Requests are JSON that was checked (dialects/openai/request.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialects/openai_responses/stateless.h"
#include "model/part.h"

namespace qq::dialects::openai_responses {

// What a request asks of the store.
struct StateWanted {
  std::string previous_response_id;  // empty: none
  std::string conversation;          // its id; empty: none
  bool store = true;                 // whether the answer is to be kept
};
// Errors: InvalidRequest for members of a wrong type, and for a request that names both.
Result<StateWanted> state_wanted(const StateMembers& members);

// Views into what is kept.
struct Exchange {
  std::string_view input = "[]";  // an array of items: all that the model was given, but for its instructions
  std::string_view output = "[]";  // an array of items: what it answered
};
// Of an answer that was kept. Errors: BadJson for what is not what was put in.
Result<Exchange> exchange_of(std::string_view input, std::string_view response);

// What of a request's `input` is to be stored with its answer: an array of items, without the first `from`.
// Errors: InvalidRequest.
Result<model::Json> input_items(wire::JsonValue input, std::size_t from = 0);

// An item that a request's input names by its id: an `item_reference`, or a thought that is neither sealed
// nor said, as clients send it that rely on a store. A reference must be found.
struct NamedItem {
  std::string id;
  bool must_be_found = true;
};
// So many may be named: a guess, for each is looked up in the store by itself.
inline constexpr std::size_t kNamedItemsMax = 1'000;
// Errors: InvalidRequest for an id that is named twice, and for too many.
Result<std::vector<NamedItem>> named_items(wire::JsonValue input);
using FoundItems = std::map<std::string, std::string>;  // id, item
// Adds those that are in the output of this answer.
void find_items(std::string_view response, const std::vector<NamedItem>& names, FoundItems& found);
// The ids of an answer's output, for a store to find it by. `response` is checked JSON.
std::vector<std::string> output_ids(std::string_view response);

struct Whole {
  std::string body;            // no larger than request, past and found items together, and 64 bytes
  std::size_t past_items = 0;  // how many of its input are of the past
};
// `request` with the past in front of its own `input`, what that names in its place, and without
// `previous_response_id` and `conversation`. Errors: InvalidRequest, NotFound for a reference to an item that
// is neither in the past nor in `found`.
Result<Whole> with_history(wire::JsonValue request, wire::JsonValue input, const Exchange& past,
                           const FoundItems& found = {});

// A response object (whole, or the `response` of a stream's event) as it is where the gateway keeps it: its
// `store`, `previous_response_id` and `conversation` are those of the client's request, all else is as it
// was. Errors: BadJson for what is no object.
Result<std::string> as_kept(std::string_view response, const StateWanted& wanted);

struct KeptAnswer {
  std::string id;
  std::string model;
  std::int64_t created_unix = 0;  // seconds
};
// What a store wants to know of a response object. Errors: BadJson for what is no object with an id.
Result<KeptAnswer> kept_answer(std::string_view response);

struct TurnItem {
  std::string id;
  model::Json json;  // with this id
};
// The items of a conversation's new turn: those of the request's own input, then those of the answer. Items
// without an id get one made of `seed`, unique as that is. Errors: BadJson.
Result<std::vector<TurnItem>> turn_items(std::string_view input, std::string_view response,
                                         std::string_view seed);
// The same for items that a client adds by itself (an array).
Result<std::vector<TurnItem>> items_with_ids(std::string_view items, std::string_view seed);

}  // namespace qq::dialects::openai_responses
