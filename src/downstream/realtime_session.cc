#include "downstream/realtime_session.h"

#include <array>

#include "base/assert.h"
#include "downstream/closing.h"

namespace qq::downstream {

Task<void> RealtimeSession::serve(relay::IncomingRequest incoming) {
  relay::LoopServices& services = server_.services();
  const std::shared_ptr<const relay::Snapshot> snapshot = incoming.snapshot;
  incoming.realtime->port = this;
  stream_.watch_hangup(&gone(), ErrorKind::ClientGone);
  Task<void> relaying = relay::relay_request(services, std::move(incoming), *this);
  co_await std::move(relaying);
  stream_.watch_hangup(nullptr);
  if (!accepted_ || out_.broken()) co_return;
  const net::Scope last_bytes{services.loop.now() + snapshot->timers.total, &server_.cut()};
  co_await settle(stream_, last_bytes, snapshot->timers.client_write_stall);
  // Until the client has said its Close, too, and has hung up.
  co_await linger(server_, stream_, last_bytes, snapshot->limits.body_max, BodyUnread::No);
}

void RealtimeSession::ask_to_finish() noexcept {
  if (watcher_ != nullptr) watcher_->asked_to_finish();
}

void RealtimeSession::terminate() noexcept {
  if (watcher_ != nullptr) watcher_->cut();
}

relay::ClientPort::Taken RealtimeSession::accept(std::string_view header_lines) {
  QQ_ASSERT(!begun());
  accepted_ = true;
  // From now on whoever reads sees that it leaves, behind its last words.
  stream_.watch_hangup(nullptr);
  const std::array<std::string_view, 4> head = {"HTTP/1.1 101 Switching Protocols\r\n", reply_lines_,
                                                header_lines, "\r\n"};
  return out_.send_raw(head);
}

void RealtimeSession::begin(int /*status*/, std::string /*header_lines*/) {
  QQ_ASSERT(false);
}

relay::ClientPort::Taken RealtimeSession::write(std::span<const std::string_view> /*pieces*/, Last /*last*/) {
  QQ_ASSERT(false);
}

}  // namespace qq::downstream
