// QQ_ASSERT: a broken invariant stops the process, in release builds too. A failure that can happen
// to correct code (network, bad input) is a Result, never an assertion.
#pragma once

namespace qq::base {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;
}  // namespace qq::base

#define QQ_ASSERT(expression) \
  (static_cast<bool>(expression) ? void(0) : ::qq::base::assertion_failed(#expression, __FILE__, __LINE__))
