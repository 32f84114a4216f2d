#include "storage/memory/memory_response_store.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/assert.h"

namespace qq::storage {
namespace {

using relay::ConversationItem;
using relay::StoreCall;

// As exact as a file keeps it.
WallTime in_milliseconds(WallTime time) noexcept {
  return std::chrono::floor<Milliseconds>(time);
}

std::vector<std::shared_ptr<const ConversationItem>> shared(std::vector<ConversationItem> items) {
  std::vector<std::shared_ptr<const ConversationItem>> all;
  all.reserve(items.size());
  for (ConversationItem& item : items) {
    all.push_back(std::make_shared<const ConversationItem>(std::move(item)));
  }
  return all;
}

std::size_t bytes_of_all(const std::vector<std::shared_ptr<const ConversationItem>>& items) noexcept {
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += relay::bytes_of(*item);
  return bytes;
}

}  // namespace

Task<Result<>> MemoryResponseStore::put(StoreCall call, relay::StoredResponse response) {
  std::vector<ConversationItem> no_turn;
  co_return co_await put_turn(std::move(call), std::move(response), std::move(no_turn));
}

Task<Result<>> MemoryResponseStore::put_turn(StoreCall call, relay::StoredResponse response,
                                             std::vector<ConversationItem> turn) {
  const WallTime now = in_milliseconds(call.now);
  auto entry = std::make_unique<Entry>();
  entry->kind = Kind::Response;
  entry->id = response.id;
  entry->bytes = relay::bytes_of(response);
  if (entry->bytes > limits_.entry_bytes_max) {
    co_return fail(relay::entry_too_large(entry->bytes, limits_.entry_bytes_max));
  }
  response.created = in_milliseconds(response.created);
  response.expires = now + limits_.ttl;
  const std::string conversation_id = response.conversation_id;
  entry->response = std::make_shared<const relay::StoredResponse>(std::move(response));
  auto items = shared(std::move(turn));

  Removed removed;
  const std::lock_guard lock(mutex_);
  Entry* conversation = nullptr;
  if (!items.empty()) {
    QQ_CO_TRY(conversation, find_conversation(call, conversation_id));
    QQ_CO_CHECK(accepts(*conversation, items));
    append(*conversation, std::move(items), now);
  }
  Entry& made = insert(call.owner, std::move(entry), now, removed);
  make_room(*made.owner, &made, conversation, now, removed);
  co_return Result<>();
}

Task<Result<std::shared_ptr<const relay::StoredResponse>>> MemoryResponseStore::get(StoreCall call,
                                                                                    std::string id) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(call.owner, Kind::Response, id, call.now);
  if (entry == nullptr) co_return fail(relay::response_not_found(id));
  co_return entry->response;
}

Task<Result<std::shared_ptr<const relay::StoredResponse>>> MemoryResponseStore::get_with_item(
    StoreCall call, std::string item_id) {
  const WallTime now = in_milliseconds(call.now);
  const std::lock_guard lock(mutex_);
  if (const auto own = owners_.find(call.owner); own != owners_.end()) {
    const std::set<ItemOf>& items = own->second.items;
    auto place = items.upper_bound({item_id, std::numeric_limits<std::uint64_t>::max()});
    while (place != items.begin() && (--place)->id == item_id) {
      if (place->entry->expires > now) co_return place->entry->response;
    }
  }
  co_return fail(relay::item_not_found(item_id));
}

Task<Result<>> MemoryResponseStore::remove(StoreCall call, std::string id) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  Entry* const entry = find(call.owner, Kind::Response, id, call.now);
  if (entry == nullptr) co_return fail(relay::response_not_found(id));
  take_out(*entry, removed);
  co_return Result<>();
}

