#include "upstream/read_body.h"

namespace qq::upstream {

Task<Result<std::string>> read_body(relay::UpstreamReply& reply, net::Scope scope, std::size_t max) {
  using Kind = relay::UpstreamReply::Piece::Kind;
  std::string body;
  for (;;) {
    const relay::UpstreamReply::Piece piece = reply.try_read();
    if (piece.kind == Kind::WouldBlock) {
      const net::Wake wake = co_await reply.readable(scope);
      if (wake == net::Wake::Ready) continue;
      Error error = wake == net::Wake::Cancelled
                        ? net::cancelled_error(scope)
                        : Error::upstream(ErrorKind::FirstByteTimeout, AttemptPhase::ReplyBegun,
                                          "the provider did not end its answer in time");
      error.phase = AttemptPhase::ReplyBegun;
      co_return fail(std::move(error));
    }
    if (piece.kind == Kind::Failed)
      co_return fail(Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason));
    body.append(piece.bytes.substr(0, max - body.size()));
    if (piece.kind == Kind::End || piece.last || body.size() == max) co_return body;
  }
}

}  // namespace qq::upstream
