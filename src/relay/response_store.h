// The port to what the gateway keeps for OpenAI's stateful responses: answers, which later requests name in
// `previous_response_id`, and conversations. Implemented by storage/memory and storage/sqlite; one suite,
// storage/response_store_contract_test.cc, tells what both promise.
//
//   const StoreCall call(loop, key.owner, loop.wall_now(), scope);
//   auto kept = co_await store.get(call, wanted.previous_response_id);       // before the request is planned
//   if (!kept) ...                                                           // NotFound, or the store failed
//   ... dialects/openai_responses/history.h makes of (*kept)->input and (*kept)->response the whole request
//   ... the answer is complete
//   co_await store.put(call_without_client, entry);             // before it is told as completed
//
// Every entry stands alone: `input` holds all that the model was given, not only the last turn. So an earlier
// answer may be deleted, run out or be pushed out, and its successors still work, at the price that a
// conversation of n turns takes space in n². (A conversation object holds each item once.)
//
// Owners are apart from each other: what another owner has is answered like what does not exist, and the same
// id may stand under several owners.
//
// What runs out: an answer `limits.ttl` after it was put, a conversation as long after its last change (at
// OpenAI's it never does). From then on it does not exist, and `remove_expired` frees its room.
//
// What does not fit: an entry over `entry_bytes_max` is refused with PayloadTooLarge and nothing changes.
// Else room is made: over `owner_bytes_max` or `owner_entries_max` the owner's own oldest entries go (by
// their last change; of one moment those made first); over `total_bytes_max` first what has run out, then the
// oldest entries of whoever has most. What was just written never goes.
//
// How waits end: store_call.h. `put` should not wait under the client's cancellation: the answer of a client
// that has left was still paid for.
//
// Other errors, for all calls: Saturated (too many calls wait, or the disk is full; nothing was changed),
// ShuttingDown, Internal (the file is damaged, I/O failed). They are told to callers: none of their texts
// holds an owner, any content or a file's path.
//
// Threading: any loop may call; a coroutine is resumed on the loop that called. The store outlives every
// coroutine that waits in it; loops may end before the store, once none of theirs does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "base/time.h"
#include "relay/response_storage.h"
#include "relay/store_call.h"

namespace qq::relay {

struct StoredResponse {
  std::string id;
  WallTime created{};  // as the response object says; kept in milliseconds
  WallTime expires{};  // set by the store
  std::string model;
  std::string response;         // the response object as the client read it, JSON
  std::string input;            // an array of all items the model was given, JSON
  std::string previous_id;      // empty: none
  std::string conversation_id;  // empty: none
  // Of the items that `response` has in its output, for `get_with_item`; not given back.
  std::vector<std::string> item_ids;
};

struct Conversation {
  std::string id;
  WallTime created{};
  WallTime expires{};    // set by the store
  std::string metadata;  // an object, JSON
};

struct ConversationItem {
  std::string id;    // unique in its conversation
  std::string json;  // the item, an object with this id
  bool operator==(const ConversationItem&) const = default;
};

// Which items of a conversation, in what order.
struct ItemQuery {
  enum class Order : std::uint8_t { OldestFirst, NewestFirst };
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::string after;  // begin behind the item with this id; empty: at the beginning
  std::size_t limit = kAll;
  Order order = Order::OldestFirst;
};

struct ItemPage {
  std::vector<ConversationItem> items;
  bool has_more = false;
};

class ResponseStore {
 public:
  virtual ~ResponseStore() = default;

  // Keeps an answer; one with the same id is replaced. Errors: PayloadTooLarge.
  virtual Task<Result<>> put(StoreCall call, StoredResponse response) = 0;
  // Keeps an answer of a conversation and appends the turn to that, both or neither: the request's own input
  // items, then the answer's. Errors: PayloadTooLarge, NotFound (the conversation), InvalidRequest (an item's
  // id is there already).
  virtual Task<Result<>> put_turn(StoreCall call, StoredResponse response,
                                  std::vector<ConversationItem> turn) = 0;
  // Errors of this and all below: NotFound, in OpenAI's words.
  virtual Task<Result<std::shared_ptr<const StoredResponse>>> get(StoreCall call, std::string id) = 0;
  // The answer that has this item in its output; of several the one that was put last. Its `input` may be
  // left out.
  virtual Task<Result<std::shared_ptr<const StoredResponse>>> get_with_item(StoreCall call,
                                                                            std::string item_id) = 0;
  virtual Task<Result<>> remove(StoreCall call, std::string id) = 0;

  // A conversation with its first items. Errors: PayloadTooLarge, InvalidRequest (an id that is there).
  virtual Task<Result<>> create_conversation(StoreCall call, Conversation conversation,
                                             std::vector<ConversationItem> items) = 0;
  virtual Task<Result<Conversation>> conversation(StoreCall call, std::string id) = 0;
  // Errors: PayloadTooLarge.
  virtual Task<Result<Conversation>> set_metadata(StoreCall call, std::string id, std::string metadata) = 0;
  // With all its items; answers that were given in it stay.
  virtual Task<Result<>> remove_conversation(StoreCall call, std::string id) = 0;

  // All of them or none. Errors: PayloadTooLarge, InvalidRequest (an item's id is there already).
  virtual Task<Result<>> append_items(StoreCall call, std::string conversation,
                                      std::vector<ConversationItem> items) = 0;
  // NotFound also where `query.after` is no item of the conversation.
  virtual Task<Result<ItemPage>> list_items(StoreCall call, std::string conversation, ItemQuery query) = 0;
  virtual Task<Result<ConversationItem>> item(StoreCall call, std::string conversation, std::string id) = 0;
  // A change like any other: the conversation lives on for its ttl.
  virtual Task<Result<Conversation>> remove_item(StoreCall call, std::string conversation,
                                                 std::string id) = 0;

  // Frees the room of at most `most` entries of any owner that had run out by `call.now`, those first that
  // ran out first; `call.owner` means nothing. How many it were: fewer than `most` when none is left.
  virtual Task<Result<std::size_t>> remove_expired(StoreCall call, std::size_t most) = 0;

  // As in its ResponseLimits; any thread.
  [[nodiscard]] virtual std::size_t entry_bytes_max() const noexcept = 0;
};

// --- For implementations, so that they count and refuse alike ---

// What an entry takes: its texts, and what a row and its places in indexes take beside them (a guess).
[[nodiscard]] std::size_t bytes_of(const StoredResponse& response) noexcept;
[[nodiscard]] std::size_t bytes_of(const Conversation& conversation) noexcept;  // without items
[[nodiscard]] std::size_t bytes_of(const ConversationItem& item) noexcept;
[[nodiscard]] std::size_t bytes_of(const std::vector<ConversationItem>& items) noexcept;

[[nodiscard]] Error response_not_found(std::string_view id);
[[nodiscard]] Error conversation_not_found(std::string_view id);
[[nodiscard]] Error item_not_found(std::string_view id);
[[nodiscard]] Error id_taken(std::string_view id);
[[nodiscard]] Error entry_too_large(std::size_t bytes, std::size_t most);

}  // namespace qq::relay
