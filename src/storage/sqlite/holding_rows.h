// The table of who holds which file and batch, and all SQL about it. Synchronous: SqliteHoldingStore runs it
// on its threads. What each call promises is told in relay/held/holding_store.h.
//
// Threading: as Database; a writer and a reader each have their own HoldingRows on the same file.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "relay/held/holding_store.h"
#include "storage/sqlite/database.h"

namespace qq::storage {

class HoldingRows {
 public:
  // Opens the file and brings its schema up to date. Errors: Config, with the path.
  static Result<std::unique_ptr<HoldingRows>> open(const std::string& path,
                                                   const relay::HoldingLimits& limits, WallTime now);
  ~HoldingRows();

  // Who asks, and when.
  struct Asked {
    std::string_view owner;
    WallTime now;
  };
  Result<bool> has_room(Asked asked);
  Result<> put(Asked asked, const relay::Holding& holding);
  Result<> update(Asked asked, const relay::Holding& holding);
  Result<relay::Holding> get(Asked asked, relay::HoldingKind kind, std::string_view id);
  Result<> remove(Asked asked, relay::HoldingKind kind, std::string_view id);
  Result<relay::HoldingPage> list(Asked asked, const relay::HoldingQuery& query);
  Result<relay::Holder> holder(Asked asked, relay::HoldingKind kind, std::string_view id);
  Result<bool> settle(Asked asked, relay::HoldingKind kind, std::string_view id);
  Result<std::size_t> remove_expired(WallTime now, std::size_t most);

 private:
  struct Statements;

  HoldingRows(Database database, const relay::HoldingLimits& limits);

  Database database_;
  const relay::HoldingLimits limits_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace qq::storage
