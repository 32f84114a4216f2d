// Stateful responses that the gateway keeps itself, so that every target can go on with them: a request that
// names an earlier answer or a conversation becomes one that holds it, and each answer is kept before it is
// told as completed, unless `store` is false.
//
// What is not in our store may be in the provider's: such a request passes through unchanged where the first
// target speaks the dialect, and its answer is not kept, as we don't know what it answers.
#pragma once
#include <string>
#include <string_view>

#include "base/task.h"
#include "dialects/openai_responses/history.h"
#include "relay/request.h"

namespace qq::relay {

struct ResponseKeeping {
  dialects::openai_responses::StateWanted wanted;
  bool resumed = false;     // the past was put into the request
  std::string turn_input;   // the client's own items, for a conversation
  std::string whole_input;  // all that the model is given
  // A whole answer that waits until it is kept.
  int status = 0;
  std::string header_lines;
  std::string body;
};

// Whether `resume` has something to do.
bool may_be_stateful(const RequestState& state) noexcept;
// Looks at what the request wants of the store, and puts the past into it. Errors: NotFound, InvalidRequest,
// and the store's own.
Task<Result<>> resume(RequestState& state);

// The answer's response object as the client is to read it.
std::string told_response(const RequestState& state, std::string_view response);
// The same inside the event that ends a stream; nothing if none of `events` (whole ones) does. `response`
// becomes the object that is to be kept.
std::optional<std::string> told_last_event(const RequestState& state, std::string_view events,
                                           std::string& response);
// Keeps what was told. A store that fails takes no answer from its client: it is counted.
Task<void> keep_response(RequestState& state, std::string response);

}  // namespace qq::relay
