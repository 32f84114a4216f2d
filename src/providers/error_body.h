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
  std::string object;  // the error object itself, as JSON
  bool is_json = false;
  bool quota_per_day = false;  // Google: QuotaFailure with a quotaId per day
};

// {"error":{…}}, {"error":"text","code":…} (xAI, Ollama), {"object":"error",…} (Mistral, old vLLM),
// {"message"|"Message","code"} (DashScope, Bedrock, Cohere), {"detail":"…"|[{msg}]} (Mistral, FastAPI),
// {"error_code","error_msg"} (Qianfan), {"base_resp":{…}} (MiniMax), [{"error":…}] (Google).
ErrorBody read_error_body(std::string_view body);
// The same of an error that a dialect has read already.
ErrorBody error_body_of(const Error& told);

}  // namespace qq::providers
