// What a provider's error body says, whatever its shape.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace qq::providers {

struct ErrorBody {
  std::string message;
  std::string type;
  std::string code;  // numbers as text
  std::string param;
  std::string object;     // the error object itself, as JSON
  std::string http_code;  // MiniMax: the status that belongs to an error, as text
  std::string reason;     // Google: ErrorInfo's
  bool is_json = false;
  bool quota_per_day = false;     // Google: QuotaFailure with a quotaId per day
  bool quota_per_minute = false;  // the same per minute: a limit that passes, whatever the words say
};

// {"error":{…}}, {"error":"text","code":…} (xAI, Ollama), {"object":"error",…} (Mistral, old vLLM),
// {"message"|"Message","code"} (DashScope, Bedrock, Cohere), {"detail":"…"|[{msg}]} (Mistral, FastAPI),
// {"error_code","error_msg"} (Qianfan's first version), {"base_resp":{…}} (MiniMax), [{"error":…}] (Google),
// {"__type","message"} (AWS).
ErrorBody read_error_body(std::string_view body);
// The same of an error that a dialect has read already.
ErrorBody error_body_of(const Error& told);

// The name alone of what AWS writes: "ThrottlingException" for "ThrottlingException:http://…"
// (x-amzn-errortype), "com.amazon.coral.service#ThrottlingException" (`__type`) and "throttlingException"
// (frames of a stream).
std::string aws_exception(std::string_view written);

// Of codes that are numbers.
bool is_digits(std::string_view text) noexcept;

}  // namespace qq::providers
