// Picker "weighted": a draw without replacement in proportion to weight, so that the first place is shared as
// the operator wrote it, and so is every later one among those that are left.
//
//   key_i = -ln(u_i) / w_i with u_i uniform in (0, 1];   order = ascending keys
//
// Pure; one draw from `random` per weight, whatever the weights are, so that a replay stays in step.
// Source: P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", Information
// Processing Letters 97, 2006 (algorithm A; they sort u^(1/w) descending, whose logarithm this is).
#pragma once
#include <cstdint>
#include <span>

#include "base/random.h"

namespace qq::routing::pickers {

// `order` has as many places as there are weights and receives a permutation of 0 … n-1. A weight that is not
// above 0 goes last, after all that are (among themselves such weights keep the order they were written in).
void pick_weighted(std::span<const double> weights, std::span<std::uint32_t> order, Random& random);

}  // namespace qq::routing::pickers
