#include "simulator/provider/vendor_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "simulator/provider/answer.h"
#include "simulator/provider/aws_frame.h"
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
  std::string retry_after{};
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
  // Its codes are numbers: of ours, those that are.
  const bool numbered = !e.code.empty() && e.code.front() >= '0' && e.code.front() <= '9';
  const std::string code = numbered ? e.code : e.status == 429 ? "1300" : "3051";
  return fmt::format(
      R"({{"object":"error","message":{},"type":{},"param":{},"code":{},"raw_status_code":{}}})",
      in_quotes(e.message), in_quotes(e.type), or_null(e.param), in_quotes(code), e.status);
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

struct Named {
  int status;
  std::string_view name;
};

// The name that goes with a status; of an unlisted one, that of the last entry of its hundred.
template <std::size_t N>
std::string_view name_of(const std::array<Named, N>& names, int status) {
  const auto exact = std::ranges::find(names, status, &Named::status);
  if (exact != names.end()) return exact->name;
  return std::ranges::find(names, status < 500 ? 400 : 500, &Named::status)->name;
}

// docs.claude.com/en/api/errors
constexpr auto kAnthropicTypes = std::to_array<Named>({
    {400, "invalid_request_error"},
    {401, "authentication_error"},
    {402, "billing_error"},
    {403, "permission_error"},
    {404, "not_found_error"},
    {413, "request_too_large"},
    {429, "rate_limit_error"},
    {500, "api_error"},
    {504, "timeout_error"},
    {529, "overloaded_error"},
});

std::string anthropic_shape(const Filled& e) {
  return fmt::format(R"({{"type":"error","error":{{"type":{},"message":{}}},"request_id":"{}"}})",
                     in_quotes(name_of(kAnthropicTypes, e.status)), in_quotes(e.message),
                     stable_id("req_011", stable_hash(e.message), 21));
}

// google/rpc/code.proto
constexpr auto kGoogleStatuses = std::to_array<Named>({
    {400, "INVALID_ARGUMENT"},
    {401, "UNAUTHENTICATED"},
    {403, "PERMISSION_DENIED"},
    {404, "NOT_FOUND"},
    {409, "ABORTED"},
    {429, "RESOURCE_EXHAUSTED"},
    {499, "CANCELLED"},
    {500, "INTERNAL"},
    {503, "UNAVAILABLE"},
    {504, "DEADLINE_EXCEEDED"},
});

bool is_seconds(std::string_view text) noexcept {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

// Google has no Retry-After: a 429 says it in its details.
std::string google_details(const Filled& e) {
  if (e.status != 429) return {};
  const bool daily = e.code == "insufficient_quota";
  std::string out =
      fmt::format(R"(,"details":[{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{)"
                  R"("quotaMetric":"generativelanguage.googleapis.com/generate_content_requests",)"
                  R"("quotaId":"GenerateRequestsPer{}PerProjectPerModel"}}]}})",
                  daily ? "Day" : "Minute");
  if (is_seconds(e.retry_after)) {
    out += fmt::format(R"(,{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{}s"}})",
                       e.retry_after);
  }
  return out + "]";
}

std::string google_shape(const Filled& e) {
  return fmt::format(R"({{"error":{{"code":{},"message":{},"status":{}{}}}}})", e.status,
                     in_quotes(e.message), in_quotes(name_of(kGoogleStatuses, e.status)), google_details(e));
}

// docs.aws.amazon.com, Bedrock API reference, "Common errors" and those of Converse.
constexpr auto kBedrockExceptions = std::to_array<Named>({
    {400, "ValidationException"},
    {401, "UnrecognizedClientException"},
    {403, "AccessDeniedException"},
    {404, "ResourceNotFoundException"},
    {408, "ModelTimeoutException"},
    {424, "ModelErrorException"},
    {429, "ThrottlingException"},
    {500, "InternalServerException"},
    {503, "ServiceUnavailableException"},
});

std::string bedrock_exception(const VendorError& error) {
  if (error.type.ends_with("Exception")) return error.type;
  if (error.code == "insufficient_quota") return "ServiceQuotaExceededException";
  return std::string(name_of(kBedrockExceptions, error.status));
}

// The exception is named in a header.
std::string bedrock_shape(const Filled& e) {
  return fmt::format(R"({{"message":{}}})", in_quotes(e.message));
}

std::string cohere_shape(const Filled& e) {
  const std::string hex = fmt::format("{:016x}{:016x}", stable_hash(e.message), stable_hash("cohere"));
  return fmt::format(R"({{"id":"{}-{}-{}-{}-{}","message":{}}})", hex.substr(0, 8), hex.substr(8, 4),
                     hex.substr(12, 4), hex.substr(16, 4), hex.substr(20), in_quotes(e.message));
}

