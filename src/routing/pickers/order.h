// Picker "order": candidates as the operator wrote them. The next one serves only when all before it failed.
//
// Pure. The same interface as every picker: fills `order` with a permutation of 0 … n-1, the first to be
// tried first.
#pragma once
#include <cstdint>
#include <span>

namespace qq::routing::pickers {

void pick_in_order(std::span<std::uint32_t> order) noexcept;

}  // namespace qq::routing::pickers
