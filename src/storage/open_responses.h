// From what an operator wrote to the store that does it.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "relay/response_store.h"

namespace qq::storage {

// Null where nothing is to be kept. Opens the file of SQLite, so it blocks: at start only. Errors: Config, a
// text for the operator with the path and what is wrong with it. What goes wrong later goes to `report`, at
// most once in ten seconds, on any thread.
Result<std::unique_ptr<relay::ResponseStore>> open_responses(
    const relay::ResponseStorage& wanted, WallTime now, std::function<void(std::string_view)> report = {});

}  // namespace qq::storage
