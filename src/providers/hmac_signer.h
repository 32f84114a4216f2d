// Signs a request to a private back end as its description says (model/declared_adapter.h, HmacScheme): the
// string to sign is a template over the request, its HMAC goes into headers together with what its reader
// needs to make it again.
//
// Pure. Whoever sends a request whose target has RequestAuth::Hmac calls it once an attempt, when the body is
// final, and adds the lines to the head:
//
//   lines = hmac_header_lines(*target.declared->hmac, target.signing_credential, request, wall_now, nonce);
//
// Source: RFC 2104; FIPS 180-4. The common schemes differ only in what is signed and where it stands.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/time.h"
#include "model/declared_adapter.h"

namespace qq::providers {

struct RequestToHmac {
  std::string_view method = "POST";
  std::string_view host;            // as the Host header says it
  std::string_view path_and_query;  // as it goes over the wire
  std::span<const std::string_view> body_pieces;
};

// Header lines, each ending in CRLF. `nonce` must not repeat while the back end accepts the timestamp: 32 hex
// digits of randomness do, and nothing but letters and digits may be in it. `credential` is as
// `describe_target` checked it: "ID:SECRET" where the scheme has a key id, else the secret alone.
std::string hmac_header_lines(const model::HmacScheme& scheme, const Secret& credential,
                              const RequestToHmac& request, WallTime now, std::string_view nonce);

}  // namespace qq::providers
