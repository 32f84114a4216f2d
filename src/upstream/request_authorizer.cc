#include "upstream/request_authorizer.h"

#include "base/assert.h"
#include "providers/sigv4.h"
#include "upstream/hmac_lines.h"
#include "upstream/request_lines.h"

namespace qq::upstream {
namespace {

std::string signed_lines(const relay::UpstreamCall& call, WallTime now) {
  const model::Target& target = *call.target;
  const auto credential = providers::parse_aws_credential(target.signing_credential.reveal());
  QQ_ASSERT(credential.has_value());  // else the target would not sign
  const providers::RequestToSign request{.host = target.origin.authority,
                                         .path = call.path_and_query(),
                                         .content_type = call.content_type,
                                         .body_pieces = call.body_pieces,
                                         .region = target.signing_region};
  return providers::sigv4_header_lines(*credential, request, now);
}

}  // namespace

Task<Result<std::string>> RequestAuthorizer::header_lines(const relay::UpstreamCall& call,
                                                          const relay::Timers& timers, net::Scope scope) {
  switch (call.target->request_auth) {
    case model::RequestAuth::Fixed: co_return std::string();
    case model::RequestAuth::AwsSigV4: co_return signed_lines(call, loop_.wall_now());
    case model::RequestAuth::GoogleToken: {
      Result<Secret> token = co_await tokens_.token(*call.target, timers, scope);
      if (!token) co_return fail(std::move(token).error());
      std::string line = "authorization: Bearer ";
      line.append(token->reveal()).append("\r\n");
      co_return line;
    }
    case model::RequestAuth::Hmac: co_return hmac_lines(call, loop_.wall_now());
  }
  co_return fail(Error::gateway(ErrorKind::Internal, "nothing here signs requests to this target"));
}

}  // namespace qq::upstream
