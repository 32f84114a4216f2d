// What the fuzzers of dialects without clients share: requests of every client become JSON or errors; answers
// and streams keep what fuzz/dialect_support.h says.
#pragma once
#include <string>
#include <vector>

#include "fuzz/dialect_support.h"

namespace qq::fuzz {

// `body` is a request of one client or another.
inline void check_sent(model::Dialect dialect, const model::Target& target, std::string_view body) {
  for (const model::Dialect client : kDialects) {
    const auto request = dialects::client_dialect(client)->decode_request(body, {.path_model = "m"});
    if (!request) continue;
    dialects::Losses losses;
    const auto sent = dialects::provider_dialect(dialect)->encode_request(*request, target, losses);
    FUZZ_CHECK(sent ? !wire::check_json(sent->body, kDeep) : !sent.error().message.empty());
  }
}

// The first byte says what the rest is.
inline void check_provider(model::Dialect dialect, const std::vector<model::Target>& targets,
                           std::string_view input) {
  if (input.empty()) return;
  const Input rest(input.substr(1));
  const auto first = static_cast<unsigned char>(input[0]);
  const model::Target& target = targets[first / 3 % targets.size()];
  switch (first % 3) {
    case 0: check_sent(dialect, target, rest.view()); break;
    case 1: check_answer(dialect, target, rest.view()); break;
    default: check_stream(dialect, target, rest.view()); break;
  }
}

inline model::Target target_named(std::string model) {
  model::Target target;
  target.upstream_model = std::move(model);
  target.reasons = true;
  return target;
}

}  // namespace qq::fuzz