std::string ollama_native_shape(const Filled& e) {
  return fmt::format(R"({{"error":{}}})", in_quotes(e.message));
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
    {"anthropic", anthropic_shape},
    {"gemini", google_shape},
    {"vertex", google_shape},
    {"bedrock", bedrock_shape},
    {"cohere", cohere_shape},
    {"ollama_native", ollama_native_shape},
});

bool is_google(std::string_view vendor) noexcept {
  return vendor == "gemini" || vendor == "vertex";
}

// What each vendor says of the three faults that have a code.
struct Saying {
  std::string_view vendor;
  std::string_view code;
  int status;
  std::string_view message;
};
constexpr auto kSayings = std::to_array<Saying>({
    {"anthropic", "insufficient_quota", 400,
     "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
     "purchase credits."},
    {"anthropic", "context_length_exceeded", 400, "prompt is too long: 9000 tokens > 8192 maximum"},
    {"anthropic", "content_filter", 400, "Output blocked by content filtering policy"},
    {"gemini", "context_length_exceeded", 400,
     "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."},
    {"vertex", "context_length_exceeded", 400,
     "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."},
    {"bedrock", "insufficient_quota", 400, "Your account has exceeded its service quota for this model."},
    {"bedrock", "context_length_exceeded", 400, "Input is too long for requested model."},
    {"cohere", "insufficient_quota", 429,
     "You are using a Trial key, which is limited to 1000 API calls / month. Please upgrade to a Production "
     "key."},
    {"cohere", "context_length_exceeded", 400,
     "too many tokens: size limit exceeded by 808 tokens. Try using shorter or fewer inputs. The limit for "
     "this "
     "model is 8192 tokens."},
    {"ollama_native", "context_length_exceeded", 400, "the input length exceeds the context length"},
});

}  // namespace

std::string error_body(const VendorError& error) {
  const Default& usual = default_of(error.status);
  const Filled filled{error.status,
                      error.type.empty() ? std::string(usual.type) : error.type,
                      error.code.empty() && error.message.empty() ? std::string(usual.code) : error.code,
                      error.param,
                      error.message.empty() ? std::string(usual.message) : error.message,
                      error.retry_after};
  for (const Shape& shape : kShapes) {
    if (shape.vendor == error.vendor) return shape.write(filled);
  }
  return openai_shape(filled);
}

Reply error_reply(const VendorError& error) {
  Reply reply = Reply::json(error.status, error_body(error));
  reply.what = fmt::format("error {}", error.status);
  if (error.vendor == "bedrock") {
    reply.fields.emplace_back(
        "x-amzn-errortype",
        bedrock_exception(error) + ":http://internal.amazon.com/coral/com.amazon.bedrock/");
  }
  reply.says_when = is_google(error.vendor) && error.status == 429 && is_seconds(error.retry_after);
  return reply;
}

void say_as_vendor(VendorError& error) {
  for (const Saying& saying : kSayings) {
    if (saying.vendor != error.vendor || saying.code != error.code) continue;
    error.status = saying.status;
    error.message = saying.message;
  }
}

std::string error_event(const VendorError& error, StreamForm form, bool first) {
  switch (form) {
    case StreamForm::Lines: return error_body(error) + "\n";
    case StreamForm::JsonArray: return (first ? "[" : ",\r\n") + error_body(error) + "]";
    case StreamForm::AwsEvents:
    case StreamForm::AwsChunks:
    case StreamForm::AwsFrames: {
      VendorError named = error;
      named.vendor = "bedrock";
      std::string name = bedrock_exception(named);
      // In a stream it begins with a small letter, and the model's own error has another name.
      name.front() = static_cast<char>(name.front() | 0x20);
      if (name == "modelErrorException") name = "modelStreamErrorException";
      const std::string body = error_body(named);
      if (form == StreamForm::AwsFrames) return aws_frame(AwsMessage::Exception, name, body);
      return fmt::format("exception: {}\ndata: {}\n\n", name, body);
    }
    case StreamForm::Events: break;
  }
  if (error.vendor == "anthropic") return fmt::format("event: error\ndata: {}\n\n", error_body(error));
  // Google breaks the grammar: its error is bare JSON.
  if (is_google(error.vendor)) return error_body(error) + "\n";
  if (error.vendor == "cohere") {
    return fmt::format(
        "event: message-end\ndata: {{\"type\":\"message-end\",\"delta\":{{\"finish_reason\":\"ERROR\","
        "\"error\":{}}}}}\n\n",
        in_quotes(error.message));
  }
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
