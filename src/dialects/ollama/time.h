// The time at which Ollama says that it wrote something: "2026-11-30T20:26:46.294874Z", or with an offset.
#pragma once
#include <cstdint>
#include <string_view>

namespace qq::dialects::ollama {

// Unix time in seconds; 0 for what is no such time.
std::int64_t unix_time(std::string_view rfc3339) noexcept;

}  // namespace qq::dialects::ollama
