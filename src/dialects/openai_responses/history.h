// Conversations that the gateway keeps: a request that names an earlier answer (`previous_response_id`)
// becomes one that holds all of it. Works on the JSON of client and store, so that nothing of an item is
// lost, whether the request is translated afterwards or passes through.
//
//   first request   input I1                                  answer output O1      stored as {I1, O1}
//   second request  previous_response_id, input I2  ->  input I1 O1 I2, answer O2   stored as {I1 O1 I2, O2}
//
// As with OpenAI's own store, `instructions` are not part of what is kept, and `item_reference`s find their
// item in it. What items said of the store they came from is left out: `created_by`, and reasoning of which
// there is only an id, which no other store knows.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/part.h"

namespace qq::dialects::openai_responses {

struct StoredResponse {
  model::Json input;   // an array of items: all that the model was given, but for its instructions
  model::Json output;  // an array of items: what it answered
};

// What of `body`, a request's, is to be stored with its answer: its `input` as an array of items. Of a
// request that went through `with_history` that is the whole conversation. Errors: InvalidRequest for what is
// no request of this dialect.
Result<model::Json> input_items(std::string_view body);

// `body` with the stored conversation in front of its own input and without `previous_response_id`.
// Errors: InvalidRequest, also for a reference to an item that the conversation has not.
Result<std::string> with_history(std::string_view body, const StoredResponse& stored);

}  // namespace qq::dialects::openai_responses
