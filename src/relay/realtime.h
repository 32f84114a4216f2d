// Realtime: a client's WebSocket relayed to one of a provider's. One attempt, whose reply is the 101; up to
// it an attempt fails like any other, and only behind it the client has its own 101.
//
//   from_client    the client's messages, looked at and masked, to the provider   } one coroutine each, which
//   from_provider  the provider's, metered, to the client                         } reads on when the other
//                                                                                   side took the last one
//
// Messages are put together before they go on, pings and pongs go on as they are, and so does a Close with
// its code and reason. Who is lost without one is told to the other: a client reads an event `error` and
// 1011, a provider a Close. After the client's end the provider is heard out for a moment, for the usage of
// what ran.
//
// Timers: the provider's first event has timers.first_content, and so has what follows a `response.create`;
// while a response runs its events may be timers.event_gap apart. A client whose frames cease is asked by a
// ping after half of timers.client_idle and lost after all of it. A connection without messages ends after
// timers.realtime_idle. Messages of a client must come as bodies must. timers.total ends with the 101.
#pragma once
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// What is sent instead of a request, for a target's endpoint of this kind. `path` and `key` hold what the
// call shows.
void encode_opening(const RequestState& state, const model::Attempt& attempt, std::string& path,
                    std::string& key, UpstreamCall& call);

// A good status. Errors: of an upgrade that is none, before anything was delivered; afterwards why the
// connection ended, if it did not end as it should, which the client has been told.
Task<Result<>> relay_realtime(RequestState& state, model::Attempt& attempt, UpstreamReply& reply);

}  // namespace qq::relay
