// Who holds which file and batch, in this process's memory: for the demo, for tests, and for a single gateway
// whose callers need nothing after its end.
//
// Nothing waits: every call is done when its task is awaited. The loops share one lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "relay/held/holding_store.h"

namespace qq::storage {

class MemoryHoldingStore final : public relay::HoldingStore {
 public:
  explicit MemoryHoldingStore(const relay::HoldingLimits& limits) : limits_(limits) {}

  Task<Result<bool>> has_room(relay::StoreCall call) override;
  Task<Result<>> put(relay::StoreCall call, relay::Holding holding) override;
  Task<Result<>> update(relay::StoreCall call, relay::Holding holding) override;
  Task<Result<relay::Holding>> get(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<>> remove(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<relay::HoldingPage>> list(relay::StoreCall call, relay::HoldingQuery query) override;
  Task<Result<relay::Holder>> holder(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<bool>> settle(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<std::size_t>> remove_expired(relay::StoreCall call, std::size_t most) override;
  [[nodiscard]] bool may_hold_any() const noexcept override { return any_.load(std::memory_order_relaxed); }

 private:
  using Key = std::tuple<relay::HoldingKind, std::string, std::string>;      // kind, id, owner
  using Place = std::tuple<std::string, relay::HoldingKind, std::uint64_t>;  // owner, kind, number
  using Expiry = std::pair<WallTime, std::uint64_t>;                         // a moment, number
  struct Entry {
    relay::Holding holding;
    std::uint64_t number = 0;  // in the order of making
    WallTime expires{};
    bool settled = false;
  };
  using Entries = std::map<Key, Entry>;

  // Of the caller's, if it has not run out.
  Entries::iterator find(const relay::StoreCall& call, relay::HoldingKind kind, const std::string& id);
  void take_out(Entries::iterator entry);
  void replace(Entries::iterator entry, relay::Holding holding, WallTime now);
  void renew(Entries::iterator entry, WallTime now);

  const relay::HoldingLimits limits_;
  std::mutex mutex_;  // guards all below but `any_`, which is written under it
  Entries entries_;
  std::map<Place, Entries::iterator> in_order_;
  std::map<Expiry, Entries::iterator> by_expiry_;
  std::unordered_map<std::string, std::size_t> counts_;  // by owner
  std::uint64_t next_number_ = 1;
  std::atomic<bool> any_{false};
};

}  // namespace qq::storage
