// Fewer, larger batches for streams that flow, as network cards moderate their interrupts. Waking up for one
// token costs more than relaying it, so once the events of relaxed streams follow each other closely they are
// fetched every kInterval. While they come singly they are told at once, and everything else always is:
// requests, connections, first tokens. For the files of net/ only.
#pragma once
#include "base/time.h"
#include "net/poller.h"

namespace qq::net {

class RelaxedEvents final : private PollTarget {
 public:
  // How late an event of a relaxed stream may be told.
  static constexpr std::chrono::microseconds kInterval{1'000};

  // Without a descriptor for the set, streams simply stay where they are.
  explicit RelaxedEvents(Poller& poller) noexcept;

  // Moves a stream in or out.
  void set_relaxed(Poller::Token token, std::uint32_t events, bool relaxed) noexcept;
  // When the loop has to look although nothing woke it.
  [[nodiscard]] MonotonicTime due() const noexcept { return due_; }
  // After each batch: dispatches what may be told now.
  void look(MonotonicTime now) noexcept;

 private:
  void on_events(std::uint32_t /*events*/) noexcept override { signalled_ = true; }
  // Whether an event wakes the loop; otherwise it looks by itself when it is due.
  void set_wakes(bool wakes) noexcept;

  Poller& poller_;
  Poller::Token token_;  // of the relaxed set in the main one
  MonotonicTime due_ = kNever;
  MonotonicTime last_{};  // when events were last there
  bool wakes_ = true;
  bool signalled_ = false;
};

}  // namespace qq::net
