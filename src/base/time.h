// The two clocks. Deadlines, breakers, limits and back-off use the monotonic one, which the event loop
// hands out (so that a simulation can own it); the wall clock is for what people and bills read.
#pragma once
#include <chrono>

namespace qq {

using MonotonicTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

inline constexpr MonotonicTime kNever = MonotonicTime::max();

}  // namespace qq
