// OpenAI's dialects: calls and results belong together, and what single vendors are strict about.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "simulator/provider/checks/check.h"
#include "simulator/provider/checks/tool_pairs.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

bool is_nine_letters(std::string_view id) noexcept {
  return id.size() == 9 && std::ranges::all_of(id, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// Members that OpenAI has and Mistral refuses.
constexpr std::array<std::string_view, 5> kNotMistrals{"stream_options", "max_completion_tokens", "seed",
                                                       "logit_bias", "store"};

Refusal refuse_mistral(const RequestText& request, const ToolPairs& pairs) {
  for (const std::string& id : pairs.ids) {
    if (is_nine_letters(id)) continue;
    VendorError error = refused(
        request, fmt::format("Tool call id was {} but must be a-z, A-Z, 0-9, with a length of 9.", id));
    error.code = "3280";
    return error;
  }
  for (wire::JsonMembers at{wire::JsonValue(request.body)}; at.next();) {
    if (std::ranges::find(kNotMistrals, at.raw_key()) == kNotMistrals.end() || at.is_null()) continue;
    VendorError error = refused(request, fmt::format("Extra inputs are not permitted: {}", at.raw_key()));
    error.status = 422;
    return error;
  }
  return std::nullopt;
}

// Arguments are a string of JSON.
Refusal refuse_arguments(const RequestText& request, wire::JsonValue messages) {
  std::size_t index = 0;
  for (wire::JsonElements items(messages); items.next(); ++index) {
    const auto calls = items.value().member("tool_calls");
    if (!calls) continue;
    for (wire::JsonElements each(*calls); each.next();) {
      const auto arguments = each.value().at("function", "arguments");
      if (!arguments || arguments->is_string()) continue;
      VendorError error = refused(
          request, fmt::format("Invalid type for 'messages[{}].tool_calls[0].function.arguments': expected a "
                               "string, but got an object instead.",
                               index));
      error.param = fmt::format("messages[{}].tool_calls[0].function.arguments", index);
      return error;
    }
  }
  return std::nullopt;
}

// DeepSeek wants the thoughts of turns that had calls, if only "".
Refusal refuse_lost_thoughts(const RequestText& request, wire::JsonValue messages) {
  bool thinks = false;
  const wire::JsonValue body(request.body);
  if (const auto thinking = body.member("thinking")) thinks = text_member(*thinking, "type") == "enabled";
  if (!thinks) return std::nullopt;
  for (wire::JsonElements items(messages); items.next();) {
    if (items.value().member("tool_calls") && !items.value().member("reasoning_content"))
      return refused(request, "Missing `reasoning_content` field in the assistant message with tool calls.");
  }
  return std::nullopt;
}

}  // namespace

Refusal refuse_chat(const RequestText& request, const Script& script) {
  const auto messages = wire::JsonValue(request.body).member("messages");
  if (!messages || !messages->is_array()) return std::nullopt;  // the reader says so
  if (auto refusal = refuse_arguments(request, *messages)) return refusal;
  const ToolPairs pairs = tool_pairs(*messages);
  const std::string& vendor = script.vendor;
  if (vendor == "mistral") {
    if (auto refusal = refuse_mistral(request, pairs)) return refusal;
  }
  if (vendor == "deepseek") {
    if (auto refusal = refuse_lost_thoughts(request, *messages)) return refusal;
  }
  if (!pairs.unknown.empty()) {
    VendorError error =
        refused(request,
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
                "message with 'tool_calls'.");
    error.param = "messages";
    return error;
  }
  if (!pairs.unanswered.empty()) {
    VendorError error = refused(
        request,
        fmt::format("An assistant message with 'tool_calls' must be followed by tool messages responding to "
                    "each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                    fmt::join(pairs.unanswered, ", ")));
    error.param = "messages";
    return error;
  }
  return std::nullopt;
}

Refusal refuse_responses(const RequestText& request, std::string_view model, const Script& script) {
  if (auto refusal = refuse_state(request, model, script)) return refusal;
  const wire::JsonValue body(request.body);
  const auto input = body.member("input");
  // What was said before is not here to look at.
  const bool goes_on = !text_member(body, "previous_response_id").empty() || body.member("conversation");
  if (!input || !input->is_array() || goes_on) return std::nullopt;
  std::vector<std::string> open;
  for (wire::JsonElements items(*input); items.next();) {
    const std::string type = text_member(items.value(), "type");
    const std::string id = text_member(items.value(), "call_id");
    if (type == "function_call" || type == "custom_tool_call") open.push_back(id);
    if (type != "function_call_output" && type != "custom_tool_call_output") continue;
    if (std::erase(open, id) > 0) continue;
    VendorError error =
        refused(request, fmt::format("No tool call found for function call output with call_id {}.", id));
    error.param = "input";
    return error;
  }
  if (open.empty()) return std::nullopt;
  VendorError error =
      refused(request, fmt::format("No tool output found for function call {}.", open.front()));
  error.param = "input";
  return error;
}

}  // namespace qq::simulator
