#include "dialects/openai_responses/response_object.h"

#include <algorithm>
#include <set>

#include "dialects/openai_responses/items.h"
#include "dialects/reasoning.h"

namespace qq::dialects::openai_responses {
namespace {

using model::Finish;

void write_string_or_null(wire::JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  if (text.empty()) {
    json.null();
  } else {
    json.string(text);
  }
}

// The words of `instructions`, or of the first system message, which is the same.
std::string_view instructions_of(const model::ChatRequest& request) noexcept {
  if (request.turns.empty() || request.turns.front().role != model::Role::System) return {};
  const auto& parts = request.turns.front().parts;
  const auto* text = parts.empty() ? nullptr : parts.front().as<model::TextPart>();
  return text == nullptr ? std::string_view() : std::string_view(text->text);
}

std::set<std::string_view> custom_tools(const model::ChatRequest& request) {
  std::set<std::string_view> names;
  for (const model::Tool& tool : request.tools) {
    if (tool.kind == model::Tool::Kind::Custom) names.insert(tool.name);
  }
  return names;
}

// A grammar lies flat here; OpenAI's chat dialect has it one object deeper.
void write_custom_format(wire::JsonWriter& json, wire::JsonValue format) {
  const auto grammar = format.member("grammar");
  if (!grammar || !grammar->is_object()) {
    json.raw_member("format", format.text());
    return;
  }
  json.key("format").begin_object().member("type", "grammar");
  for (const std::string_view name : {"syntax", "definition"}) {
    if (const auto value = grammar->member(name)) json.raw_member(name, value->text());
  }
  json.end_object();
}

std::string_view word_of(model::ToolChoice::Mode mode) noexcept {
  switch (mode) {
    case model::ToolChoice::Mode::Auto: return "auto";
    case model::ToolChoice::Mode::None: return "none";
    case model::ToolChoice::Mode::Required: return "required";
  }
  return "auto";
}

}  // namespace

Ending ending_of(Finish finish, std::string_view word, bool refused_in_words) noexcept {
  constexpr Ending kFiltered{"incomplete", "content_filter"};
  switch (finish) {
    case Finish::None:
    case Finish::Stop:
    case Finish::StopString:
    case Finish::ToolCalls: return {"completed", {}};
    case Finish::Length: return {"incomplete", "max_output_tokens"};
    case Finish::Filtered: return kFiltered;
    case Finish::Refusal: return refused_in_words ? Ending{"completed", {}} : kFiltered;
    case Finish::Paused:
      if (word == "queued" || word == "in_progress") return {word, {}};
      return {"incomplete", word.empty() ? std::string_view("pause_turn") : word};
    case Finish::Broken: return {"failed", {}};
  }
  return {"completed", {}};
}

const model::ExtraField* find_extra(const model::ChatRequest& request, std::string_view key) noexcept {
  if (request.dialect != kDialect) return nullptr;
  const auto found = std::ranges::find(request.extra, key, &model::ExtraField::key);
  return found == request.extra.end() ? nullptr : &*found;
}

void write_nested(wire::JsonWriter& json, const model::ExtraFields& extra, std::string_view path) {
  for (const model::ExtraField& each : extra) {
    if (each.key.starts_with(path))
      json.any_key(std::string_view(each.key).substr(path.size())).raw(each.value);
  }
}

void write_tools(wire::JsonWriter& json, const model::ChatRequest& request) {
  json.begin_array();
  for (const model::Tool& tool : request.tools) {
    if (tool.kind == model::Tool::Kind::Hosted) {
      if (tool.hosted_by == kDialect) json.raw(tool.schema);
      continue;
    }
    const bool custom = tool.kind == model::Tool::Kind::Custom;
    json.begin_object().member("type", custom ? "custom" : "function").member("name", tool.name);
    if (!tool.description.empty()) json.member("description", tool.description);
    if (custom) {
      if (!tool.schema.empty()) write_custom_format(json, wire::JsonValue(tool.schema));
    } else {
      json.raw_member("parameters", tool.schema.empty() ? R"({"type":"object","properties":{}})"
                                                        : std::string_view(tool.schema));
      // Here not saying it is strict, everywhere else it is not.
      const bool foreign = request.dialect != kDialect;
      if (tool.strict || foreign) json.member("strict", tool.strict.value_or(false));
    }
    if (request.dialect == kDialect) {
      for (const model::ExtraField& each : tool.extra) json.any_key(each.key).raw(each.value);
    }
    json.end_object();
  }
  json.end_array();
}

void write_tool_choice(wire::JsonWriter& json, const model::ChatRequest& request,
                       const model::ToolChoice& choice) {
  if (const auto* raw = find_extra(request, "tool_choice")) {
    json.raw(raw->value);
    return;
  }
  if (choice.only.empty() || choice.mode == model::ToolChoice::Mode::None) {
    json.string(word_of(choice.mode));
    return;
  }
  const auto write_tool = [&, custom = custom_tools(request)](const std::string& name) {
    json.begin_object().member("type", custom.contains(name) ? "custom" : "function");
    json.member("name", name).end_object();
  };
  if (choice.only.size() == 1 && choice.mode == model::ToolChoice::Mode::Required) {
    write_tool(choice.only.front());
    return;
  }
  json.begin_object().member("type", "allowed_tools").member("mode", word_of(choice.mode));
  json.key("tools").begin_array();
  for (const std::string& name : choice.only) write_tool(name);
  json.end_array().end_object();
}

void write_text(wire::JsonWriter& json, const model::ChatRequest& request, std::string_view verbosity) {
  json.begin_object();
  if (request.output || find_extra(request, "text.format") == nullptr) {
    const model::OutputFormat format = request.output.value_or(model::OutputFormat{});
    json.key("format").begin_object();
    switch (format.kind) {
      case model::OutputFormat::Kind::Text: json.member("type", "text"); break;
      case model::OutputFormat::Kind::JsonObject: json.member("type", "json_object"); break;
      case model::OutputFormat::Kind::JsonSchema:
        json.member("type", "json_schema");
        json.member("name", format.name.empty() ? std::string_view("answer") : format.name);
        if (!format.description.empty()) json.member("description", format.description);
        json.raw_member("schema", format.schema);
        if (format.strict) json.member("strict", *format.strict);
        break;
    }
    json.end_object();
  }
  if (request.dialect == kDialect) write_nested(json, request.extra, "text.");
  if (!verbosity.empty()) json.raw_member("verbosity", verbosity);
  json.end_object();
}

void write_usage(wire::JsonWriter& json, const model::Usage& usage) {
  if (usage.source == model::UsageSource::None) {
    json.null();
    return;
  }
  json.begin_object().member("input_tokens", usage.input_total());
  json.key("input_tokens_details").begin_object().member("cached_tokens", usage.cache_read.value_or(0));
  if (usage.cache_write || usage.cache_write_1h) {
    json.member("cache_write_tokens", usage.cache_write.value_or(0) + usage.cache_write_1h.value_or(0));
  }
  json.end_object().member("output_tokens", usage.output_total());
  json.key("output_tokens_details").begin_object();
  json.member("reasoning_tokens", usage.reasoning.value_or(0)).end_object();
  json.member("total_tokens", usage.input_total() + usage.output_total()).end_object();
}

std::string echo_of(const model::ChatRequest& request) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object();
  json.member("background", false);
  write_string_or_null(json, "instructions", instructions_of(request));
  json.key("max_output_tokens");
  if (request.sampling.max_output_tokens) {
    json.integer(*request.sampling.max_output_tokens);
  } else {
    json.null();
  }
  json.key("max_tool_calls")
      .raw(find_extra(request, "max_tool_calls") != nullptr
               ? std::string_view(find_extra(request, "max_tool_calls")->value)
               : "null");
  json.member("parallel_tool_calls", request.parallel_tool_calls.value_or(true));
  write_string_or_null(json, "previous_response_id", request.previous_response_id);
  write_string_or_null(json, "prompt_cache_key", request.cache_key);
  json.key("reasoning").begin_object().key("effort");
  const auto effort = request.reasoning ? effort_of(*request.reasoning) : std::nullopt;
  if (effort) {
    json.string(dialects::word_of(*effort));
  } else {
    json.null();
  }
  write_string_or_null(json, "summary", request.reasoning ? request.reasoning->summary : std::string_view());
  json.end_object();
  const auto* safety = find_extra(request, "safety_identifier");
  json.key("safety_identifier").raw(safety != nullptr ? std::string_view(safety->value) : "null");
  json.member("store", request.store.value_or(true));
  json.member("temperature", request.sampling.temperature.value_or(1.0));
  json.key("text");
  write_text(json, request);
  json.key("tool_choice");
  write_tool_choice(json, request, request.tool_choice.value_or(model::ToolChoice{}));
  json.key("tools");
  write_tools(json, request);
  json.member("top_logprobs", request.sampling.top_logprobs.value_or(0));
  json.member("top_p", request.sampling.top_p.value_or(1.0));
  const auto* truncation = find_extra(request, "truncation");
  json.key("truncation").raw(truncation != nullptr ? std::string_view(truncation->value) : "\"disabled\"");
  write_string_or_null(json, "user", request.user);
  json.raw_member("metadata", request.metadata.empty() ? std::string_view("{}") : request.metadata);
  json.end_object();
  return out.substr(1, out.size() - 2);
}

