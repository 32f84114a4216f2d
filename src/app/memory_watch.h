// How much memory the process uses, and how much it may.
#pragma once
#include <cstddef>

namespace qq::app {

// The resident set in bytes; 0 if the kernel does not say.
std::size_t resident_memory() noexcept;
// The tightest limit of the control group and its parents, or the machine's memory where there is none.
std::size_t available_memory();

}  // namespace qq::app
