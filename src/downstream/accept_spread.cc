#include "downstream/accept_spread.h"

namespace qq::downstream {

std::size_t AcceptSpread::add_loop(net::EventLoop& loop, Serve serve) {
  auto entry = std::make_unique<Loop>();
  entry->loop = &loop;
  entry->serve = std::move(serve);
  loops_.push_back(std::move(entry));
  return loops_.size() - 1;
}

void AcceptSpread::accepted(std::size_t self, net::AcceptedSocket socket, std::size_t listener) {
  std::size_t best = self;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (loops_[i]->left.load(std::memory_order_relaxed)) continue;
    if (loops_[i]->open.load(std::memory_order_relaxed) < loops_[best]->open.load(std::memory_order_relaxed))
      best = i;
  }
  Loop& chosen = *loops_[best];
  chosen.open.fetch_add(1, std::memory_order_relaxed);
  if (best == self) {
    chosen.serve(std::move(socket), listener);
    return;
  }
  const bool posted = chosen.loop->post([&chosen, handed = std::move(socket), listener]() mutable {
    chosen.serve(std::move(handed), listener);
  });
  if (!posted)
    chosen.open.fetch_sub(1, std::memory_order_relaxed);  // that loop has stopped; the socket closes
}

void AcceptSpread::closed(std::size_t self) noexcept {
  loops_[self]->open.fetch_sub(1, std::memory_order_relaxed);
}

void AcceptSpread::leave(std::size_t self) noexcept {
  loops_[self]->left.store(true, std::memory_order_relaxed);
}

std::int64_t AcceptSpread::open() const noexcept {
  std::int64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->open.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace qq::downstream
