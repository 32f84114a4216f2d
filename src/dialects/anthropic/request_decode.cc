// A client's request. Strict about what is acted on: known members must have their type, and the top-level
// ones may neither stand twice nor be spelled with escapes. Errors are worded as Anthropic's own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"
#include "dialects/call_index.h"
#include "dialects/carried_state.h"
#include "dialects/reasoning.h"

namespace qq::dialects::anthropic {
namespace {

using model::ChatRequest;
using model::Part;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

Error refusal_of(Fault fault) {
  Error error = Error::client(
      ErrorKind::InvalidRequest,
      fault.path.empty() ? std::string(fault.what) : fmt::format("{}: {}", fault.path, fault.what),
      fault.path);
  error.type = "invalid_request_error";
  return error;
}

Fault take_integer(const JsonMembers& member, std::optional<std::int64_t>& out, std::int64_t least) {
  if (member.is_null()) return {};
  out = member.value().integer();
  if (!out) return {std::string(member.raw_key()), "Input should be a valid integer"};
  if (*out < least) return {std::string(member.raw_key()), "Input is smaller than what is allowed"};
  return {};
}

Fault take_number(const JsonMembers& member, std::optional<double>& out) {
  if (member.is_null()) return {};
  const std::string_view text = member.value().text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return {std::string(member.raw_key()), "Input should be a valid number"};
  out = number;
  return {};
}

Fault take_stops(const JsonMembers& member, std::vector<std::string>& out) {
  if (member.is_null()) return {};
  if (!member.is_array()) return {"stop_sequences", "Input should be a valid list"};
  for (JsonElements stops(member.value()); stops.next();) {
    if (!stops.is_string()) return {"stop_sequences", "Input should be a list of strings"};
    out.push_back(stops.value().string());
  }
  return {};
}

// What the calls of the history are called, by their ids.
using CallNames = std::unordered_map<std::string, std::string>;

// Takes off what ids carry, and puts it where it was.
void unload(std::vector<Part>& parts, CallNames& names) {
  std::vector<std::pair<std::size_t, Part>> thoughts;  // and before which part they stood
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (auto* result = parts[i].as<model::ToolResultPart>()) {
      result->call_id = take_carried(result->call_id).id;
      if (const auto name = names.find(result->call_id); name != names.end()) result->name = name->second;
    }
    auto* call = parts[i].as<model::ToolCallPart>();
    if (call == nullptr) continue;
    CarriedId carried = take_carried(call->id);
    call->id = std::move(carried.id);
    names[call->id] = call->name;
    if (!carried.carried.call.empty()) parts[i].state = std::move(carried.carried.call);
    for (Part& thought : carried.carried.reasoning) thoughts.emplace_back(i, std::move(thought));
  }
  if (thoughts.empty()) return;
  KnownStates known;
  known.add(parts);
  std::vector<Part> whole;
  whole.reserve(parts.size() + thoughts.size());
  auto next = thoughts.begin();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (; next != thoughts.end() && next->first == i; ++next) {
      if (known.add(next->second.state)) whole.push_back(std::move(next->second));
    }
    whole.push_back(std::move(parts[i]));
  }
  parts = std::move(whole);
}

Fault take_turn(JsonValue message, model::Turn& turn, CallNames& names) {
  if (!message.is_object()) return {"", "Input should be a valid dictionary"};
  bool has_role = false;
  bool has_content = false;
  for (JsonMembers members(message); members.next();) {
    if (members.key_is("role")) {
      const JsonValue value = members.value();
      const std::string_view role = value.raw_string();
      if (role != "user" && role != "assistant" && role != "system")
        return {"role", "Input should be 'user' or 'assistant'"};
      turn.role = role == "user"        ? model::Role::User
                  : role == "assistant" ? model::Role::Assistant
                                        : model::Role::System;
      has_role = true;
    } else if (members.key_is("content")) {
      if (Fault fault = inside("content", decode_content(members.value(), turn.parts))) return fault;
      has_content = true;
    } else {
      take_extra(members, turn.extra);
    }
  }
  if (!has_role) return {"role", "Field required"};
  if (!has_content) return {"content", "Field required"};
  unload(turn.parts, names);
  return {};
}

