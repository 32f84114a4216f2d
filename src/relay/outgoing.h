// What is sent to one target: the client's bytes with our fields patched, or a translation of them.
#pragma once
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "dialects/openai/request.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Holds what a call has views of.
struct Outgoing {
  std::string path{};  // these two of a WebSocket's opening
  std::string websocket_key{};
  dialects::openai::TargetBody passed{};
  dialects::EncodedRequest encoded{};
  std::string_view encoded_body{};
};

// Fills `call` for the attempt's target; `outgoing` outlives it, and neither is moved. Errors: what this
// target cannot do, in the caller's words; nothing was sent.
Result<> encode_request(RequestState& state, const model::Attempt& attempt, Outgoing& outgoing,
                        UpstreamCall& call);

}  // namespace qq::relay
