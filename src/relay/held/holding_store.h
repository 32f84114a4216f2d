// The port to what the gateway knows of files and batches: whose they are, and which account holds them.
// Implemented by storage/memory and storage/sqlite; one suite, storage/holding_store_contract_test.cc, tells
// what both promise.
//
//   has_room -> created at an account -> put -> get, then asked there; put again with what it said -> remove
//
// The objects themselves are the provider's; kept here is what it last said of each, for lists, since owners
// share its accounts and its own lists show everybody's.
//
// Owners are apart from each other: what another owner has is answered like what does not exist. The same id
// may stand under several owners; under one and the same kind it stands for what was put last.
//
// What runs out: `limits.ttl` after it was last put. From then on it does not exist, and `remove_expired`
// frees its room. What has been made at a provider is never refused or pushed out, so that it can be found:
// `owner_entries_max` is asked for before (`has_room`), and may be exceeded by what was being made at the
// same time and by the files that batches leave behind.
//
// Errors, for all calls: Saturated (too many calls wait, or the disk is full), TotalTimeout, ShuttingDown,
// Internal, the cancellation's reason (store_call.h). None of their texts holds an owner or a file's path.
//
// Threading: any loop may call; a coroutine is resumed on the loop that called. The store outlives every
// coroutine that waits in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "base/time.h"
#include "model/endpoint.h"
#include "relay/held/holding_storage.h"
#include "relay/store_call.h"

namespace qq::relay {

// The numbers are those of files that were written: never change them.
enum class HoldingKind : std::uint8_t { File = 0, Batch = 1, MessageFile = 2, MessageBatch = 3 };

constexpr model::Endpoint endpoint_of(HoldingKind kind) noexcept {
  switch (kind) {
    case HoldingKind::File: return model::Endpoint::Files;
    case HoldingKind::Batch: return model::Endpoint::Batches;
    case HoldingKind::MessageFile: return model::Endpoint::MessageFiles;
    case HoldingKind::MessageBatch: return model::Endpoint::MessageBatches;
  }
  return model::Endpoint::Files;
}

struct Holding {
  HoldingKind kind = HoldingKind::File;
  std::string id;
  std::string account;  // model::Target::account_name
  std::string purpose;  // of OpenAI's files; empty for the others
  std::string object;   // what the provider last said, JSON; empty: nothing yet
  // Of a batch's file: the gateway's names of the models in it, a JSON array. Empty: not known.
  std::string models{};
  WallTime created{};  // when it was first put, in milliseconds; set by the store
  bool operator==(const Holding&) const = default;
};

struct HoldingQuery {
  enum class Order : std::uint8_t { OldestFirst, NewestFirst };

  HoldingKind kind = HoldingKind::File;
  std::string purpose;  // empty: any
  std::string after;    // begin behind the one with this id; empty: at the beginning
  std::size_t limit = 20;
  Order order = Order::NewestFirst;  // by when they were first put
};

struct HoldingPage {
  std::vector<Holding> holdings;
  bool has_more = false;
};

// Who has an object of an id.
struct Holder {
  enum class Who : std::uint8_t { Nobody, Caller, Others };
  Who who = Who::Nobody;
  std::string account;  // of the caller's
};

class HoldingStore {
 public:
  virtual ~HoldingStore() = default;

  // Whether the owner may have one more made.
  virtual Task<Result<bool>> has_room(StoreCall call) = 0;
  // Notes an object. Of one that is there already, account, purpose, object and models are replaced (an empty
  // object or empty models replace nothing), and it lives on for the whole ttl.
  virtual Task<Result<>> put(StoreCall call, Holding holding) = 0;
  // The same for one that must be there: what was removed meanwhile does not come back. Errors: NotFound.
  virtual Task<Result<>> update(StoreCall call, Holding holding) = 0;
  // Errors: NotFound, in the words of its kind; also of the two below.
  virtual Task<Result<Holding>> get(StoreCall call, HoldingKind kind, std::string id) = 0;
  virtual Task<Result<>> remove(StoreCall call, HoldingKind kind, std::string id) = 0;
  // NotFound where `query.after` is none of the kind.
  virtual Task<Result<HoldingPage>> list(StoreCall call, HoldingQuery query) = 0;
  // The caller's own counts before others'.
  virtual Task<Result<Holder>> holder(StoreCall call, HoldingKind kind, std::string id) = 0;
  // That what a batch has used is told now: true once, however often and by whomever it is read. False too
  // for one that is not there.
  virtual Task<Result<bool>> settle(StoreCall call, HoldingKind kind, std::string id) = 0;

  // As ResponseStore::remove_expired.
  virtual Task<Result<std::size_t>> remove_expired(StoreCall call, std::size_t most) = 0;

  // False only if no owner has anything, so that requests need not be searched for ids; any thread.
  [[nodiscard]] virtual bool may_hold_any() const noexcept = 0;
};

// "No such file: file-abc". For implementations, and for ids that are never looked up.
[[nodiscard]] Error holding_not_found(HoldingKind kind, std::string_view id);

}  // namespace qq::relay
