// The configuration as requests see it: resolved, immutable, pinned by each request for its whole life, so
// that a reload never splits one. Published by posting a new one to each loop.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/key_ring.h"
#include "base/string_hash.h"
#include "model/target.h"
#include "relay/settings.h"
#include "resilience/target_health.h"
#include "routing/planner.h"

namespace qq::relay {

struct Snapshot {
  std::uint64_t generation = 0;
  std::int64_t created_unix = 0;                                   // for /v1/models
  std::vector<std::unique_ptr<const model::Target>> targets;       // index = Target::index
  std::vector<std::shared_ptr<resilience::TargetHealth>> healths;  // by target index
  std::unordered_map<std::string, routing::Route, StringHash, std::equal_to<>> routes;  // by public name
  std::vector<std::string> public_names;  // in the order of the file
  admission::KeyRing keys;
  Timers timers;
  Timers timers_reasoning;  // the same with the longer first limits; made by `set_timers`
  Limits limits;

  void set_timers(const Timers& wanted) {
    timers = timers_reasoning = wanted;
    timers_reasoning.first_byte = std::max(wanted.first_byte, wanted.first_byte_reasoning);
    timers_reasoning.first_content = std::max(wanted.first_content, wanted.first_content_reasoning);
  }
  // Those of attempts at this target.
  [[nodiscard]] const Timers& timers_of(const model::Target& target) const noexcept {
    return target.reasons ? timers_reasoning : timers;
  }

  [[nodiscard]] const routing::Route* find_route(std::string_view name) const {
    const auto found = routes.find(name);
    return found == routes.end() ? nullptr : &found->second;
  }
};

}  // namespace qq::relay
