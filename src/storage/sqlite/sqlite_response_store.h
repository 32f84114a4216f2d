// Answers and conversations in an SQLite file: they outlive the process, and several processes of one machine
// may share the file. (Not over a network file system: WAL needs shared memory.)
//
// Two threads of its own, one that writes and one that reads, each with its connection: writes never wait for
// each other's locks, and a read does not wait behind a large write. What was put is found by whoever asks
// after `put` has returned. Each has a bounded queue and a share of it for each owner (blocking_pool.h);
// beyond it calls fail with Saturated.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "relay/response_store.h"
#include "storage/blocking_pool.h"
#include "storage/sqlite/file_troubles.h"
#include "storage/sqlite/response_rows.h"

namespace qq::storage {

class SqliteResponseStore final : public relay::ResponseStore {
 public:
  using Report = FileTroubles::Report;

  // Opens the file and brings its schema up to date; blocks. Errors: Config, with what is wrong with the
  // file.
  static Result<std::unique_ptr<relay::ResponseStore>> open(const std::string& path,
                                                            const relay::ResponseLimits& limits, WallTime now,
                                                            Report report = {},
                                                            const BlockingPool::Options& pool = {});

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
  [[nodiscard]] std::size_t entry_bytes_max() const noexcept override { return entry_bytes_max_; }

 private:
  SqliteResponseStore(std::unique_ptr<ResponseRows> writer, std::unique_ptr<ResponseRows> reader,
                      std::size_t entry_bytes_max, Report report, const BlockingPool::Options& pool);

  template <typename T>
  Result<T> told(WallTime now, Result<T> result) {
    return troubles_.told(now, std::move(result));
  }

  const std::size_t entry_bytes_max_;
  FileTroubles troubles_;
  std::unique_ptr<ResponseRows> writer_rows_;  // of writer_'s thread
  std::unique_ptr<ResponseRows> reader_rows_;
  // Last, so that their threads end first.
  BlockingPool writer_;
  BlockingPool reader_;
};

}  // namespace qq::storage
