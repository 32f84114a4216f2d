// Cohere and Ollama.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "simulator/provider/checks/check.h"
#include "simulator/provider/checks/tool_pairs.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {

Refusal refuse_cohere(const RequestText& request) {
  const wire::JsonValue body(request.body);
  if (text_member(body, "model").empty()) return refused(request, "invalid request: model is required");
  const auto messages = body.member("messages");
  if (!messages || !messages->is_array() || messages->text() == "[]")
    return refused(request, "invalid request: list of messages must have at least one element");
  std::string role;
  for (wire::JsonElements items(*messages); items.next();) {
    role = text_member(items.value(), "role");
    if (role != "user" && role != "assistant" && role != "system" && role != "tool")
      return refused(request, fmt::format("invalid request: unknown role \"{}\"", role));
    const auto calls = items.value().member("tool_calls");
    const auto content = items.value().member("content");
    if ((!content || content->text() == "\"\"" || content->text() == "[]" || content->is_null()) && !calls)
      return refused(request, "invalid request: all elements in history must have a message.");
  }
  if (role != "user" && role != "tool")
    return refused(request, "invalid request: the last message must be from the user or a tool");
  const ToolPairs pairs = tool_pairs(*messages);
  if (!pairs.unknown.empty()) {
    return refused(request, fmt::format("invalid request: tool_call_id {} not found in previous tool calls",
                                        pairs.unknown.front()));
  }
  if (!pairs.unanswered.empty()) {
    return refused(request, fmt::format("invalid request: no tool results for tool calls {}",
                                        fmt::join(pairs.unanswered, ", ")));
  }
  return std::nullopt;
}

Refusal refuse_ollama(const RequestText& request) {
  const wire::JsonValue body(request.body);
  if (text_member(body, "model").empty()) return refused(request, "model is required");
  const auto messages = body.member("messages");
  if (!messages) return std::nullopt;  // it loads the model, and says nothing
  for (wire::JsonElements items(*messages); items.next();) {
    const auto content = items.value().member("content");
    if (content && !content->is_string() && !content->is_null()) {
      return refused(request,
                     "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type "
                     "string");
    }
    const auto calls = items.value().member("tool_calls");
    if (!calls) continue;
    for (wire::JsonElements each(*calls); each.next();) {
      const auto arguments = each.value().at("function", "arguments");
      if (!arguments || arguments->is_object()) continue;
      return refused(
          request,
          "json: cannot unmarshal string into Go struct field "
          "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments");
    }
  }
  return std::nullopt;
}

}  // namespace qq::simulator
