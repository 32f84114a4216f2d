// Spreads accepted connections over the loops by load. SO_REUSEPORT hashing alone puts 16 long-lived SDK
// connections unevenly on 2 loops one time in twenty; here the loop with the fewest gets the next one.
//
// Thread-safe: counts are atomics, the hand-over is a post to the other loop. It outlives the loops' posts.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "net/event_loop.h"

namespace qq::downstream {

class AcceptSpread {
 public:
  using Serve = std::function<void(net::AcceptedSocket, std::size_t listener)>;

  // Before the loops run: the loops' serving functions, each called on its own loop's thread.
  std::size_t add_loop(net::EventLoop& loop, Serve serve);

  // Called on loop `self` for a connection it accepted.
  void accepted(std::size_t self, net::AcceptedSocket socket, std::size_t listener);
  // A connection of loop `self` has ended.
  void closed(std::size_t self) noexcept;
  // Loop `self` takes none any more; called on it.
  void leave(std::size_t self) noexcept;
  // Whether loop `self` could do without new connections: during a drain, when it announces nothing and runs
  // no request.
  void note_quiet(std::size_t self, bool quiet) noexcept;
  // Whether each loop has said so last.
  [[nodiscard]] bool all_quiet() const noexcept;
  [[nodiscard]] std::size_t loops() const noexcept { return loops_.size(); }
  // Connections of all loops, those on their way to one included.
  [[nodiscard]] std::int64_t open() const noexcept;

 private:
  struct Loop {
    net::EventLoop* loop;
    Serve serve;
    std::atomic<std::int64_t> open{0};
    std::atomic<bool> left{false};
    std::atomic<bool> quiet{false};
  };
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace qq::downstream
