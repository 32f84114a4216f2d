// From what an operator wrote to the store that knows who holds which file and batch.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "relay/held/holding_store.h"

namespace qq::storage {

// As open_responses.
Result<std::unique_ptr<relay::HoldingStore>> open_holdings(const relay::HoldingStorage& wanted, WallTime now,
                                                           std::function<void(std::string_view)> report = {});

}  // namespace qq::storage
