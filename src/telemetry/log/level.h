// How much is logged. A line is written when its level is at least the one that is set.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace qq::telemetry {

enum class Level : std::uint8_t { Debug, Info, Warn, Error, Off };

constexpr std::string_view to_string(Level level) noexcept {
  switch (level) {
    case Level::Debug: return "debug";
    case Level::Info: return "info";
    case Level::Warn: return "warn";
    case Level::Error: return "error";
    case Level::Off: return "off";
  }
  return "off";
}

constexpr std::optional<Level> parse_level(std::string_view word) noexcept {
  for (const Level level : {Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Off}) {
    if (to_string(level) == word) return level;
  }
  return std::nullopt;
}

}  // namespace qq::telemetry
