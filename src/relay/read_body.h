// Reads a reply's body that is wanted whole and is not large: an error's, a token's, a picture.
#pragma once
#include <string>

#include "base/task.h"
#include "net/event_loop.h"
#include "relay/upstream_client.h"

namespace qq::relay {

struct BodyRead {
  enum class End : std::uint8_t {
    Whole,
    Full,       // there is more than was asked for
    Late,       // the scope's deadline came
    Cancelled,  // for the scope's reason
    Broken,     // `error`, `reason`
  };
  End end = End::Whole;
  std::string bytes;  // what came, whatever the end
  ErrorKind error = ErrorKind::BodyCut;
  const char* reason = "";
};

// At most `most` bytes of it.
Task<BodyRead> read_body(UpstreamReply& reply, std::size_t most, net::Scope scope);

}  // namespace qq::relay
