// For tests: plays a provider's stream into decoder and judge in pieces of any size, and writes down what the
// judge said of each event.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "dialects/openai/event_edit.h"
#include "dialects/openai/stream.h"

namespace qq::dialects::openai::testing {

struct Replay {
  std::vector<std::string> events;  // one line each
  std::string forwarded;            // what a client gets, by the rules given
  std::string end;                  // the verdict on the whole
};

// "content", "terminal", "error: …" and so on, in one line.
std::string describe(const EventFacts& facts);
std::string describe(const model::Usage& usage);

// `cuts` are the offsets at which the body is split, in order.
Replay replay(std::string_view body, const std::vector<std::size_t>& cuts, model::Endpoint endpoint,
              const model::Target& target, const EventRules& rules);

}  // namespace qq::dialects::openai::testing
