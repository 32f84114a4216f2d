// What a reload changes, for people: one line for each difference, by the names in the file.
//
//   timers.connect: 3s → 5s
//   providers[openai].accounts[spare]: added
//   providers[openai].accounts[main].credential: changed
//   listeners[0.0.0.0:8080].serve: api → api, metrics
//
// Text is never shown, only that it changed: it may have come from a variable, and credentials are text.
#pragma once
#include <string>
#include <vector>

#include "config/config.h"
#include "config/definition.h"

namespace qq::config {

struct Change {
  std::string what;
  Effect effect = Effect::Reload;  // Restart: a running gateway keeps the old value
  bool operator==(const Change&) const = default;
};

// In the order of the definition. Empty if the two mean the same.
std::vector<Change> diff(const Config& from, const Config& to);

}  // namespace qq::config
