// An error inside a stream: an `error` event with its words, which SDKs raise, and then the failed response,
// which Codex reads.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "dialects/openai_responses/response_object.h"

namespace qq::dialects::openai_responses {

struct ErrorWords {
  std::string event;  // the whole `error` event
  std::string code;
  std::string message;
};
ErrorWords words_of(const Error& error, std::string_view request_id);

}  // namespace qq::dialects::openai_responses
