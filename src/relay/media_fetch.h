// Pictures, sounds and files that a request names by URL, for targets that take bytes only: fetched by the
// gateway through the egress guard, like everything that leaves it, and put into the request.
//
// A stranger says which address is asked, so: http and https only, public addresses only (the guard checks
// the address that is connected to, or that an outbound proxy is asked for), no redirects, no credentials, a
// limit on size (`limits.media_max`) and on time. A few of a request's are fetched at a time, and their bytes
// are in the budget of bodies as its own are. What is fetched once serves all attempts of the request.
#pragma once
#include "base/task.h"
#include "relay/request.h"

namespace qq::relay {

// Whether pictures are ever fetched for this target: it takes their bytes only.
bool may_need_media(const model::Target& target) noexcept;

// Whether the target of `attempt` cannot fetch what the request names by URL.
bool needs_media(RequestState& state, const model::Attempt& attempt);

// Errors: InvalidRequest, told to the caller with the place of the URL: what is there cannot be had.
// TotalTimeout, Saturated: there is no time left, or no room. The cancellation's reason.
Task<Result<>> fetch_media(RequestState& state, const model::Attempt& attempt);

}  // namespace qq::relay
