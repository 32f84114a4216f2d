#include "relay/read_body.h"

namespace qq::relay {

Task<BodyRead> read_body(UpstreamReply& reply, std::size_t most, net::Scope scope) {
  using Piece = UpstreamReply::Piece;
  BodyRead body;
  for (;;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Wake wake = co_await reply.readable(scope);
      if (wake == net::Wake::Ready) continue;
      body.end = wake == net::Wake::Cancelled ? BodyRead::End::Cancelled : BodyRead::End::Late;
      break;
    }
    const std::size_t room = most - body.bytes.size();
    body.bytes.append(piece.bytes.substr(0, room));
    if (piece.bytes.size() > room) {
      body.end = BodyRead::End::Full;
      break;
    }
    if (piece.kind == Piece::Kind::Failed) {
      body.end = BodyRead::End::Broken;
      body.error = piece.error;
      body.reason = piece.reason;
      break;
    }
    if (piece.last || piece.kind == Piece::Kind::End) break;
  }
  co_return body;
}

}  // namespace qq::relay
