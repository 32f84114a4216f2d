// What the gateway itself says to a client, in the dialect of the endpoint that was called.
#pragma once
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "model/endpoint.h"

namespace qq::relay {

// `error`, of an attempt at `provider`, as a client may read it: why no connection could be made is told
// without the addresses and names of hosts that it speaks of, which the log keeps.
Error without_addresses(Error error, std::string_view provider);

dialects::EncodedError encode_error(model::Dialect dialect, const Error& error, std::string_view request_id);
// An error after the 200 was sent, as whole events.
void encode_stream_error(model::Endpoint endpoint, const Error& error, std::string_view request_id,
                         std::string& out);
// Keeps a waiting client alive. `array_stream`: Gemini's stream as one JSON array.
std::string_view heartbeat_of(model::Endpoint endpoint, bool array_stream) noexcept;
// The content type of a stream.
std::string_view stream_type_of(bool array_stream) noexcept;

}  // namespace qq::relay
