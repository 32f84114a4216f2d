#include <algorithm>

#include "dialects/openai/shared_members.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/turns.h"
#include "dialects/reasoning.h"

namespace qq::dialects::openai_responses {
namespace {

using model::ChatRequest;
using model::Tool;
using model::ToolChoice;
using wire::JsonValue;

constexpr std::string_view kEncryptedContent = "reasoning.encrypted_content";
constexpr std::string_view kLogprobs = "message.output_text.logprobs";

// Members of a nested object that the neutral model has no place for, under their path.
void keep_nested(model::ExtraFields nested, std::string_view path, model::ExtraFields& extra) {
  for (model::ExtraField& each : nested) {
    each.key.insert(0, path);
    extra.push_back(std::move(each));
  }
}

Result<> decode_items(JsonValue list, std::string_view name, TurnBuilder& turns) {
  std::size_t index = 0;
  for (wire::JsonElements items(list); items.next(); ++index) {
    auto item = decode_item(items.value());
    if (!item) return fail(within(std::move(item).error(), name, index));
    turns.add(*std::move(item));
  }
  return {};
}

Result<> decode_input(JsonValue input, TurnBuilder& turns) {
  if (absent(input)) return {};
  if (input.is_string()) {
    DecodedItem item{.kind = DecodedItem::Kind::Message, .role = model::Role::User};
    item.parts.emplace_back(model::TextPart{.text = input.string(), .citations = {}});
    turns.add(std::move(item));
    return {};
  }
  if (!input.is_array()) {
    return fail(invalid("'input' must be a string or an array of items", "input", "invalid_type"));
  }
  return decode_items(input, "input", turns);
}

Result<Tool> decode_tool(JsonValue value) {
  Tool tool;
  JsonValue type_value;
  if (!value.is_object()) return fail(invalid("a tool must be an object", "", "invalid_type"));
  QQ_CHECK(read_members(value, {{"type", &type_value}}));
  QQ_TRY(const std::string type, string_of(type_value, "type"));
  if (type.empty()) return fail(invalid("'type' is missing", "type", "missing_required_parameter"));
  if (type != "function" && type != "custom") {
    tool.kind = Tool::Kind::Hosted;
    tool.name = type;
    tool.schema = value.text();
    tool.hosted_by = kDialect;
    return tool;
  }
  tool.kind = type == "custom" ? Tool::Kind::Custom : Tool::Kind::Function;
  JsonValue name, description, schema, strict;
  const std::string_view schema_name = tool.kind == Tool::Kind::Custom ? "format" : "parameters";
  QQ_CHECK(read_members(value,
                        {{"type", &type_value},
                         {"name", &name},
                         {"description", &description},
                         {schema_name, &schema},
                         {"strict", &strict}},
                        &tool.extra));
  QQ_TRY(tool.name, string_of(name, "name"));
  if (tool.name.empty()) return fail(invalid("'name' is missing", "name", "missing_required_parameter"));
  QQ_TRY(tool.description, string_of(description, "description"));
  QQ_CHECK(must_be_object(schema, schema_name));
  tool.schema = schema.text();
  QQ_TRY(tool.strict, boolean_of(strict, "strict"));
  return tool;
}

Result<std::optional<ToolChoice::Mode>> mode_of(JsonValue word, std::string_view name) {
  if (word.text() == "\"auto\"") return ToolChoice::Mode::Auto;
  if (word.text() == "\"none\"") return ToolChoice::Mode::None;
  if (word.text() == "\"required\"") return ToolChoice::Mode::Required;
  return fail(invalid("'" + std::string(name) + "' must be none, auto or required", std::string(name),
                      "invalid_value"));
}

// The name of a function or custom tool in a choice; nothing for tools of the provider's own.
std::optional<std::string> chosen_name(JsonValue choice) {
  const auto type = choice.member("type");
  const auto name = choice.member("name");
  if (!type || !name || !name->is_string()) return std::nullopt;
  if (type->text() != "\"function\"" && type->text() != "\"custom\"") return std::nullopt;
  return name->string();
}

Result<> decode_tool_choice(JsonValue value, ChatRequest& request) {
  if (absent(value)) return {};
  ToolChoice choice;
  if (value.is_string()) {
    QQ_TRY(const auto mode, mode_of(value, "tool_choice"));
    choice.mode = *mode;
    request.tool_choice = std::move(choice);
    return {};
  }
  if (!value.is_object()) {
    return fail(invalid("'tool_choice' must be a string or an object", "tool_choice", "invalid_type"));
  }
  JsonValue type, name, mode, tools;
  QQ_CHECK(read_members(value, {{"type", &type}, {"name", &name}, {"mode", &mode}, {"tools", &tools}}));
  if (type.text() == "\"allowed_tools\"") {
    QQ_TRY(const auto word, mode_of(mode, "tool_choice.mode"));
    choice.mode = *word;
    for (wire::JsonElements each(tools); each.next();) {
      auto chosen = chosen_name(each.value());
      if (!chosen) {
        choice.only.clear();
        break;
      }
      choice.only.push_back(*std::move(chosen));
    }
  } else if (auto chosen = chosen_name(value)) {
    choice.mode = ToolChoice::Mode::Required;
    choice.only.push_back(*std::move(chosen));
  } else if (type.text() == "\"function\"" || type.text() == "\"custom\"") {
    return fail(invalid("'tool_choice.name' is missing", "tool_choice.name", "missing_required_parameter"));
  }
  if (choice.only.empty()) {
    // Of the provider's own tools, which mean nothing elsewhere.
    request.extra.push_back({"tool_choice", std::string(value.text())});
  } else {
    request.tool_choice = std::move(choice);
  }
  return {};
}

Result<> decode_format(JsonValue value, ChatRequest& request) {
  JsonValue type_value, name, description, schema, strict;
  QQ_CHECK(must_be_object(value, "format"));
  QQ_CHECK(read_members(value, {{"type", &type_value},
                                {"name", &name},
                                {"description", &description},
                                {"schema", &schema},
                                {"strict", &strict}}));
  QQ_TRY(const std::string type, string_of(type_value, "format.type"));
  model::OutputFormat format;
  if (type == "json_object") {
    format.kind = model::OutputFormat::Kind::JsonObject;
  } else if (type == "json_schema") {
    format.kind = model::OutputFormat::Kind::JsonSchema;
    QQ_TRY(format.name, string_of(name, "format.name"));
    QQ_TRY(format.description, string_of(description, "format.description"));
    QQ_CHECK(must_be_object(schema, "format.schema"));
    if (absent(schema)) {
      return fail(invalid("'format.schema' is missing", "format.schema", "missing_required_parameter"));
    }
    format.schema = schema.text();
    QQ_TRY(format.strict, boolean_of(strict, "format.strict"));
  } else if (type != "text") {
    request.extra.push_back({"text.format", std::string(value.text())});  // a grammar
    return {};
  }
  request.output = std::move(format);
  return {};
}

Result<> decode_text(JsonValue value, ChatRequest& request) {
  if (absent(value)) return {};
  JsonValue format;
  model::ExtraFields others;  // `verbosity`
  QQ_CHECK(read_members(value, {{"format", &format}}, &others));
  keep_nested(std::move(others), "text.", request.extra);
  return absent(format) ? Result<>() : decode_format(format, request);
}

Result<> decode_reasoning_wish(JsonValue value, ChatRequest& request) {
  if (absent(value)) return {};
  JsonValue effort, summary, old_summary;
  model::ExtraFields others;  // `context`, `mode`
  QQ_CHECK(read_members(
      value, {{"effort", &effort}, {"summary", &summary}, {"generate_summary", &old_summary}}, &others));
  model::ReasoningWish wish;
  QQ_TRY(const std::string word, string_of(effort, "effort"));
  wish.effort = effort_of(word);
  if (!word.empty() && !wish.effort) others.push_back({"effort", std::string(effort.text())});
  QQ_TRY(wish.summary, string_of(absent(summary) ? old_summary : summary, "summary"));
  if (!wish.summary.empty()) wish.show = true;
  keep_nested(std::move(others), "reasoning.", request.extra);
  if (wish.effort || wish.show) request.reasoning = std::move(wish);
  return {};
}

Result<> decode_include(JsonValue value, ChatRequest& request) {
  QQ_CHECK(must_be_array(value, "include"));
  model::Json others;
  for (wire::JsonElements each(value); each.next();) {
    const std::string_view word = each.value().raw_string();
    if (word == kEncryptedContent) {
      request.wants_reasoning_state = true;
    } else if (word == kLogprobs) {
      request.sampling.logprobs = true;
    } else {
      others.append(others.empty() ? "[" : ",").append(each.value().text());
    }
  }
  if (!others.empty()) request.extra.push_back({"include", others + "]"});
  return {};
}

Result<> decode_conversation(JsonValue value, ChatRequest& request) {
  if (value.is_object()) {
    const auto id = value.member("id");
    QQ_TRY(request.conversation, string_of(id.value_or(JsonValue()), "conversation.id"));
    return {};
  }
  QQ_TRY(request.conversation, string_of(value, "conversation"));
  return {};
}

// Everything else at the top level.
struct TopMembers {
  JsonValue model, stream, input, instructions, tools, tool_choice, text, reasoning, include, conversation,
      parallel_tool_calls, temperature, top_p, max_output_tokens, top_logprobs, user, metadata, service_tier,
      cache_key, store, previous, presence_penalty, frequency_penalty;
};

Result<> decode_plain(const TopMembers& top, ChatRequest& request) {
  QQ_TRY(const auto stream, boolean_of(top.stream, "stream"));
  request.stream = stream.value_or(false);
  QQ_TRY(request.parallel_tool_calls, boolean_of(top.parallel_tool_calls, "parallel_tool_calls"));
  model::Sampling& sampling = request.sampling;
  QQ_TRY(sampling.temperature, number_of(top.temperature, "temperature"));
  QQ_TRY(sampling.top_p, number_of(top.top_p, "top_p"));
  QQ_TRY(sampling.presence_penalty, number_of(top.presence_penalty, "presence_penalty"));
  QQ_TRY(sampling.frequency_penalty, number_of(top.frequency_penalty, "frequency_penalty"));
  QQ_TRY(sampling.max_output_tokens, integer_of(top.max_output_tokens, "max_output_tokens"));
  QQ_TRY(sampling.top_logprobs, integer_of(top.top_logprobs, "top_logprobs"));
  QQ_TRY(request.user, string_of(top.user, "user"));
  openai::take_user(request);
  QQ_CHECK(must_be_object(top.metadata, "metadata"));
  request.metadata = top.metadata.text();
  QQ_TRY(request.service_tier, string_of(top.service_tier, "service_tier"));
  QQ_TRY(request.cache_key, string_of(top.cache_key, "prompt_cache_key"));
  QQ_TRY(request.store, boolean_of(top.store, "store"));
  QQ_TRY(request.previous_response_id, string_of(top.previous, "previous_response_id"));
  return {};
}

Result<> decode_body(const TopMembers& top, ChatRequest& request) {
  if (absent(top.model)) {
    return fail(invalid("you must provide a model parameter: add \"model\" with the name of a model or route",
                        "model", "missing_required_parameter"));
  }
  QQ_TRY(request.model, string_of(top.model, "model"));
  if (request.model.empty()) {
    return fail(invalid("'model' is empty: give the name of a model or route", "model", "invalid_value"));
  }
  QQ_CHECK(decode_plain(top, request));
  QQ_CHECK(decode_conversation(top.conversation, request));
  const bool elsewhere =
      !request.previous_response_id.empty() || !request.conversation.empty() ||
      std::ranges::find(request.extra, "prompt", &model::ExtraField::key) != request.extra.end();
  if (absent(top.input) && !elsewhere) {
    return fail(
        invalid("'input' is missing: give a text or a list of items", "input", "missing_required_parameter"));
  }
  TurnBuilder turns(request.turns);
  if (top.instructions.is_array()) {  // as a stored response has them
    QQ_CHECK(decode_items(top.instructions, "instructions", turns));
  } else {
    QQ_TRY(std::string instructions, string_of(top.instructions, "instructions"));
    if (!instructions.empty()) {
      DecodedItem item{.kind = DecodedItem::Kind::Message, .role = model::Role::System};
      item.parts.emplace_back(model::TextPart{.text = std::move(instructions), .citations = {}});
      turns.add(std::move(item));
    }
  }
  QQ_CHECK(decode_input(top.input, turns));
  QQ_CHECK(must_be_array(top.tools, "tools"));
  std::size_t index = 0;
  for (wire::JsonElements tools(top.tools); tools.next(); ++index) {
    auto tool = decode_tool(tools.value());
    if (!tool) return fail(within(std::move(tool).error(), "tools", index));
    request.tools.push_back(*std::move(tool));
  }
  QQ_CHECK(decode_tool_choice(top.tool_choice, request));
  QQ_CHECK(must_be_object(top.text, "text"));
  QQ_CHECK(must_be_object(top.reasoning, "reasoning"));
  if (auto read = decode_text(top.text, request); !read) return fail(within(std::move(read).error(), "text"));
  if (auto read = decode_reasoning_wish(top.reasoning, request); !read) {
    return fail(within(std::move(read).error(), "reasoning"));
  }
  return decode_include(top.include, request);
}

}  // namespace

Result<ChatRequest> decode_request(std::string_view body) {
  if (const auto error = wire::check_json(body)) {
    return fail(invalid("the body is not valid JSON: " + std::string(error->reason) + " at byte " +
                            std::to_string(error->offset),
                        {}, "invalid_json"));
  }
  const JsonValue document(body);
  if (!document.is_object()) return fail(invalid("the body must be a JSON object", {}, "invalid_type"));
  ChatRequest request;
  request.dialect = kDialect;
  request.usage_in_stream = true;
  TopMembers top;
  QQ_CHECK(read_members(document,
                        {{"model", &top.model},
                         {"input", &top.input},
                         {"stream", &top.stream},
                         {"instructions", &top.instructions},
                         {"tools", &top.tools},
                         {"tool_choice", &top.tool_choice},
                         {"text", &top.text},
                         {"reasoning", &top.reasoning},
                         {"include", &top.include},
                         {"conversation", &top.conversation},
                         {"parallel_tool_calls", &top.parallel_tool_calls},
                         {"temperature", &top.temperature},
                         {"top_p", &top.top_p},
                         {"presence_penalty", &top.presence_penalty},
                         {"frequency_penalty", &top.frequency_penalty},
                         {"max_output_tokens", &top.max_output_tokens},
                         {"top_logprobs", &top.top_logprobs},
                         {"user", &top.user},
                         {"metadata", &top.metadata},
                         {"service_tier", &top.service_tier},
                         {"prompt_cache_key", &top.cache_key},
                         {"store", &top.store},
                         {"previous_response_id", &top.previous}},
                        &request.extra));
  QQ_CHECK(decode_body(top, request));
  return request;
}

}  // namespace qq::dialects::openai_responses
