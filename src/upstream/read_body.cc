#include "upstream/read_body.h"

#include "relay/read_body.h"

namespace qq::upstream {

Task<Result<std::string>> read_body(relay::UpstreamReply& reply, net::Scope scope, std::size_t max) {
  using End = relay::BodyRead::End;
  relay::BodyRead body = co_await relay::read_body(reply, max, scope);
  switch (body.end) {
    case End::Whole:
    case End::Full: break;
    case End::Late:
      co_return fail(Error::upstream(ErrorKind::FirstByteTimeout, AttemptPhase::ReplyBegun,
                                     "the provider did not end its answer in time"));
    case End::Broken: co_return fail(Error::upstream(body.error, AttemptPhase::ReplyBegun, body.reason));
    case End::Cancelled: {
      Error error = net::cancelled_error(scope);
      error.phase = AttemptPhase::ReplyBegun;
      co_return fail(std::move(error));
    }
  }
  co_return std::move(body.bytes);
}

}  // namespace qq::upstream
