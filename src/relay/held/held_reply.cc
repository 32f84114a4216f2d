#include "relay/held/held_reply.h"

#include "relay/delivery.h"
#include "relay/held/held_exchange.h"
#include "relay/shown_word.h"

namespace qq::relay {
namespace {

using HeldPiece = UpstreamReply::Piece;

// Taken while the head is there.
std::string content_lines(const RequestState& state, const UpstreamReply& reply) {
  const model::Target& target = *state.attempts.back().target;
  const wire::Fields& fields = reply.head().fields;
  const std::string_view type = fields.find("content-type").value_or(std::string_view());
  const bool shows_type = !type.empty() && may_be_shown(type, target);
  std::string lines = held_header_lines(state, shows_type ? type : "application/octet-stream");
  const auto disposition = fields.find("content-disposition");
  if (disposition && may_be_shown(*disposition, target)) {
    lines.append("content-disposition: ").append(*disposition).append("\r\n");
  }
  return lines;
}

Task<Result<>> pass_content(RequestState& state, UpstreamReply& reply, std::string lines) {
  const Timers& timers = state.snapshot.timers;
  for (bool last = false; !last;) {
    const HeldPiece piece = reply.try_read();
    if (piece.kind == HeldPiece::Kind::WouldBlock) {
      const net::Scope waiting = state.scope().until(state.services.loop.now() + timers.event_gap);
      const MonotonicTime from = state.services.loop.precise_now();
      const net::Wake wake = co_await reply.readable(waiting);
      QQ_CO_CHECK(after_wait(state, wake, waiting, ErrorKind::EventGapTimeout, from));
      continue;
    }
    if (piece.kind == HeldPiece::Kind::Failed) {
      co_return fail(Error::upstream(piece.error, AttemptPhase::ReplyBegun, piece.reason));
    }
    last = piece.last || piece.kind == HeldPiece::Kind::End;
    if (piece.bytes.empty() && !last) continue;
    ClientPort::Taken taken = ClientPort::Taken::All;
    if (state.client.begun()) {
      taken = state.client.write({&piece.bytes, 1}, last ? ClientPort::Last::Yes : ClientPort::Last::No);
    } else if (last) {
      taken = state.client.reply(200, lines, {&piece.bytes, 1});
    } else {
      state.client.begin(200, lines);
      taken = state.client.write({&piece.bytes, 1}, ClientPort::Last::No);
    }
    if (taken != ClientPort::Taken::All) QQ_CO_CHECK(co_await taken_by_client(state, taken));
  }
  co_return Result<>();
}

}  // namespace

std::string held_header_lines(const RequestState& state, std::string_view content_type) {
  const std::string_view id = state.incoming.id.text();
  std::string lines = "content-type: ";
  lines.append(content_type).append("\r\nx-request-id: ").append(id).append("\r\n");
  if (model::dialect_of(state.incoming.endpoint) == model::Dialect::Anthropic) {
    lines.append("request-id: ").append(id).append("\r\n");
  }
  return lines;
}

Task<Result<>> relay_content(RequestState& state, UpstreamReply& reply) {
  std::string lines = content_lines(state, reply);
  Result<> passed = co_await pass_content(state, reply, std::move(lines));
  note_held_end(state, passed ? nullptr : &passed.error());
  // No terminating chunk: the client must not take this for all of it, unless it is.
  if (!passed && state.client.begun() && !state.client.complete()) state.client.abort();
  co_return passed;
}

}  // namespace qq::relay