Task<Result<>> MemoryResponseStore::create_conversation(StoreCall call, relay::Conversation conversation,
                                                        std::vector<ConversationItem> items) {
  const WallTime now = in_milliseconds(call.now);
  auto entry = std::make_unique<Entry>();
  entry->kind = Kind::Conversation;
  entry->id = conversation.id;
  entry->bytes = relay::bytes_of(conversation);
  conversation.created = in_milliseconds(conversation.created);
  entry->conversation = std::move(conversation);
  const std::size_t bytes = entry->bytes + relay::bytes_of(items);
  if (bytes > limits_.entry_bytes_max) co_return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  auto first = shared(std::move(items));

  Removed removed;
  const std::lock_guard lock(mutex_);
  if (find(call.owner, Kind::Conversation, entry->id, call.now) != nullptr) {
    co_return fail(relay::id_taken(entry->id));
  }
  QQ_CO_CHECK(accepts(*entry, first));
  Entry& made = insert(call.owner, std::move(entry), now, removed);
  append(made, std::move(first), now);
  make_room(*made.owner, &made, nullptr, now, removed);
  co_return Result<>();
}

Task<Result<relay::Conversation>> MemoryResponseStore::conversation(StoreCall call, std::string id) {
  const std::lock_guard lock(mutex_);
  QQ_CO_TRY(const Entry* const entry, find_conversation(call, id));
  relay::Conversation conversation = entry->conversation;
  conversation.expires = entry->expires;
  co_return conversation;
}

Task<Result<relay::Conversation>> MemoryResponseStore::set_metadata(StoreCall call, std::string id,
                                                                    std::string metadata) {
  const WallTime now = in_milliseconds(call.now);
  Removed removed;
  const std::lock_guard lock(mutex_);
  QQ_CO_TRY(Entry* const entry, find_conversation(call, id));
  const std::size_t bytes = entry->bytes - entry->conversation.metadata.size() + metadata.size();
  if (bytes > limits_.entry_bytes_max) co_return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  entry->conversation.metadata = std::move(metadata);
  change(*entry, bytes, now);
  make_room(*entry->owner, entry, nullptr, now, removed);
  relay::Conversation conversation = entry->conversation;
  conversation.expires = entry->expires;
  co_return conversation;
}

Task<Result<>> MemoryResponseStore::remove_conversation(StoreCall call, std::string id) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  QQ_CO_TRY(Entry* const entry, find_conversation(call, id));
  take_out(*entry, removed);
  co_return Result<>();
}

Task<Result<>> MemoryResponseStore::append_items(StoreCall call, std::string conversation,
                                                 std::vector<ConversationItem> items) {
  const WallTime now = in_milliseconds(call.now);
  auto added = shared(std::move(items));
  Removed removed;
  const std::lock_guard lock(mutex_);
  QQ_CO_TRY(Entry* const entry, find_conversation(call, conversation));
  QQ_CO_CHECK(accepts(*entry, added));
  append(*entry, std::move(added), now);
  make_room(*entry->owner, entry, nullptr, now, removed);
  co_return Result<>();
}

Task<Result<relay::ItemPage>> MemoryResponseStore::list_items(StoreCall call, std::string conversation,
                                                              relay::ItemQuery query) {
  std::vector<SharedItem> items;
  relay::ItemPage page;
  {
    const std::lock_guard lock(mutex_);
    QQ_CO_TRY(const Entry* const entry, find_conversation(call, conversation));
    auto after = entry->items.end();
    if (!query.after.empty()) {
      const auto place = entry->places.find(query.after);
      if (place == entry->places.end()) co_return fail(relay::item_not_found(query.after));
      after = entry->items.find(place->second);
    }
    const auto take = [&](auto from, auto to) {
      for (; from != to && items.size() < query.limit; ++from) items.push_back(from->second);
      page.has_more = from != to;
    };
    const bool begins = after == entry->items.end();
    if (query.order == relay::ItemQuery::Order::OldestFirst) {
      take(begins ? entry->items.begin() : std::next(after), entry->items.end());
    } else {
      // A reverse iterator made of `after` begins before it.
      take(std::make_reverse_iterator(after), entry->items.rend());
    }
  }
  page.items.reserve(items.size());
  for (const SharedItem& item : items) page.items.push_back(*item);
  co_return page;
}

