// A plan: the ordered targets of one request and the rules under which the attempt loop walks them.
// Made by routing/, walked by relay/attempts, judged by resilience/next_step.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/target.h"

namespace qq::model {

// Which failures let a request move on to the next target (a route's `trigger_on`).
struct Triggers {
  bool timeout = true;       // connect, first byte, first content
  bool server_error = true;  // 5xx, 529, connection failures, broken frames, error objects in a 200
  bool rate_limit = true;    // 429, quota, dead credential, what the account may not do
  bool empty = true;         // empty or broken 200
  bool not_found = false;    // the provider does not know the model
  bool refused = false;      // any other 4xx
};

struct RetryRules {
  int max_attempts = 3;            // that reached a provider, per request; >= 1
  Milliseconds backoff_base{200};  // full jitter: uniform in [0, min(max, base * 2^n)]
  Milliseconds backoff_max{2000};
};

struct Plan {
  std::string_view route;              // owned by the snapshot
  std::vector<const Target*> targets;  // in order of preference; never empty
  Triggers triggers;
  RetryRules retry;
};

}  // namespace qq::model
