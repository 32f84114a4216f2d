// Conversations that the gateway keeps: a request that names an earlier answer (`previous_response_id`) or a
// conversation becomes one that holds all of it. Works on the JSON of client and store, so that nothing of an
// item is lost, whether the request is translated afterwards or passes through.
//
//   first request   input I1                                  answer output O1      stored as {I1, O1}
//   second request  previous_response_id, input I2  ->  input I1 O1 I2, answer O2   stored as {I1 O1 I2, O2}
//
// The way of a request (the store is the port relay/response_store.h):
//
//   wanted = state_wanted(body)                       what it continues, whether to keep the answer
//   past   = exchange_of(entry.input, entry.response)  or, of a conversation, {joined(items), "[]"}
//   whole  = with_history(body, past)                 to be sent, also with an empty past
//   ... the answer `response` is complete
//   told   = as_kept(response, wanted)                what the client reads and the store keeps
//   kept   = kept_answer(told)                        id, model, time, and `input_items(whole)`
//   turn   = turn_items(input_items(body), response)  what a conversation gets
//
// As with OpenAI's own store, `instructions` are not part of what is kept, and `item_reference`s find their
// item in it. What items said of the store they came from is left out: `created_by`, ids that were made here
// (turn_items), and reasoning of which there is only an id, which no other store knows.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/part.h"

namespace qq::dialects::openai_responses {

// What a request asks of the store.
struct StateWanted {
  std::string previous_response_id;  // empty: none
  std::string conversation;          // its id; empty: none
  bool store = true;                 // whether the answer is to be kept
};
// Errors: InvalidRequest for what is no request of this dialect, and for one that names both.
Result<StateWanted> state_wanted(std::string_view body);

struct Exchange {
  model::Json input;   // an array of items: all that the model was given, but for its instructions
  model::Json output;  // an array of items: what it answered
};
// Of an answer that was kept. Errors: Internal for what is not what was put in.
Result<Exchange> exchange_of(std::string_view input, std::string_view response);

// What of `body`, a request's, is to be stored with its answer: its `input` as an array of items. Of a
// request that went through `with_history` that is the whole conversation. Errors: InvalidRequest for what is
// no request of this dialect.
Result<model::Json> input_items(std::string_view body);

// `body` with the past in front of its own input, without `previous_response_id` and `conversation`, and with
// `store` false: the target need not keep what is kept here. Errors: InvalidRequest, also for a reference to
// an item that is not in the past.
Result<std::string> with_history(std::string_view body, const Exchange& past);

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
