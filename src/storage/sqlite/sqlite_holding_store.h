// Who holds which file and batch, in an SQLite file: it outlives the process, and several processes of one
// machine may share it.
//
// Two threads of its own, one that writes and one that reads, as SqliteResponseStore has them: what was put
// is found by whoever asks after `put` has returned.
#pragma once
#include <memory>
#include <string>

#include "relay/held/holding_store.h"
#include "storage/blocking_pool.h"
#include "storage/sqlite/file_troubles.h"
#include "storage/sqlite/holding_rows.h"

namespace qq::storage {

class SqliteHoldingStore final : public relay::HoldingStore {
 public:
  // Opens the file and brings its schema up to date; blocks. Errors: Config, with what is wrong with the
  // file.
  static Result<std::unique_ptr<relay::HoldingStore>> open(const std::string& path,
                                                           const relay::HoldingLimits& limits, WallTime now,
                                                           FileTroubles::Report report = {});

  Task<Result<bool>> has_room(relay::StoreCall call) override;
  Task<Result<>> put(relay::StoreCall call, relay::Holding holding) override;
  Task<Result<>> update(relay::StoreCall call, relay::Holding holding) override;
  Task<Result<relay::Holding>> get(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<>> remove(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<relay::HoldingPage>> list(relay::StoreCall call, relay::HoldingQuery query) override;
  Task<Result<relay::Holder>> holder(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<bool>> settle(relay::StoreCall call, relay::HoldingKind kind, std::string id) override;
  Task<Result<std::size_t>> remove_expired(relay::StoreCall call, std::size_t most) override;
  // Another process may put at any time.
  [[nodiscard]] bool may_hold_any() const noexcept override { return true; }

 private:
  SqliteHoldingStore(std::unique_ptr<HoldingRows> writer, std::unique_ptr<HoldingRows> reader,
                     FileTroubles::Report report);

  FileTroubles troubles_;
  std::unique_ptr<HoldingRows> writer_rows_;  // of writer_'s thread
  std::unique_ptr<HoldingRows> reader_rows_;
  // Last, so that their threads end first.
  BlockingPool writer_;
  BlockingPool reader_;
};

}  // namespace qq::storage
