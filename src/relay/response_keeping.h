// Stateful responses that the gateway keeps itself, so that every target can go on with them: a request that
// names an earlier answer, a conversation or single items of them becomes one that holds them, and each
// answer is kept before it is told as completed, unless `store` is false or it is too large (counted as not
// kept).
//
// The gateway is the only keeper. Providers are told to keep nothing (openai_responses/stateless.h), as
// owners share their accounts; an id that is not this owner's is not found here and never asked for
// elsewhere. Where nothing is kept (`storage.responses.backend: none`), no id is.
#pragma once
#include <string>
#include <string_view>

#include "base/task.h"
#include "dialects/openai_responses/history.h"
#include "relay/request.h"

namespace qq::relay {

struct ResponseKeeping {
  dialects::openai_responses::StateWanted wanted;
  std::size_t past_items = 0;  // of the request's input, those that the client did not send now
  // A whole answer that waits until it is kept.
  int status = 0;
  std::string header_lines;
  std::string body;
};

// Whether `resume` has something to do.
bool may_be_stateful(const RequestState& state) noexcept;
// Looks at what the request wants of the store, and puts what it names into it, counted as a body that the
// client had sent. Errors: NotFound, InvalidRequest, PayloadTooLarge (over `limits.body_max` together),
// Saturated (no room among the bodies in flight), and the store's own.
Task<Result<>> resume(RequestState& state);

// The answer's response object as the client is to read it.
std::string told_response(const RequestState& state, std::string_view response);
// Events with the same in each response object; `events` are whole ones.
std::string told_events(const RequestState& state, std::string_view events);
// The same where one of `events` ends the stream; nothing if none does. `response` becomes the object that is
// to be kept.
std::optional<std::string> told_last_event(const RequestState& state, std::string_view events,
                                           std::string& response);
// Keeps what is to be told, with the request's input, whose body is freed. A store that fails takes no answer
// from its client: false, it is counted, and what is told from then on says `store: false`.
Task<bool> keep_response(RequestState& state, std::string response);
// What cannot be kept: it is counted, and the answer goes out as it comes, with the provider's `store:
// false`.
void give_up_keeping(RequestState& state);

}  // namespace qq::relay
