// How much memory the process uses, and how much it may.
#pragma once
#include <cstddef>

namespace qq::app {

// The resident set in bytes; 0 if the kernel does not say.
std::size_t resident_memory() noexcept;
// The tightest limit of the control group and its parents, or the machine's memory where there is none.
std::size_t available_memory();

// Has large blocks mapped each on its own, so that they go back to the system when they are freed, for as
// long as the process lives: by itself the allocator maps only those that are larger than any it has seen
// freed. Before other threads run.
void map_large_blocks() noexcept;
// Gives freed memory that the allocator keeps back to the system. Takes milliseconds for gigabytes, in which
// threads that allocate may have to wait: from no event loop.
void give_back_freed_memory() noexcept;

}  // namespace qq::app
