// The signature that a declared back end asks for (model::RequestAuth::Hmac).
#pragma once
#include <string>

#include "base/time.h"
#include "relay/upstream_client.h"

namespace qq::upstream {

// Each line with CRLF. Every call makes a nonce of its own: a back end that remembers nonces refuses one that
// comes again, so a request that is sent once more is signed anew.
std::string hmac_lines(const relay::UpstreamCall& call, WallTime now);

}  // namespace qq::upstream
