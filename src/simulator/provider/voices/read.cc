#include "simulator/provider/voices/read.h"

namespace qq::simulator {

using wire::JsonElements;
using wire::JsonValue;

std::string text_member(JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && found->is_string() ? found->string() : std::string();
}

std::string json_member(JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && !found->is_null() ? std::string(found->text()) : std::string();
}

std::optional<std::int64_t> integer_member(JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found ? found->integer() : std::nullopt;
}

std::vector<std::string> texts_of(std::optional<JsonValue> value) {
  std::vector<std::string> texts;
  if (!value) return texts;
  if (value->is_string()) texts.push_back(value->string());
  for (JsonElements items(*value); items.next();) texts.push_back(items.value().string());
  return texts;
}

model::Part text_part(std::string text) {
  return model::Part(model::TextPart{.text = std::move(text), .citations = {}});
}

model::Tool function_tool(JsonValue entry) {
  const auto nested = entry.member("function");
  const JsonValue function = nested && nested->is_object() ? *nested : entry;
  model::Tool tool;
  tool.name = text_member(function, "name");
  tool.description = text_member(function, "description");
  tool.schema = json_member(function, "parameters");
  return tool;
}

model::Part function_call_part(JsonValue entry) {
  model::ToolCallPart call;
  call.id = text_member(entry, "id");
  if (const auto function = entry.member("function")) {
    call.name = text_member(*function, "name");
    const auto arguments = function->member("arguments");
    if (arguments)
      call.arguments = arguments->is_string() ? arguments->string() : std::string(arguments->text());
  }
  return model::Part(std::move(call));
}

}  // namespace qq::simulator
