// Answers and conversations in this process's memory, gone with it: for the demo, for tests, and for a single
// gateway whose restarts may forget.
//
// Nothing waits: every call is done when its task is awaited. The loops share one lock; under it texts are
// moved and pointers copied, but no long text is copied or freed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "relay/response_store.h"

namespace qq::storage {

class MemoryResponseStore final : public relay::ResponseStore {
 public:
  explicit MemoryResponseStore(const relay::ResponseLimits& limits) : limits_(limits) {}

  Task<Result<>> put(relay::StoreCall call, relay::StoredResponse response) override;
  Task<Result<>> put_turn(relay::StoreCall call, relay::StoredResponse response,
                          std::vector<relay::ConversationItem> turn) override;
  Task<Result<std::shared_ptr<const relay::StoredResponse>>> get(relay::StoreCall call,
                                                                 std::string id) override;
  Task<Result<std::shared_ptr<const relay::StoredResponse>>> get_with_item(relay::StoreCall call,
                                                                           std::string item_id) override;
  Task<Result<>> remove(relay::StoreCall call, std::string id) override;
  Task<Result<>> create_conversation(relay::StoreCall call, relay::Conversation conversation,
                                     std::vector<relay::ConversationItem> items) override;
  Task<Result<relay::Conversation>> conversation(relay::StoreCall call, std::string id) override;
  Task<Result<relay::Conversation>> set_metadata(relay::StoreCall call, std::string id,
                                                 std::string metadata) override;
  Task<Result<>> remove_conversation(relay::StoreCall call, std::string id) override;
  Task<Result<>> append_items(relay::StoreCall call, std::string conversation,
                              std::vector<relay::ConversationItem> items) override;
  Task<Result<relay::ItemPage>> list_items(relay::StoreCall call, std::string conversation,
                                           relay::ItemQuery query) override;
  Task<Result<relay::ConversationItem>> item(relay::StoreCall call, std::string conversation,
                                             std::string id) override;
  Task<Result<relay::Conversation>> remove_item(relay::StoreCall call, std::string conversation,
                                                std::string id) override;
  Task<Result<std::size_t>> remove_expired(relay::StoreCall call, std::size_t most) override;
  [[nodiscard]] std::size_t entry_bytes_max() const noexcept override { return limits_.entry_bytes_max; }

 private:
  enum class Kind : std::uint8_t { Response, Conversation };
  using SharedItem = std::shared_ptr<const relay::ConversationItem>;
  using Age = std::pair<WallTime, std::uint64_t>;  // a moment, then the entry's number
  struct Owner;
  struct Entry;
  // An item of an answer, by the number of its entry. The id is a view into that.
  struct ItemOf {
    std::string_view id;
    std::uint64_t number = 0;
    Entry* entry = nullptr;
    auto operator<=>(const ItemOf& other) const noexcept {
      return std::tie(id, number) <=> std::tie(other.id, other.number);
    }
    bool operator==(const ItemOf& other) const noexcept { return number == other.number && id == other.id; }
  };
  struct Entry {
    Kind kind = Kind::Response;
    std::string id;
    std::size_t bytes = 0;
    std::shared_ptr<const relay::StoredResponse> response;       // of an answer
    relay::Conversation conversation;                            // of a conversation, as the two below
    std::map<std::uint64_t, SharedItem> items;                   // in their order
    std::unordered_map<std::string_view, std::uint64_t> places;  // of items, by id
    // Set when it is put in:
    Owner* owner = nullptr;
    std::uint64_t number = 0;  // in the order of making
    WallTime changed{};
    WallTime expires{};
  };
  struct Owner {
    std::string name;
    std::size_t bytes = 0;
    std::map<std::pair<Kind, std::string>, std::unique_ptr<Entry>> entries;
    std::map<Age, Entry*> by_age;
    std::set<ItemOf> items;  // of answers
  };
  struct MostFirst {
    bool operator()(const Owner* a, const Owner* b) const noexcept {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a->name < b->name;
    }
  };
  // What was taken out, to be freed when the lock has been given back.
  using Removed = std::vector<std::unique_ptr<Entry>>;

  Entry* find(std::string_view owner, Kind kind, const std::string& id, WallTime now);
  Result<Entry*> find_conversation(const relay::StoreCall& call, const std::string& id);
  // Whether these items may be added to a conversation that has `there` so far.
  Result<> accepts(const Entry& there, const std::vector<SharedItem>& items) const;
  void append(Entry& entry, std::vector<SharedItem> items, WallTime now);
  Entry& insert(const std::string& owner, std::unique_ptr<Entry> entry, WallTime now, Removed& removed);
  void take_out(Entry& entry, Removed& removed);
  static void forget_items(Entry& entry) noexcept;
  void change(Entry& entry, std::size_t bytes, WallTime now);
  void resize(Owner& owner, std::size_t bytes);
  void make_room(Owner& owner, const Entry* keep, const Entry* keep_too, WallTime now, Removed& removed);

  const relay::ResponseLimits limits_;
  std::mutex mutex_;  // guards all below
  std::map<std::string, Owner, std::less<>> owners_;
  std::set<Owner*, MostFirst> by_bytes_;
  std::map<Age, Entry*> by_expiry_;
  std::size_t bytes_ = 0;
  std::uint64_t next_number_ = 1;  // of entries and items
};

}  // namespace qq::storage
