#include "upstream/pool.h"

#include <algorithm>

namespace qq::upstream {
namespace {

// How soon a closed idle connection gives its descriptor back.
constexpr Milliseconds kSweepEvery{1'000};
// Of a full pool so many parts go one of at a time: looking for the oldest reads all of it.
constexpr std::size_t kParts = 16;

// Alive and silent. What might be readable is looked at: over TLS it may be a session ticket and no data;
// bytes, an end or an error mean that this connection is not to be used again.
bool is_usable(net::Stream& stream) noexcept {
  if (stream.hung_up()) return false;
  if (!stream.maybe_readable()) return true;
  char unasked = 0;
  return stream.try_read({&unasked, 1}).status == net::IoStatus::WouldBlock;
}

}  // namespace

Pool::SweepTimer::SweepTimer(Pool& owner) noexcept
    : net::Timer([](net::Timer& timer) noexcept { static_cast<SweepTimer&>(timer).pool.sweep(); }),
      pool(owner) {}

Pool::Pool(net::EventLoop& loop, relay::LoopCounters& counters, PoolLimits limits)
    : loop_(loop), counters_(counters), limits_(limits), sweep_timer_(*this) {}

Pool::~Pool() {
  clear();
}

std::vector<Pool::Idle>* Pool::idle_at(std::string_view pool_key) noexcept {
  if (newest_ == nullptr || newest_->first != pool_key) {
    const auto found = idle_.find(pool_key);
    if (found == idle_.end()) return nullptr;
    newest_ = &*found;
  }
  return &newest_->second;
}

std::unique_ptr<net::Stream> Pool::take(std::string_view pool_key) noexcept {
  std::vector<Idle>* const connections = idle_at(pool_key);
  while (connections != nullptr && !connections->empty()) {
    Idle idle = std::move(connections->back());
    connections->pop_back();
    --count_;
    counters_.upstream_connections_idle.add(-1);
    if (is_usable(*idle.stream) && loop_.now() - idle.since < limits_.idle_max) return std::move(idle.stream);
    counters_.upstream_connections_open.add(-1);
  }
  return nullptr;
}

void Pool::give_back(std::string_view pool_key, std::unique_ptr<net::Stream> stream) {
  if (!is_usable(*stream)) {
    counters_.upstream_connections_open.add(-1);
    return;
  }
  if (count_ >= limits_.idle_max_count) drop_oldest(std::max(count_ / kParts, std::size_t{1}));
  std::vector<Idle>* const known = idle_at(pool_key);
  std::vector<Idle>& connections = known != nullptr ? *known : idle_[std::string(pool_key)];
  ++count_;
  counters_.upstream_connections_idle.add(1);
  connections.push_back(Idle{std::move(stream), loop_.now()});
  if (!sweep_timer_.armed()) loop_.arm(sweep_timer_, loop_.now() + kSweepEvery);
}

void Pool::dropped(std::size_t count) noexcept {
  count_ -= count;
  counters_.upstream_connections_idle.add(-static_cast<std::int64_t>(count));
  counters_.upstream_connections_open.add(-static_cast<std::int64_t>(count));
}

bool Pool::drop_oldest(std::size_t count) {
  if (count_ == 0) return false;
  count = std::min(count, count_);
  std::vector<MonotonicTime> all;
  all.reserve(count_);
  for (const auto& [key, connections] : idle_) {
    for (const Idle& idle : connections) all.push_back(idle.since);
  }
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(all, last);
  for (auto& [key, connections] : idle_) {
    // The oldest stand in front; those of one moment go together.
    const auto newer =
        std::ranges::find_if(connections, [&](const Idle& idle) { return idle.since > *last; });
    dropped(static_cast<std::size_t>(newer - connections.begin()));
    connections.erase(connections.begin(), newer);
  }
  return true;
}

void Pool::sweep() noexcept {
  const MonotonicTime now = loop_.now();
  for (auto& [key, connections] : idle_) {
    dropped(std::erase_if(connections, [&](Idle& idle) {
      return !is_usable(*idle.stream) || now - idle.since >= limits_.idle_max;
    }));
  }
  newest_ = nullptr;
  std::erase_if(idle_, [](const auto& origin) { return origin.second.empty(); });
  if (!idle_.empty()) loop_.arm(sweep_timer_, now + kSweepEvery);
}

void Pool::clear() noexcept {
  if (sweep_timer_.armed()) loop_.disarm(sweep_timer_);
  dropped(count_);
  newest_ = nullptr;
  idle_.clear();
}

}  // namespace qq::upstream
