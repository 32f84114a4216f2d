#include "relay/realtime_relay.h"

#include <array>
#include <utility>

#include "base/assert.h"
#include "dialects/openai/answer.h"
#include "relay/delivery.h"

namespace qq::relay {
namespace {

using wire::WebsocketClose;
using wire::WebsocketOpcode;
using WebsocketEvent = wire::WebsocketReader::Event;

// Messages up to this size are in no budget: a connection has two of them at most.
constexpr std::size_t kSmallMessage = 64UL * 1024;
// How long a provider is heard out behind the end, for its Close and the usage of what ran.
constexpr Milliseconds kHeardOut{900};
// And a client to take its last words.
constexpr Milliseconds kLastWords{2'000};
constexpr std::string_view kLeaving = "the gateway is shutting down";

wire::JsonLimits json_limits(const RequestState& state) {
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  return limits;
}

}  // namespace

RealtimeRelay::RealtimeRelay(RequestState& state, model::Attempt& attempt, UpstreamReply& reply)
    : state_(state),
      attempt_(attempt),
      reply_(reply),
      call_(*state.incoming.realtime),
      client_(*call_.port),
      loop_(state.services.loop),
      provider_(*reply.upgraded(), state.services.counters),
      meter_(state, attempt),
      limits_(json_limits(state)),
      shown_name_(dialects::openai::name_to_restore(call_.model, *attempt.target)),
      client_reader_(wire::WebsocketReader::From::Client, state.snapshot.limits.realtime_message_max),
      provider_reader_(wire::WebsocketReader::From::Server, state.snapshot.limits.realtime_message_max),
      stop_(loop_),
      keys_of_(state.incoming.snapshot),
      opened_(loop_.now()),
      client_heard_(opened_),
      provider_heard_(opened_),
      last_message_(opened_) {
  wake_.emplace(loop_);
  client_.watch(this);
}
void RealtimeRelay::cut() noexcept {
  end({.error = Error::gateway(ErrorKind::ShuttingDown, "the gateway is shutting down; connect again"),
       .to_client = WebsocketClose::GoingAway,
       .to_provider = WebsocketClose::GoingAway,
       .reason = std::string(kLeaving)});
}

void RealtimeRelay::end(Ending ending) {
  if (ending_) return;
  ending_ = std::move(ending);
  stop_.cancel(ErrorKind::Cancelled);
  wake_the_other();
}

void RealtimeRelay::finish_if_idle() {
  if (!finishing_ || meter_.runs() || meter_.asks()) return;
  end({.to_client = WebsocketClose::GoingAway,
       .to_provider = WebsocketClose::GoingAway,
       .reason = std::string(kLeaving)});
}

void RealtimeRelay::client_lost(Error error) {
  end({.error = std::move(error), .to_provider = WebsocketClose::GoingAway, .client_lost = true});
}

void RealtimeRelay::provider_lost(ErrorKind kind, std::string text) {
  end({.error = provider_fault(kind, std::move(text)),
       .to_client = WebsocketClose::InternalError,
       .to_provider = WebsocketClose::GoingAway,
       .reason = "the provider was lost",
       .provider_lost = kind == ErrorKind::Reset || kind == ErrorKind::StreamCut,
       .tells_error = true});
}

bool RealtimeRelay::has_room(const wire::WebsocketReader& reader, BodyBudget& budget) {
  if (!reader.in_message() || reader.held() <= kSmallMessage) return true;
  return budget.grow_to(state_.services, reader.held());
}

void RealtimeRelay::say_to_client(WebsocketOpcode opcode, std::string_view payload) {
  std::array<char, 10> head;
  const std::array<std::string_view, 2> pieces = {wire::websocket_head(opcode, payload.size(), head.data()),
                                                  payload};
  if (client_.send(pieces) == ClientPort::Taken::Gone) client_lost(client_gone());
}

Task<Result<>> RealtimeRelay::run() {
  reply_.keep();
  tasks_.spawn(from_client(*this));
  co_await from_provider();
  QQ_ASSERT(over());
  co_await tasks_.joined();
  // A hang-up that was watched for has no ending of its own yet.
  if (!ending_) client_lost(client_gone());
  co_await part();
  if (ending_->error) co_return fail(*ending_->error);
  co_return Result<>();
}

Task<void> RealtimeRelay::part() {
  parting_ = true;
  if (!ending_->client_lost) {
    if (ending_->tells_error) {
      say_to_client(WebsocketOpcode::Text,
                    dialects::openai::encode_realtime_error(*ending_->error, state_.incoming.id.text(), {}));
    }
    std::string close;
    // Who closes gets its own code back, and needs no reason.
    const bool by_client = !ending_->error && !ending_->by_provider && !finishing_;
    wire::append_websocket_close(close, ending_->to_client,
                                 by_client ? std::string_view() : std::string_view(ending_->reason));
    const std::string_view piece = close;
    client_.send({&piece, 1});
  }
  client_.closed();
  const net::Scope heard_out{loop_.now() + kHeardOut, nullptr};
  if (!ending_->provider_lost && !provider_.broken()) {
    provider_.say_close(ending_->to_provider,
                        ending_->by_provider ? std::string_view() : std::string_view(ending_->reason));
    co_await provider_.flush(heard_out, kHeardOut);
    if (!ending_->by_provider) co_await hear_provider_out(heard_out);
  }
  meter_.end(ending_->error ? *ending_->error
                            : Error::client(ErrorKind::ClientGone, "the client closed the connection"));
  if (!ending_->client_lost && client_.pending()) {
    const net::Scope last_words{loop_.now() + kLastWords, nullptr};
    Result<> flushed = co_await client_.flush(last_words);
    if (!flushed) client_.abort();
  }
  if (ending_->client_lost) client_.abort();
}

// For usage, until its Close, its end or the scope's. Nobody's taking slows it down.
Task<void> RealtimeRelay::hear_provider_out(net::Scope scope) {
  bool goes_on = hear(std::exchange(provider_held_, {}));
  int reads = 0;
  while (goes_on && loop_.now() < scope.deadline) {
    if (++reads > kReadsInTurn) {
      reads = 0;
      static_cast<void>(co_await net::sleep(loop_, scope.until(loop_.now() + Milliseconds(1))));
      continue;
    }
    const UpstreamReply::Piece piece = reply_.try_read();
    if (piece.kind == UpstreamReply::Piece::Kind::WouldBlock) {
      const net::Wake wake = co_await reply_.readable(scope);
      goes_on = wake == net::Wake::Ready;
      reads = 0;
    } else {
      goes_on = piece.kind == UpstreamReply::Piece::Kind::Bytes && hear(piece.bytes);
    }
  }
}

// Whether more may come.
bool RealtimeRelay::hear(std::string_view bytes) {
  for (;;) {
    const wire::WebsocketReader::Step step = provider_reader_.feed(bytes);
    bytes.remove_prefix(step.consumed);
    if (step.reason != nullptr || !has_room(provider_reader_, provider_budget_)) return false;
    if (!step.event) return true;
    if (step.event->kind == WebsocketEvent::Kind::Close) return false;
    if (step.event->kind == WebsocketEvent::Kind::Text)
      take_provider_message(provider_reader_.take_message());
  }
}

}  // namespace qq::relay
