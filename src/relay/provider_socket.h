// What goes to a provider over a WebSocket: frames with masks that nobody can foretell, and those bytes of
// them that its connection did not take yet.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/task.h"
#include "net/stream.h"
#include "relay/loop_counters.h"
#include "wire/websocket.h"

namespace qq::relay {

class ProviderSocket {
 public:
  ProviderSocket(net::Stream& stream, LoopCounters& counters) noexcept
      : stream_(stream), counters_(counters) {}

  // One frame, sent as far as that goes at once. While any is pending nothing more should be said.
  void say(wire::WebsocketOpcode opcode, std::string_view payload);
  void say_close(wire::WebsocketClose code, std::string_view reason);
  [[nodiscard]] bool pending() const noexcept { return !pending_.empty(); }
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  // Until nothing is pending. `progress`: the longest that it may take nothing. Ready: all of it was sent.
  // Cancelled, or Deadline, also of the scope; and if the connection broke, Cancelled and `broken`.
  Task<net::Wake> flush(net::Scope scope, Milliseconds progress);

 private:
  wire::WebsocketMask next_mask() noexcept;
  void push();
  bool send_some();
  void drop() noexcept;

  net::Stream& stream_;
  LoopCounters& counters_;
  std::string pending_;
  std::size_t sent_ = 0;  // of it
  std::array<char, 256> masks_{};
  std::size_t masks_used_ = sizeof masks_;
  bool broken_ = false;
};

}  // namespace qq::relay