Fault take_turns(const JsonMembers& member, std::vector<model::Turn>& turns) {
  if (!member.is_array()) return {"messages", "Input should be a valid list"};
  CallNames names;
  std::size_t number = 0;
  for (JsonElements messages(member.value()); messages.next(); ++number) {
    if (Fault fault = take_turn(messages.value(), turns.emplace_back(), names))
      return inside(fmt::format("messages.{}", number), std::move(fault));
  }
  if (number == 0) return {"messages", "at least one message is required"};
  return {};
}

Fault take_tool(JsonValue entry, model::Tool& tool) {
  if (!entry.is_object()) return {"", "Input should be a valid dictionary"};
  const auto type = entry.member("type");
  if (type && !type->is_null() && type->raw_string() != "custom") {
    tool.kind = model::Tool::Kind::Hosted;
    tool.hosted_by = model::Dialect::Anthropic;
    tool.schema = entry.text();
    const auto name = entry.member("name");
    if (name && name->is_string()) tool.name = name->string();
    return {};
  }
  for (JsonMembers members(entry); members.next();) {
    Fault fault;
    if (members.key_is("type")) {
    } else if (members.key_is("name")) {
      fault = take_text(members, tool.name);
    } else if (members.key_is("description")) {
      fault = take_text(members, tool.description);
    } else if (members.key_is("input_schema")) {
      if (!members.is_object()) return {"input_schema", "Input should be a valid dictionary"};
      tool.schema = members.value().text();
    } else if (members.key_is("strict")) {
      bool strict = false;
      fault = take_flag(members, strict);
      if (!members.is_null()) tool.strict = strict;
    } else if (members.key_is("cache_control")) {
      fault = take_cache(members, tool.cache);
    } else {
      take_extra(members, tool.extra);
    }
    if (fault) return fault;
  }
  if (tool.name.empty()) return {"name", "Field required"};
  if (tool.schema.empty()) return {"input_schema", "Field required"};
  return {};
}

Fault take_tools(const JsonMembers& member, std::vector<model::Tool>& tools) {
  if (member.is_null()) return {};
  if (!member.is_array()) return {"tools", "Input should be a valid list"};
  std::size_t number = 0;
  for (JsonElements entries(member.value()); entries.next(); ++number) {
    if (Fault fault = take_tool(entries.value(), tools.emplace_back()))
      return inside(fmt::format("tools.{}", number), std::move(fault));
  }
  return {};
}

Fault take_tool_choice(const JsonMembers& member, ChatRequest& request) {
  if (member.is_null()) return {};
  using Mode = model::ToolChoice::Mode;
  model::ToolChoice choice;
  std::string type;
  std::string name;
  for (JsonMembers members(member.value()); members.next();) {
    Fault fault;
    if (members.key_is("type")) fault = take_text(members, type);
    if (members.key_is("name")) fault = take_text(members, name);
    if (members.key_is("disable_parallel_tool_use") && !members.is_null()) {
      bool disable = false;
      fault = take_flag(members, disable);
      request.parallel_tool_calls = !disable;
    }
    if (fault) return inside("tool_choice", std::move(fault));
  }
  if (type == "none") {
    choice.mode = Mode::None;
  } else if (type == "any" || type == "tool") {
    choice.mode = Mode::Required;
    if (type == "tool") {
      if (name.empty()) return {"tool_choice.name", "Field required"};
      choice.only.push_back(std::move(name));
    }
  } else if (type != "auto") {
    return {"tool_choice.type", "Input should be 'auto', 'any', 'tool' or 'none'"};
  }
  request.tool_choice = std::move(choice);
  return {};
}

model::ReasoningWish& wish_of(ChatRequest& request) {
  return request.reasoning ? *request.reasoning : request.reasoning.emplace();
}

