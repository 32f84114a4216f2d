// How a request's body comes into `admitted.incoming.body`: within limits.body_max, counted in the budget of
// bodies in flight as it comes, and no slower than body_pace.h allows.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/task.h"
#include "downstream/admitted.h"
#include "downstream/client_writer.h"

namespace qq::downstream {

// Where it comes from.
struct BodySource {
  relay::LoopServices& services;
  net::Stream& stream;
  ClientWriter& client;
  std::string& behind;  // gets what came behind the body, of the next, pipelined request
};

// The part of the body that came with the head. `rest` is cut down to what belongs to the next request.
std::optional<Error> take_first_bytes(relay::LoopServices& services, const wire::Framing& framing,
                                      Admitted& admitted, std::string_view& rest);
// Reads the rest of it; what goes wrong is left as the refusal. Awaited at once.
Task<void> read_body(BodySource source, Admitted& admitted);

}  // namespace qq::downstream
