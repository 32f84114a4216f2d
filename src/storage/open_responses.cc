#include "storage/open_responses.h"

#include <utility>

#include "storage/memory/memory_response_store.h"
#include "storage/sqlite/sqlite_response_store.h"

namespace qq::storage {

Result<std::unique_ptr<relay::ResponseStore>> open_responses(const relay::ResponseStorage& wanted,
                                                             WallTime now,
                                                             std::function<void(std::string_view)> report) {
  switch (wanted.chosen()) {
    case relay::ResponseBackend::None: break;
    case relay::ResponseBackend::Memory: return std::make_unique<MemoryResponseStore>(wanted.limits());
    case relay::ResponseBackend::Sqlite:
      return SqliteResponseStore::open(wanted.path, wanted.limits(), now, std::move(report));
  }
  return nullptr;
}

}  // namespace qq::storage
