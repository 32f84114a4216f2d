#include "storage/open_holdings.h"

#include <utility>

#include "storage/memory/memory_holding_store.h"
#include "storage/sqlite/sqlite_holding_store.h"

namespace qq::storage {

Result<std::unique_ptr<relay::HoldingStore>> open_holdings(const relay::HoldingStorage& wanted, WallTime now,
                                                           std::function<void(std::string_view)> report) {
  switch (wanted.chosen()) {
    case relay::HoldingBackend::None: break;
    case relay::HoldingBackend::Memory: return std::make_unique<MemoryHoldingStore>(wanted.limits());
    case relay::HoldingBackend::Sqlite:
      return SqliteHoldingStore::open(wanted.path, wanted.limits(), now, std::move(report));
  }
  return nullptr;
}

}  // namespace qq::storage
