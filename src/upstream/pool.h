// Idle connections to providers, by origin. One pool per loop; newest first, so that few stay warm and the
// rest age out. Stale ones (hung up, or with unasked bytes) are dropped before reuse, and the oldest before a
// connection fails for want of a descriptor.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_hash.h"
#include "net/event_loop.h"
#include "relay/loop_counters.h"

namespace qq::upstream {

struct PoolLimits {
  std::size_t idle_max_count = 4096;  // of all origins; beyond it the oldest go
  Milliseconds idle_max{55'000};      // below the 60 s after which common load balancers close silently
};

class Pool {
 public:
  Pool(net::EventLoop& loop, relay::LoopCounters& counters, PoolLimits limits = {});
  ~Pool();

  // The freshest usable idle connection, or null.
  std::unique_ptr<net::Stream> take(std::string_view pool_key) noexcept;
  void give_back(std::string_view pool_key, std::unique_ptr<net::Stream> stream);
  // How many are known: those without an idle connection are forgotten within a second.
  [[nodiscard]] std::size_t origins() const noexcept { return idle_.size(); }
  // The `count` that have been idle for longest, of whatever origin. Whether there was any.
  bool drop_oldest(std::size_t count);
  void clear() noexcept;

 private:
  struct Idle {
    std::unique_ptr<net::Stream> stream;
    MonotonicTime since;
  };
  struct SweepTimer : net::Timer {
    explicit SweepTimer(Pool& owner) noexcept;
    Pool& pool;
  };
  using ByOrigin = std::unordered_map<std::string, std::vector<Idle>, StringHash, std::equal_to<>>;
  void sweep() noexcept;
  void dropped(std::size_t count) noexcept;  // for the counts
  // An origin's; null if none was given back yet.
  std::vector<Idle>* idle_at(std::string_view pool_key) noexcept;

  net::EventLoop& loop_;
  relay::LoopCounters& counters_;
  PoolLimits limits_;
  ByOrigin idle_;
  std::size_t count_ = 0;                   // of all origins
  ByOrigin::value_type* newest_ = nullptr;  // asked for last: most loops talk to one origin for a while
  SweepTimer sweep_timer_;
};

}  // namespace qq::upstream
