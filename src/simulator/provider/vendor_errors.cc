#include "simulator/provider/vendor_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "simulator/provider/in_quotes.h"

namespace qq::simulator {
namespace {

struct Default {
  int status;
  std::string_view type;
  std::string_view code;  // empty: null
  std::string_view message;
};

// What OpenAI says; 402, 413 and 529 are never its own, so they follow DeepSeek, Groq and Anthropic.
constexpr auto kDefaults = std::to_array<Default>({
    {400, "invalid_request_error", "", "The request is malformed."},
    {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-sim***."},
    {402, "insufficient_balance", "insufficient_balance", "Insufficient Balance"},
    {403, "invalid_request_error", "permission_denied", "You are not allowed to sample from this model."},
    {404, "invalid_request_error", "model_not_found",
     "The model does not exist or you do not have access to it."},
    {408, "server_error", "request_timeout", "Request timed out."},
    {409, "conflict_error", "conflict", "The resource was modified by another request."},
    {413, "tokens", "rate_limit_exceeded", "Request too large for the model."},
    {422, "invalid_request_error", "unprocessable_entity", "The request could not be processed."},
    {429, "requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again later."},
    {500, "server_error", "", "The server had an error while processing your request. Sorry about that!"},
    {502, "server_error", "bad_gateway", "Bad gateway."},
    {503, "server_error", "overloaded", "That model is currently overloaded with other requests."},
    {504, "server_error", "gateway_timeout", "Gateway timeout."},
    {529, "overloaded_error", "overloaded", "Overloaded"},
});

const Default& default_of(int status) {
  const auto* exact = std::ranges::find(kDefaults, status, &Default::status);
  if (exact != kDefaults.end()) return *exact;
  return *std::ranges::find(kDefaults, status < 500 ? 400 : 500, &Default::status);
}

std::string or_null(std::string_view text) {
  return text.empty() ? std::string("null") : in_quotes(text);
}

struct Filled {
  int status;
  std::string type;
  std::string code;
  std::string param;
  std::string message;
};

std::string openai_shape(const Filled& e) {
  return fmt::format(R"({{"error":{{"message":{},"type":{},"param":{},"code":{}}}}})", in_quotes(e.message),
                     in_quotes(e.type), or_null(e.param), or_null(e.code));
}

std::string azure_shape(const Filled& e) {
  const std::string code = e.status == 404                      ? "DeploymentNotFound"
                           : e.status == 429                    ? "RateLimitReached"
                           : e.status == 400 && !e.code.empty() ? e.code
                                                                : std::to_string(e.status);
  return fmt::format(R"({{"error":{{"code":{},"message":{}}}}})", in_quotes(code), in_quotes(e.message));
}

std::string mistral_shape(const Filled& e) {
  if (e.status == 401) return R"({"detail":"Invalid API Key"})";
  if (e.status == 422) {
    return fmt::format(R"({{"detail":[{{"type":"value_error","loc":["body"],"msg":{}}}]}})",
                       in_quotes(e.message));
  }
  return fmt::format(
      R"({{"object":"error","message":{},"type":{},"param":{},"code":{},"raw_status_code":{}}})",
      in_quotes(e.message), in_quotes(e.type), or_null(e.param), e.status == 429 ? "\"1300\"" : "\"3051\"",
      e.status);
}

// Its `error` is a string.
std::string xai_shape(const Filled& e) {
  return fmt::format(R"({{"code":{},"error":{}}})", in_quotes(e.code.empty() ? e.type : e.code),
                     in_quotes(e.message));
}

std::string zhipu_shape(const Filled& e) {
  std::string code = e.status == 401   ? "1000"
                     : e.status == 429 ? e.code == "insufficient_quota" ? "1113" : "1302"
                     : e.status == 400 ? e.code == "context_length_exceeded" ? "1261"
                                         : e.code == "content_filter"        ? "1301"
                                                                             : "1210"
                                       : std::to_string(e.status);
  return fmt::format(R"({{"error":{{"code":{},"message":{}}}}})", in_quotes(code), in_quotes(e.message));
}

std::string openrouter_shape(const Filled& e) {
  return fmt::format(R"({{"error":{{"message":{},"code":{},"metadata":{{"provider_name":"Simulated"}}}},)"
                     R"("user_id":"user_simulated"}})",
                     in_quotes(e.message), e.status);
}

std::string qwen_shape(const Filled& e) {
  return fmt::format(
      R"({{"error":{{"code":{},"param":{},"message":{},"type":{}}},"request_id":"sim-request"}})",
      or_null(e.status == 429 ? std::string_view("limit_requests") : std::string_view(e.code)),
      or_null(e.param), in_quotes(e.message), in_quotes(e.type));
}

std::string deepseek_shape(const Filled& e) {
  return fmt::format(R"({{"error":{{"message":{},"type":{},"param":{},"code":"invalid_request_error"}}}})",
                     in_quotes(e.message), in_quotes(e.status == 401 ? "authentication_error" : e.type),
                     or_null(e.param));
}

std::string numbered_shape(const Filled& e) {
  return fmt::format(R"({{"error":{{"code":{},"message":{},"type":{}}}}})", e.status, in_quotes(e.message),
                     in_quotes(e.code == "context_length_exceeded" ? "exceed_context_size_error" : e.type));
}

std::string vllm_shape(const Filled& e) {
  return fmt::format(
      R"({{"object":"error","message":{},"type":{},"param":{},"code":{}}})", in_quotes(e.message),
      in_quotes(e.status < 500 ? "BadRequestError" : "InternalServerError"), or_null(e.param), e.status);
}

struct Shape {
  std::string_view vendor;
  std::string (*write)(const Filled&);
};
constexpr auto kShapes = std::to_array<Shape>({
    {"azure", azure_shape},
    {"mistral", mistral_shape},
    {"xai", xai_shape},
    {"zhipu", zhipu_shape},
    {"openrouter", openrouter_shape},
    {"qwen", qwen_shape},
    {"deepseek", deepseek_shape},
    {"llamacpp", numbered_shape},
    {"vllm", vllm_shape},
});

}  // namespace

std::string error_body(const VendorError& error) {
  const Default& usual = default_of(error.status);
  const Filled filled{error.status, error.type.empty() ? std::string(usual.type) : error.type,
                      error.code.empty() && error.message.empty() ? std::string(usual.code) : error.code,
                      error.param, error.message.empty() ? std::string(usual.message) : error.message};
  for (const Shape& shape : kShapes) {
    if (shape.vendor == error.vendor) return shape.write(filled);
  }
  return openai_shape(filled);
}

Reply error_reply(const VendorError& error) {
  Reply reply = Reply::json(error.status, error_body(error));
  reply.what = fmt::format("error {}", error.status);
  return reply;
}

std::string error_event(const VendorError& error) {
  // Groq names the event and puts the status inside; OpenRouter sends a chunk with `error` beside choices.
  if (error.vendor == "groq") {
    const std::string body = error_body(error);
    return fmt::format("event: error\ndata: {},\"status_code\":{}}}}}\n\n",
                       std::string_view(body).substr(0, body.size() - 2), error.status);
  }
  if (error.vendor == "openrouter") {
    return fmt::format(
        "data: {{\"id\":\"gen-sim\",\"object\":\"chat.completion.chunk\",\"created\":0,"
        "\"model\":\"sim\",\"provider\":\"Simulated\",\"error\":{{\"code\":{},\"message\":{}}},"
        "\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"\"}},"
        "\"finish_reason\":\"error\"}}]}}\n\n",
        error.status, in_quotes(error.message.empty() ? "Provider disconnected" : error.message));
  }
  return "data: " + error_body(error) + "\n\n";
}

}  // namespace qq::simulator