void write_response(wire::JsonWriter& json, const ResponseFacts& facts) {
  json.begin_object();
  json.member("id", facts.id).member("object", "response").member("created_at", facts.created);
  json.member("status", facts.ending.status);
  json.key("error");
  if (facts.ending.status == "failed") {
    json.begin_object();
    json.member("code", facts.error_code.empty() ? std::string_view("server_error") : facts.error_code);
    json.member("message", facts.error_message.empty() ? std::string_view("the generation failed")
                                                       : facts.error_message);
    json.end_object();
  } else {
    json.null();
  }
  json.key("incomplete_details");
  if (facts.ending.reason.empty()) {
    json.null();
  } else {
    json.begin_object().member("reason", facts.ending.reason).end_object();
  }
  json.member("model", facts.model);
  json.raw_member("output", facts.output);
  write_string_or_null(json, "service_tier", facts.service_tier);
  json.key("usage");
  if (facts.usage == nullptr) {
    json.null();
  } else {
    write_usage(json, *facts.usage);
  }
  if (facts.extra != nullptr) {
    for (const model::ExtraField& each : *facts.extra) json.any_key(each.key).raw(each.value);
  }
  // A member more of the same object: the echo has its own commas.
  if (!facts.echo.empty()) json.raw(facts.echo);
  json.end_object();
}

}  // namespace qq::dialects::openai_responses
