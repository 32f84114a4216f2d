// How much a target is told to think, and what gives way to what: see dialect.h.
#pragma once
#include <optional>
#include <string_view>

#include "dialects/anthropic/families.h"
#include "dialects/anthropic/history.h"
#include "wire/json_writer.h"

namespace qq::dialects::anthropic {

struct Thinking {
  enum class Mode : std::uint8_t { Absent, Disabled, Budget, Adaptive };
  Mode mode = Mode::Absent;
  std::int64_t budget = 0;      // Budget
  std::string_view effort{};    // output_config.effort; empty: not said
  std::optional<bool> shown{};  // display
  // An own client's, though it asked for it. What it says about thoughts must not be said then, either.
  bool given_up = false;
  [[nodiscard]] bool on() const noexcept { return mode == Mode::Budget || mode == Mode::Adaptive; }
};

// `most_output` is the max_tokens that will be sent.
Thinking thinking_for(const model::ChatRequest& request, const Family& family, const History& history,
                      std::int64_t most_output, Losses& losses);

// The member `thinking`, if there is anything to say.
void write_thinking(wire::JsonWriter& json, const Thinking& thinking);

}  // namespace qq::dialects::anthropic
