// One try at one target, and how it ended. A request keeps all of its attempts: for next_step, the log, the
// answer's headers and metrics.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/target.h"
#include "model/usage.h"

namespace qq::model {

enum class Outcome : std::uint8_t {
  Success,    // a complete good answer
  Failure,    // `error` says what; may have been after content was delivered
  Refused,    // not tried: breaker open, cooling down, limit of ours
  Cancelled,  // the client went away or we shut down: no evidence about the target
};
constexpr std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Success: return "success";
    case Outcome::Failure: return "failure";
    case Outcome::Refused: return "refused";
    case Outcome::Cancelled: return "cancelled";
  }
  return "failure";
}

struct Attempt {
  const Target* target = nullptr;
  Endpoint endpoint = Endpoint::ChatCompletions;  // at which the target was asked
  bool translated = false;                        // between the client's dialect and the target's
  Outcome outcome = Outcome::Failure;
  std::optional<Error> error;     // for everything but Success
  bool reached_provider = false;  // bytes of the request may have been sent
  bool delivered = false;         // content went to the client
  std::uint16_t status = 0;       // upstream's; 0: none read
  // From its start until the sending began: what had to be fetched first, pictures and tokens.
  std::chrono::duration<std::int32_t, std::milli> prepared{0};
  MonotonicTime started{};
  std::optional<MonotonicTime> first_byte;
  std::optional<MonotonicTime> first_content;
  MonotonicTime ended{};
  Usage usage;
  std::string
      lost;  // what did not survive the translation, "messages[2].cache_control; top_k"; mostly nothing

  // From when on the provider's time counts.
  [[nodiscard]] MonotonicTime sent() const noexcept { return started + prepared; }
};

}  // namespace qq::model
