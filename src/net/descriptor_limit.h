// The limit on open descriptors. A relayed stream needs two.
#pragma once
#include <cstddef>

namespace qq::net {

// Raises the soft limit to the hard one, where that is allowed, and returns what holds then. A refusal is no
// error: the gateway lives with what it has and says so.
std::size_t raise_descriptor_limit() noexcept;
[[nodiscard]] std::size_t descriptor_limit() noexcept;

}  // namespace qq::net