Task<Result<ConversationItem>> MemoryResponseStore::item(StoreCall call, std::string conversation,
                                                         std::string id) {
  SharedItem found;
  {
    const std::lock_guard lock(mutex_);
    QQ_CO_TRY(const Entry* const entry, find_conversation(call, conversation));
    const auto place = entry->places.find(id);
    if (place == entry->places.end()) co_return fail(relay::item_not_found(id));
    found = entry->items.at(place->second);
  }
  co_return *found;
}

Task<Result<relay::Conversation>> MemoryResponseStore::remove_item(StoreCall call, std::string conversation,
                                                                   std::string id) {
  SharedItem removed;
  const std::lock_guard lock(mutex_);
  QQ_CO_TRY(Entry* const entry, find_conversation(call, conversation));
  const auto place = entry->places.find(id);
  if (place == entry->places.end()) co_return fail(relay::item_not_found(id));
  const std::uint64_t number = place->second;
  entry->places.erase(place);
  removed = std::move(entry->items.at(number));
  entry->items.erase(number);
  change(*entry, entry->bytes - relay::bytes_of(*removed), in_milliseconds(call.now));
  relay::Conversation left = entry->conversation;
  left.expires = entry->expires;
  co_return left;
}

Task<Result<std::size_t>> MemoryResponseStore::remove_expired(StoreCall call, std::size_t most) {
  const WallTime now = in_milliseconds(call.now);
  Removed removed;
  const std::lock_guard lock(mutex_);
  while (removed.size() < most && !by_expiry_.empty() && by_expiry_.begin()->first.first <= now) {
    take_out(*by_expiry_.begin()->second, removed);
  }
  co_return removed.size();
}

MemoryResponseStore::Entry* MemoryResponseStore::find(std::string_view owner, Kind kind,
                                                      const std::string& id, WallTime now) {
  const auto own = owners_.find(owner);
  if (own == owners_.end()) return nullptr;
  const auto found = own->second.entries.find({kind, id});
  if (found == own->second.entries.end() || found->second->expires <= in_milliseconds(now)) return nullptr;
  return found->second.get();
}

Result<MemoryResponseStore::Entry*> MemoryResponseStore::find_conversation(const StoreCall& call,
                                                                           const std::string& id) {
  Entry* const entry = find(call.owner, Kind::Conversation, id, call.now);
  if (entry == nullptr) return fail(relay::conversation_not_found(id));
  return entry;
}

Result<> MemoryResponseStore::accepts(const Entry& there, const std::vector<SharedItem>& items) const {
  const std::size_t bytes = there.bytes + bytes_of_all(items);
  if (bytes > limits_.entry_bytes_max) return fail(relay::entry_too_large(bytes, limits_.entry_bytes_max));
  std::unordered_set<std::string_view> fresh;
  for (const SharedItem& item : items) {
    if (there.places.contains(item->id) || !fresh.insert(item->id).second)
      return fail(relay::id_taken(item->id));
  }
  return {};
}

void MemoryResponseStore::append(Entry& entry, std::vector<SharedItem> items, WallTime now) {
  const std::size_t bytes = entry.bytes + bytes_of_all(items);
  for (SharedItem& item : items) {
    entry.places.emplace(item->id, next_number_);
    entry.items.emplace_hint(entry.items.end(), next_number_++, std::move(item));
  }
  change(entry, bytes, now);
}

