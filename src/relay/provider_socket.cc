#include "relay/provider_socket.h"

#include <cstring>
#include <span>

#include "base/random.h"
#include "net/event_loop.h"

namespace qq::relay {

wire::WebsocketMask ProviderSocket::next_mask() noexcept {
  wire::WebsocketMask mask;
  if (masks_used_ + mask.size() > masks_.size()) {
    fill_with_secure_random(std::as_writable_bytes(std::span(masks_)));
    masks_used_ = 0;
  }
  std::memcpy(mask.data(), masks_.data() + masks_used_, mask.size());
  masks_used_ += mask.size();
  return mask;
}

void ProviderSocket::say(wire::WebsocketOpcode opcode, std::string_view payload) {
  if (broken_) return;
  wire::append_websocket_frame(pending_, opcode, payload, next_mask());
  push();
}

void ProviderSocket::say_close(wire::WebsocketClose code, std::string_view reason) {
  if (broken_) return;
  wire::append_websocket_close(pending_, code, reason, next_mask());
  push();
}

void ProviderSocket::push() {
  while (!pending_.empty() && send_some()) {
  }
}

void ProviderSocket::drop() noexcept {
  std::string().swap(pending_);
  sent_ = 0;
}

// False if nothing goes any more, for now or, if it is broken, at all.
bool ProviderSocket::send_some() {
  const iovec piece = net::as_iovec(std::string_view(pending_).substr(sent_));
  const net::IoTry wrote = stream_.try_write({&piece, 1});
  if (wrote.status == net::IoStatus::Done) {
    counters_.bytes_to_upstreams.add(static_cast<std::int64_t>(wrote.bytes));
    sent_ += wrote.bytes;
    if (sent_ == pending_.size()) drop();
    return true;
  }
  broken_ = wrote.status != net::IoStatus::WouldBlock;
  if (broken_) drop();
  return false;
}

Task<net::Wake> ProviderSocket::flush(net::Scope scope, Milliseconds progress) {
  net::EventLoop& loop = stream_.loop();
  MonotonicTime until = loop.now() + progress;
  while (!pending_.empty()) {
    if (send_some()) {
      until = loop.now() + progress;
      continue;
    }
    if (broken_) co_return net::Wake::Cancelled;
    const net::Wake wake = co_await stream_.writable(scope.until(until));
    if (wake != net::Wake::Ready) co_return wake;
  }
  co_return net::Wake::Ready;
}

}  // namespace qq::relay
