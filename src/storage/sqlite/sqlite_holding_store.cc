#include "storage/sqlite/sqlite_holding_store.h"

#include <utility>

namespace qq::storage {
namespace {

using relay::HoldingKind;
using relay::StoreCall;

// `work` on the pool's thread, with who asks and when.
template <typename Work>
auto run_in(BlockingPool& pool, FileTroubles& troubles, StoreCall call, std::size_t bytes, Work work) {
  net::EventLoop& loop = *call.loop;
  const net::Scope scope = call.scope.until(loop.now() + relay::kStoreWaitMax);
  std::string owner = call.owner;
  auto job = [&troubles, call = std::move(call), work = std::move(work)]() mutable {
    return troubles.told(call.now, work(HoldingRows::Asked{call.owner, call.now}));
  };
  return pool.run(loop, scope, bytes, std::move(job), std::move(owner));
}

}  // namespace

SqliteHoldingStore::SqliteHoldingStore(std::unique_ptr<HoldingRows> writer,
                                       std::unique_ptr<HoldingRows> reader, FileTroubles::Report report)
    : troubles_("the store of files and batches", std::move(report)),
      writer_rows_(std::move(writer)),
      reader_rows_(std::move(reader)),
      writer_({.name = "qq-held-write"}),
      reader_({.name = "qq-held-read"}) {}

Result<std::unique_ptr<relay::HoldingStore>> SqliteHoldingStore::open(const std::string& path,
                                                                      const relay::HoldingLimits& limits,
                                                                      WallTime now,
                                                                      FileTroubles::Report report) {
  QQ_TRY(auto writer, HoldingRows::open(path, limits, now));
  QQ_TRY(auto reader, HoldingRows::open(path, limits, now));
  return std::unique_ptr<relay::HoldingStore>(
      new SqliteHoldingStore(std::move(writer), std::move(reader), std::move(report)));
}

Task<Result<bool>> SqliteHoldingStore::has_room(StoreCall call) {
  auto work = [this](HoldingRows::Asked asked) { return reader_rows_->has_room(asked); };
  co_return co_await run_in(reader_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<>> SqliteHoldingStore::put(StoreCall call, relay::Holding holding) {
  const std::size_t bytes = holding.object.size();
  auto work = [this, holding = std::move(holding)](HoldingRows::Asked asked) {
    return writer_rows_->put(asked, holding);
  };
  co_return co_await run_in(writer_, troubles_, std::move(call), bytes, std::move(work));
}

Task<Result<>> SqliteHoldingStore::update(StoreCall call, relay::Holding holding) {
  const std::size_t bytes = holding.object.size();
  auto work = [this, holding = std::move(holding)](HoldingRows::Asked asked) {
    return writer_rows_->update(asked, holding);
  };
  co_return co_await run_in(writer_, troubles_, std::move(call), bytes, std::move(work));
}

Task<Result<relay::Holding>> SqliteHoldingStore::get(StoreCall call, HoldingKind kind, std::string id) {
  auto work = [this, kind, id = std::move(id)](HoldingRows::Asked asked) {
    return reader_rows_->get(asked, kind, id);
  };
  co_return co_await run_in(reader_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<>> SqliteHoldingStore::remove(StoreCall call, HoldingKind kind, std::string id) {
  auto work = [this, kind, id = std::move(id)](HoldingRows::Asked asked) {
    return writer_rows_->remove(asked, kind, id);
  };
  co_return co_await run_in(writer_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<relay::HoldingPage>> SqliteHoldingStore::list(StoreCall call, relay::HoldingQuery query) {
  auto work = [this, query = std::move(query)](HoldingRows::Asked asked) {
    return reader_rows_->list(asked, query);
  };
  co_return co_await run_in(reader_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<relay::Holder>> SqliteHoldingStore::holder(StoreCall call, HoldingKind kind, std::string id) {
  auto work = [this, kind, id = std::move(id)](HoldingRows::Asked asked) {
    return reader_rows_->holder(asked, kind, id);
  };
  co_return co_await run_in(reader_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<bool>> SqliteHoldingStore::settle(StoreCall call, HoldingKind kind, std::string id) {
  auto work = [this, kind, id = std::move(id)](HoldingRows::Asked asked) {
    return writer_rows_->settle(asked, kind, id);
  };
  co_return co_await run_in(writer_, troubles_, std::move(call), 0, std::move(work));
}

Task<Result<std::size_t>> SqliteHoldingStore::remove_expired(StoreCall call, std::size_t most) {
  auto work = [this, most](HoldingRows::Asked asked) {
    return writer_rows_->remove_expired(asked.now, most);
  };
  co_return co_await run_in(writer_, troubles_, std::move(call), 0, std::move(work));
}

}  // namespace qq::storage