MemoryResponseStore::Entry& MemoryResponseStore::insert(const std::string& name, std::unique_ptr<Entry> entry,
                                                        WallTime now, Removed& removed) {
  const auto [own, fresh] = owners_.try_emplace(name);
  Owner& owner = own->second;
  if (fresh) {
    owner.name = name;
    by_bytes_.insert(&owner);
  }
  std::unique_ptr<Entry>& place = owner.entries[{entry->kind, entry->id}];
  // The same owner's older one must not take the owner away with it.
  std::unique_ptr<Entry> older = std::exchange(place, std::move(entry));
  Entry& made = *place;
  made.owner = &owner;
  made.number = next_number_++;
  made.changed = now;
  made.expires = now + limits_.ttl;
  owner.by_age.emplace(Age(made.changed, made.number), &made);
  by_expiry_.emplace(Age(made.expires, made.number), &made);
  if (made.response) {
    for (const std::string& id : made.response->item_ids) owner.items.insert({id, made.number, &made});
  }
  std::size_t bytes = owner.bytes + made.bytes;
  if (older) {
    forget_items(*older);
    bytes -= older->bytes;
    owner.by_age.erase({older->changed, older->number});
    by_expiry_.erase({older->expires, older->number});
    removed.push_back(std::move(older));
  }
  resize(owner, bytes);
  return made;
}

void MemoryResponseStore::forget_items(Entry& entry) noexcept {
  if (!entry.response) return;
  for (const std::string& id : entry.response->item_ids) entry.owner->items.erase({id, entry.number, &entry});
}

void MemoryResponseStore::take_out(Entry& entry, Removed& removed) {
  Owner& owner = *entry.owner;
  forget_items(entry);
  owner.by_age.erase({entry.changed, entry.number});
  by_expiry_.erase({entry.expires, entry.number});
  resize(owner, owner.bytes - entry.bytes);
  const auto place = owner.entries.find({entry.kind, entry.id});
  removed.push_back(std::move(place->second));
  owner.entries.erase(place);
  if (!owner.entries.empty()) return;
  by_bytes_.erase(&owner);
  owners_.erase(owners_.find(owner.name));
}

void MemoryResponseStore::change(Entry& entry, std::size_t bytes, WallTime now) {
  Owner& owner = *entry.owner;
  owner.by_age.erase({entry.changed, entry.number});
  by_expiry_.erase({entry.expires, entry.number});
  entry.changed = now;
  entry.expires = now + limits_.ttl;
  owner.by_age.emplace(Age(entry.changed, entry.number), &entry);
  by_expiry_.emplace(Age(entry.expires, entry.number), &entry);
  resize(owner, owner.bytes - entry.bytes + bytes);
  entry.bytes = bytes;
}

void MemoryResponseStore::resize(Owner& owner, std::size_t bytes) {
  by_bytes_.erase(&owner);
  bytes_ += bytes - owner.bytes;
  owner.bytes = bytes;
  by_bytes_.insert(&owner);
}

void MemoryResponseStore::make_room(Owner& owner, const Entry* keep, const Entry* keep_too, WallTime now,
                                    Removed& removed) {
  const auto oldest_of = [&](const Owner& whose) -> Entry* {
    for (const auto& [age, entry] : whose.by_age) {
      if (entry != keep && entry != keep_too) return entry;
    }
    return nullptr;
  };
  while (owner.bytes > limits_.owner_bytes_max || owner.entries.size() > limits_.owner_entries_max) {
    Entry* const oldest = oldest_of(owner);
    QQ_ASSERT(oldest != nullptr);  // what is kept fits
    take_out(*oldest, removed);
  }
  while (bytes_ > limits_.total_bytes_max) {
    Entry* victim = nullptr;
    if (const auto first = by_expiry_.begin(); first->first.first <= now) {
      victim = first->second;  // not what is kept, which has just been changed
    }
    // If the one with most has only what is kept, it is the turn of the next one.
    for (auto most = by_bytes_.begin(); victim == nullptr && most != by_bytes_.end(); ++most) {
      victim = oldest_of(**most);
    }
    QQ_ASSERT(victim != nullptr);  // what is kept fits
    take_out(*victim, removed);
  }
}

}  // namespace qq::storage
