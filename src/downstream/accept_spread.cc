#include "downstream/accept_spread.h"

#include <algorithm>
#include <utility>

namespace qq::downstream {
namespace {

// A connection on its way to another loop is counted there already. One that never arrives is counted off
// again: its loop has stopped, and the socket closes.
class OnItsWay {
 public:
  explicit OnItsWay(std::atomic<std::int64_t>& open) noexcept : open_(&open) {}
  OnItsWay(OnItsWay&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  OnItsWay& operator=(OnItsWay&&) = delete;
  OnItsWay(const OnItsWay&) = delete;
  ~OnItsWay() {
    if (open_ != nullptr) open_->fetch_sub(1, std::memory_order_relaxed);
  }
  void arrived() noexcept { open_ = nullptr; }

 private:
  std::atomic<std::int64_t>* open_;
};

}  // namespace

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
  chosen.loop->post(
      [&chosen, handed = std::move(socket), on_its_way = OnItsWay(chosen.open), listener]() mutable {
        on_its_way.arrived();
        chosen.serve(std::move(handed), listener);
      });
}

void AcceptSpread::closed(std::size_t self) noexcept {
  loops_[self]->open.fetch_sub(1, std::memory_order_relaxed);
}

void AcceptSpread::leave(std::size_t self) noexcept {
  loops_[self]->left.store(true, std::memory_order_relaxed);
}

void AcceptSpread::note_quiet(std::size_t self, bool quiet) noexcept {
  loops_[self]->quiet.store(quiet, std::memory_order_relaxed);
}

bool AcceptSpread::all_quiet() const noexcept {
  return std::ranges::all_of(loops_,
                             [](const auto& loop) { return loop->quiet.load(std::memory_order_relaxed); });
}

std::int64_t AcceptSpread::open() const noexcept {
  std::int64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->open.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace qq::downstream
