// A provider's Response object, whole or as a stream begins and ends with it.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/finish.h"
#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {

struct ResponseMembers {
  wire::JsonValue id, model, created, status, output, usage, error, incomplete, service_tier;
};
// What neither has a meaning here nor repeats the request goes to `others`, if given.
ResponseMembers read_response(wire::JsonValue response, model::ExtraFields* others = nullptr);

// `has_calls`: calls wait for results.
model::Finish finish_of(std::string_view status, std::string_view reason, bool has_calls) noexcept;
// StreamError from a failed response's `error`.
Error error_of_response(wire::JsonValue error, std::string_view status);

// One array of both arrays' entries.
void append_logprobs(model::Json& all, std::string_view array);

}  // namespace qq::dialects::openai_responses
