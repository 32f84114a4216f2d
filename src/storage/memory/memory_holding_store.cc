#include "storage/memory/memory_holding_store.h"

#include <limits>

namespace qq::storage {

using relay::HoldingKind;
using relay::StoreCall;

MemoryHoldingStore::Entries::iterator MemoryHoldingStore::find(const StoreCall& call, HoldingKind kind,
                                                               const std::string& id) {
  const auto found = entries_.find(Key{kind, id, call.owner});
  return found == entries_.end() || found->second.expires <= call.now ? entries_.end() : found;
}

void MemoryHoldingStore::take_out(Entries::iterator entry) {
  const std::string& owner = std::get<2>(entry->first);
  in_order_.erase(Place{owner, std::get<0>(entry->first), entry->second.number});
  by_expiry_.erase(Expiry{entry->second.expires, entry->second.number});
  if (const auto count = counts_.find(owner); --count->second == 0) counts_.erase(count);
  entries_.erase(entry);
  any_.store(!entries_.empty(), std::memory_order_relaxed);
}

Task<Result<bool>> MemoryHoldingStore::has_room(StoreCall call) {
  const std::lock_guard lock(mutex_);
  // What has run out takes no room, whether it was swept or not.
  while (!by_expiry_.empty() && by_expiry_.begin()->first.first <= call.now) {
    take_out(by_expiry_.begin()->second);
  }
  const auto count = counts_.find(call.owner);
  co_return count == counts_.end() || count->second < limits_.owner_entries_max;
}

Task<Result<>> MemoryHoldingStore::put(StoreCall call, relay::Holding holding) {
  const WallTime now = std::chrono::floor<Milliseconds>(call.now);
  const std::lock_guard lock(mutex_);
  Key key{holding.kind, holding.id, call.owner};
  auto entry = entries_.find(key);
  if (entry != entries_.end() && entry->second.expires <= call.now) {
    take_out(entry);
    entry = entries_.end();
  }
  if (entry == entries_.end()) {
    holding.created = now;
    const std::uint64_t number = next_number_++;
    entry = entries_.emplace(std::move(key), Entry{std::move(holding), number, {}, false}).first;
    in_order_.emplace(Place{call.owner, std::get<0>(entry->first), number}, entry);
    ++counts_[call.owner];
    any_.store(true, std::memory_order_relaxed);
  } else {
    replace(entry, std::move(holding), now);
    co_return Result<>();
  }
  renew(entry, now);
  co_return Result<>();
}

void MemoryHoldingStore::renew(Entries::iterator entry, WallTime now) {
  entry->second.expires = now + limits_.ttl;
  by_expiry_.emplace(Expiry{entry->second.expires, entry->second.number}, entry);
}

void MemoryHoldingStore::replace(Entries::iterator entry, relay::Holding holding, WallTime now) {
  relay::Holding& there = entry->second.holding;
  by_expiry_.erase(Expiry{entry->second.expires, entry->second.number});
  there.account = std::move(holding.account);
  there.purpose = std::move(holding.purpose);
  if (!holding.object.empty()) there.object = std::move(holding.object);
  if (!holding.models.empty()) there.models = std::move(holding.models);
  renew(entry, now);
}

Task<Result<>> MemoryHoldingStore::update(StoreCall call, relay::Holding holding) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(call, holding.kind, holding.id);
  if (entry == entries_.end()) co_return fail(relay::holding_not_found(holding.kind, holding.id));
  replace(entry, std::move(holding), std::chrono::floor<Milliseconds>(call.now));
  co_return Result<>();
}

Task<Result<relay::Holding>> MemoryHoldingStore::get(StoreCall call, HoldingKind kind, std::string id) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(call, kind, id);
  if (entry == entries_.end()) co_return fail(relay::holding_not_found(kind, id));
  co_return entry->second.holding;
}

Task<Result<>> MemoryHoldingStore::remove(StoreCall call, HoldingKind kind, std::string id) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(call, kind, id);
  if (entry == entries_.end()) co_return fail(relay::holding_not_found(kind, id));
  take_out(entry);
  co_return Result<>();
}

Task<Result<relay::HoldingPage>> MemoryHoldingStore::list(StoreCall call, relay::HoldingQuery query) {
  const std::lock_guard lock(mutex_);
  const bool newest_first = query.order == relay::HoldingQuery::Order::NewestFirst;
  std::uint64_t number = newest_first ? std::numeric_limits<std::uint64_t>::max() : 0;
  if (!query.after.empty()) {
    const auto after = find(call, query.kind, query.after);
    if (after == entries_.end()) co_return fail(relay::holding_not_found(query.kind, query.after));
    number = after->second.number;
  }
  relay::HoldingPage page;
  // False at the end of the page.
  const auto take = [&](const Entry& entry) {
    const bool wanted =
        entry.expires > call.now && (query.purpose.empty() || query.purpose == entry.holding.purpose);
    if (!wanted) return true;
    page.has_more = page.holdings.size() == query.limit;
    if (page.has_more) return false;
    page.holdings.push_back(entry.holding);
    return true;
  };
  const auto is_own = [&](const Place& place) {
    return std::get<0>(place) == call.owner && std::get<1>(place) == query.kind;
  };
  const Place from{call.owner, query.kind, number};
  if (newest_first) {
    auto place = in_order_.lower_bound(from);
    while (place != in_order_.begin() && is_own((--place)->first) && take(place->second->second)) {
    }
  } else {
    for (auto place = in_order_.upper_bound(from);
         place != in_order_.end() && is_own(place->first) && take(place->second->second); ++place) {
    }
  }
  co_return page;
}

Task<Result<relay::Holder>> MemoryHoldingStore::holder(StoreCall call, HoldingKind kind, std::string id) {
  using Who = relay::Holder::Who;
  const std::lock_guard lock(mutex_);
  if (const auto own = find(call, kind, id); own != entries_.end()) {
    co_return relay::Holder{Who::Caller, own->second.holding.account};
  }
  for (auto entry = entries_.lower_bound(Key{kind, id, {}});
       entry != entries_.end() && std::get<0>(entry->first) == kind && std::get<1>(entry->first) == id;
       ++entry) {
    const bool is_others = std::get<2>(entry->first) != call.owner && entry->second.expires > call.now;
    if (is_others) co_return relay::Holder{Who::Others, {}};
  }
  co_return relay::Holder{};
}

Task<Result<bool>> MemoryHoldingStore::settle(StoreCall call, HoldingKind kind, std::string id) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(call, kind, id);
  co_return entry != entries_.end() && !std::exchange(entry->second.settled, true);
}

Task<Result<std::size_t>> MemoryHoldingStore::remove_expired(StoreCall call, std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::size_t removed = 0;
  while (removed < most && !by_expiry_.empty() && by_expiry_.begin()->first.first <= call.now) {
    take_out(by_expiry_.begin()->second);
    ++removed;
  }
  co_return removed;
}

}  // namespace qq::storage