Fault take_thinking(const JsonMembers& member, ChatRequest& request) {
  if (member.is_null()) return {};
  std::string type;
  std::string display;
  std::optional<std::int64_t> budget;
  for (JsonMembers members(member.value()); members.next();) {
    Fault fault;
    if (members.key_is("type")) fault = take_text(members, type);
    if (members.key_is("display")) fault = take_text(members, display);
    if (members.key_is("budget_tokens")) fault = take_integer(members, budget, 1);
    if (fault) return inside("thinking", std::move(fault));
  }
  model::ReasoningWish& wish = wish_of(request);
  if (type == "enabled") {
    if (!budget) return {"thinking.budget_tokens", "Field required"};
    wish.budget_tokens = budget;
  } else if (type == "adaptive") {
    wish.budget_tokens = -1;
  } else if (type == "disabled") {
    wish.budget_tokens = 0;
  } else {
    return {"thinking.type", "Input should be 'enabled', 'adaptive' or 'disabled'"};
  }
  if (!display.empty()) wish.show = display != "omitted";
  return {};
}

Fault take_format(const JsonMembers& member, ChatRequest& request) {
  if (member.is_null()) return {};
  const auto type = member.value().member("type");
  const auto schema = member.value().member("schema");
  if (!type || type->raw_string() != "json_schema") return {"type", "Input should be 'json_schema'"};
  if (!schema || !schema->is_object()) return {"schema", "Input should be a valid dictionary"};
  model::OutputFormat format;
  format.kind = model::OutputFormat::Kind::JsonSchema;
  format.schema = schema->text();
  request.output = std::move(format);
  return {};
}

// The rest of an object whose members have places of their own here, as "object.member".
void take_rest(std::string_view object, const JsonMembers& member, model::ExtraFields& out) {
  take_extra(member, out);
  out.back().key = fmt::format("{}.{}", object, out.back().key);
}

Fault take_output_config(const JsonMembers& member, ChatRequest& request) {
  for (JsonMembers members(member.value()); members.next();) {
    if (members.key_is("effort")) {
      std::string word;
      Fault fault = take_text(members, word);
      const auto effort = effort_of(word);
      if (!fault && !word.empty() && !effort)
        fault = {"effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"};
      if (fault) return inside("output_config", std::move(fault));
      if (effort) wish_of(request).effort = effort;
    } else if (members.key_is("format")) {
      if (Fault fault = take_format(members, request))
        return inside("output_config.format", std::move(fault));
    } else {
      take_rest("output_config", members, request.extra);
    }
  }
  return {};
}

Fault take_metadata(const JsonMembers& member, ChatRequest& request) {
  for (JsonMembers members(member.value()); members.next();) {
    if (members.key_is("user_id")) {
      if (Fault fault = take_text(members, request.user)) return inside("metadata", std::move(fault));
    } else {
      take_rest("metadata", members, request.extra);
    }
  }
  return {};
}

Fault take_system(const JsonMembers& member, ChatRequest& request) {
  if (member.is_null()) return {};
  model::Turn turn;
  turn.role = model::Role::System;
  if (Fault fault = decode_content(member.value(), turn.parts)) return inside("system", std::move(fault));
  if (!turn.parts.empty()) request.turns.insert(request.turns.begin(), std::move(turn));
  return {};
}

Fault take_beta(const JsonMembers& member, std::string& beta) {
  const auto add = [&](JsonValue value) {
    if (!value.is_string()) return;
    if (!beta.empty()) beta += ',';
    beta += value.string();
  };
  if (member.is_string()) add(member.value());
  for (JsonElements names(member.value()); names.next();) add(names.value());
  return {};
}

// The members that are acted on; others are ExtraFields.
enum class Key : std::uint8_t {
  Model,
  Messages,
  MaxTokens,
  System,
  Stream,
  StopSequences,
  Temperature,
  TopP,
  TopK,
  Tools,
  ToolChoice,
  Thinking,
  OutputConfig,
  OutputFormat,
  Metadata,
  ServiceTier,
  CacheControl,
  Beta,
  Version,
};
constexpr std::array<std::string_view, 19> kKeys{
    "model",         "messages",       "max_tokens",       "system",
    "stream",        "stop_sequences", "temperature",      "top_p",
    "top_k",         "tools",          "tool_choice",      "thinking",
    "output_config", "output_format",  "metadata",         "service_tier",
    "cache_control", "anthropic_beta", "anthropic_version"};

