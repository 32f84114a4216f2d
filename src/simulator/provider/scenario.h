// A scenario: which requests get which stage directions, over time. A JSON file; docs/sim-provider.md has
// examples. The first rule that matches a request decides.
//
//   attempts   one after the other: [{"fault":"429","retry_after":"1"}, {"fault":"none"}]
//   mix        by weight, from the scenario's seed: [{"weight":7}, {"weight":3,"fault":"500"}]
//   flap       up and down by the clock; `do` holds while it is down
//   do         always
//
// Deterministic: the same seed and the same requests in the same order give the same faults.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "simulator/provider/asked.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

enum class ConnectionOrder : std::uint8_t { Serve, Close, Reset, Stall };

class Scenario {
 public:
  // Nothing goes wrong.
  Scenario() = default;
  // Error kind Config, with the place.
  static Result<Scenario> parse(std::string_view json);

  struct Situation {
    std::string_view model{};  // without directives
    std::string_view key{};    // the bearer token or api-key
    Route route = Route::Unknown;
    MonotonicTime now{};
  };
  // What this request gets; counts it.
  Script choose(const Situation& situation);

  // What the next accepted connection gets, from "connections": the list is played once.
  ConnectionOrder next_connection() noexcept;

  // Forgets all counts and starts the random sequence anew; flapping starts from the next request.
  void restart();

 private:
  enum class Then : std::uint8_t { Normal, Last, Repeat };
  enum class CountBy : std::uint8_t { Rule, Key, Model };
  struct Weighted {
    std::uint64_t weight = 1;
    Script script{};
  };
  struct Rule {
    std::string model = "*";  // a '*' at the end matches any rest
    std::string key = "*";
    std::string endpoint{};  // "chat", "responses", …; empty: all
    std::vector<Script> attempts{};
    Then then = Then::Normal;
    CountBy count_by = CountBy::Rule;
    std::vector<Weighted> mix{};
    Milliseconds up{0};
    Milliseconds down{0};
    std::optional<Script> always{};
  };

  static Result<Rule> parse_rule(wire::JsonValue value, const Script& defaults);
  const Script& apply(std::size_t index, const Situation& situation);

  std::uint64_t seed_ = 1;
  Random random_{1};
  Script defaults_{};
  std::vector<Rule> rules_;
  std::vector<ConnectionOrder> connections_;
  std::size_t connection_ = 0;
  std::map<std::string, std::size_t> counts_;
  std::optional<MonotonicTime> started_;
};

}  // namespace qq::simulator
