#include "upstream/hmac_lines.h"

#include "base/assert.h"
#include "base/hex.h"
#include "base/random.h"
#include "providers/hmac_signer.h"
#include "upstream/request_lines.h"

namespace qq::upstream {
namespace {

// 32 hexadecimal digits.
std::string make_nonce() {
  std::array<std::byte, 16> bytes{};
  fill_with_secure_random(bytes);
  return to_hex(bytes);
}

}  // namespace

std::string hmac_lines(const relay::UpstreamCall& call, WallTime now) {
  const model::Target& target = *call.target;
  QQ_ASSERT(target.declared && target.declared->hmac);  // else the target would not sign
  const providers::RequestToHmac request{.method = method_word(call.method),
                                         .host = target.origin.authority,
                                         .path_and_query = call.path_and_query(),
                                         .body_pieces = call.body_pieces};
  return providers::hmac_header_lines(*target.declared->hmac, target.signing_credential, request, now,
                                      make_nonce());
}

}  // namespace qq::upstream