Fault take_member(Key key, const JsonMembers& member, ChatRequest& request, std::string& beta) {
  switch (key) {
    case Key::Model: return take_text(member, request.model);
    case Key::Messages: return take_turns(member, request.turns);
    case Key::MaxTokens: return take_integer(member, request.sampling.max_output_tokens, 1);
    case Key::System: return {};  // stands before the turns, wherever it stands in the body
    case Key::Stream: return take_flag(member, request.stream);
    case Key::StopSequences: return take_stops(member, request.sampling.stop);
    case Key::Temperature: return take_number(member, request.sampling.temperature);
    case Key::TopP: return take_number(member, request.sampling.top_p);
    case Key::TopK: return take_integer(member, request.sampling.top_k, 0);
    case Key::Tools: return take_tools(member, request.tools);
    case Key::ToolChoice: return take_tool_choice(member, request);
    case Key::Thinking: return take_thinking(member, request);
    case Key::OutputConfig: return take_output_config(member, request);
    case Key::OutputFormat: return inside("output_format", take_format(member, request));
    case Key::Metadata: return take_metadata(member, request);
    case Key::ServiceTier: {
      Fault fault = take_text(member, request.service_tier);
      if (request.service_tier == "standard_only") request.service_tier = "default";
      return fault;
    }
    case Key::CacheControl: return take_cache(member, request.cache);
    case Key::Beta: return take_beta(member, beta);
    case Key::Version: return {};  // each target's envelope has its own
  }
  return {};
}

Fault take_members(JsonValue document, ChatRequest& request, std::string& beta) {
  std::array<bool, kKeys.size()> seen{};
  for (JsonMembers members(document); members.next();) {
    const auto* const found =
        std::ranges::find_if(kKeys, [&](std::string_view name) { return members.key_is(name); });
    if (found == kKeys.end()) {
      if (members.key_is(kBetaField)) return {std::string(kBetaField), "this is a header"};
      take_extra(members, request.extra);
      continue;
    }
    const auto index = static_cast<std::size_t>(found - kKeys.begin());
    if (members.raw_key() != *found) return {std::string(*found), "the key is written with escapes"};
    if (std::exchange(seen[index], true)) return {std::string(*found), "the key is given twice"};
    if (Fault fault = take_member(static_cast<Key>(index), members, request, beta)) return fault;
  }
  if (request.model.empty()) return {"model", "Field required"};
  if (request.turns.empty()) return {"messages", "Field required"};
  for (JsonMembers members(document); members.next();) {
    if (members.key_is("system")) return take_system(members, request);
  }
  return {};
}

}  // namespace

Result<ChatRequest> decode_request(std::string_view body, const RequestHead& head, Purpose purpose) {
  if (const auto error = wire::check_json(body)) {
    return fail(refusal_of({"", fmt::format("The request body is not valid JSON: {} at byte {}",
                                            error->reason, error->offset)}));
  }
  const JsonValue document(body);
  if (!document.is_object()) return fail(refusal_of({"", "The request body should be a JSON object"}));
  ChatRequest request;
  request.dialect = model::Dialect::Anthropic;
  request.usage_in_stream = true;
  std::string beta(head.beta);
  if (Fault fault = take_members(document, request, beta)) return fail(refusal_of(std::move(fault)));
  if (purpose == Purpose::Answer && !request.sampling.max_output_tokens)
    return fail(refusal_of({"max_tokens", "Field required"}));
  if (!beta.empty()) {
    model::ExtraField field{std::string(kBetaField), {}};
    wire::append_json_string(field.value, beta);
    request.extra.push_back(std::move(field));
  }
  return request;
}

}  // namespace qq::dialects::anthropic
