// A client's body to the neutral request: what stands beside its messages.
#include <algorithm>

#include "dialects/openai/shared_members.h"
#include "dialects/openai_chat/members.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/reasoning.h"

namespace qq::dialects::openai_chat {
namespace {

using model::ChatRequest;
using wire::JsonValue;

enum Top : std::size_t {
  Model,
  Messages,
  Stream,
  StreamOptions,
  Tools,
  ToolChoiceKey,
  ParallelCalls,
  ResponseFormat,
  EffortKey,
  Reasoning,
  IncludeReasoning,
  MaxTokens,
  MaxCompletionTokens,
  Temperature,
  TopP,
  TopK,
  PresencePenalty,
  FrequencyPenalty,
  Seed,
  Stop,
  N,
  Logprobs,
  TopLogprobs,
  LogitBias,
  Modalities,
  Audio,
  User,
  Metadata,
  ServiceTier,
  CacheKey,
  Store,
  CacheControl,
  Functions,
  FunctionCall,
  kTopCount,
};
constexpr std::array<std::string_view, kTopCount> kTop{"model",
                                                       "messages",
                                                       "stream",
                                                       "stream_options",
                                                       "tools",
                                                       "tool_choice",
                                                       "parallel_tool_calls",
                                                       "response_format",
                                                       "reasoning_effort",
                                                       "reasoning",
                                                       "include_reasoning",
                                                       "max_tokens",
                                                       "max_completion_tokens",
                                                       "temperature",
                                                       "top_p",
                                                       "top_k",
                                                       "presence_penalty",
                                                       "frequency_penalty",
                                                       "seed",
                                                       "stop",
                                                       "n",
                                                       "logprobs",
                                                       "top_logprobs",
                                                       "logit_bias",
                                                       "modalities",
                                                       "audio",
                                                       "user",
                                                       "metadata",
                                                       "service_tier",
                                                       "prompt_cache_key",
                                                       "store",
                                                       "cache_control",
                                                       "functions",
                                                       "function_call"};
using Values = std::array<JsonValue, kTopCount>;

Path at_top(Top key) noexcept {
  return {nullptr, kTop[key], 0};
}

Result<> read_object(const Values& values, Top key, model::Json& out) {
  if (!given(values[key])) return {};
  if (!values[key].is_object()) return fail(invalid_at(at_top(key), "must be an object", "invalid_type"));
  out = values[key].text();
  return {};
}

Result<> read_stream(const Values& values, ChatRequest& out) {
  std::optional<bool> stream;
  QQ_CHECK(read_into(values[Stream], at_top(Stream), stream));
  out.stream = stream.value_or(false);
  if (!given(values[StreamOptions])) return {};
  constexpr std::array<std::string_view, 1> kNames{"include_usage"};
  std::array<JsonValue, 1> found;
  model::ExtraFields other;  // include_obfuscation: padding is ours to add or leave
  const Path path = at_top(StreamOptions);
  QQ_CHECK(read_members(values[StreamOptions], path, kNames, found, other));
  std::optional<bool> usage;
  QQ_CHECK(read_into(found[0], path / kNames[0], usage));
  out.usage_in_stream = usage.value_or(false);
  return {};
}

Result<> read_sampling(const Values& values, model::Sampling& out) {
  const auto read = [&](Top key, auto& into) { return read_into(values[key], at_top(key), into); };
  QQ_CHECK(read(Temperature, out.temperature));
  QQ_CHECK(read(TopP, out.top_p));
  QQ_CHECK(read(TopK, out.top_k));
  QQ_CHECK(read(PresencePenalty, out.presence_penalty));
  QQ_CHECK(read(FrequencyPenalty, out.frequency_penalty));
  QQ_CHECK(read(Seed, out.seed));
  QQ_CHECK(read(N, out.choices));
  QQ_CHECK(read(Logprobs, out.logprobs));
  QQ_CHECK(read(TopLogprobs, out.top_logprobs));
  QQ_CHECK(read(MaxTokens, out.max_output_tokens));
  if (out.max_output_tokens && given(values[MaxCompletionTokens])) {
    return fail(invalid_at(at_top(MaxTokens), "and 'max_completion_tokens' are the same; give one of them"));
  }
  QQ_CHECK(read(MaxCompletionTokens, out.max_output_tokens));
  const JsonValue stop = values[Stop];
  if (stop.is_string()) {
    out.stop.push_back(stop.string());
  } else if (given(stop)) {
    if (!stop.is_array()) return fail(invalid_at(at_top(Stop), "must be a string or an array of strings"));
    for (wire::JsonElements each(stop); each.next();) {
      if (!each.is_string()) return fail(invalid_at(at_top(Stop)[out.stop.size()], "must be a string"));
      out.stop.push_back(each.value().string());
    }
  }
  return read_object(values, LogitBias, out.logit_bias);
}

// reasoning_effort, or OpenRouter's reasoning {effort, max_tokens, exclude, enabled}.
Result<> read_reasoning(const Values& values, ChatRequest& out) {
  std::string effort;
  std::optional<bool> show;
  QQ_CHECK(read_into(values[EffortKey], at_top(EffortKey), effort));
  QQ_CHECK(read_into(values[IncludeReasoning], at_top(IncludeReasoning), show));
  model::ReasoningWish wish{.effort = {}, .budget_tokens = {}, .show = show, .summary = {}};
  if (!effort.empty()) {
    wish.effort = effort_of(effort);
    // A word of one provider's ("default") goes back to that provider.
    if (!wish.effort) out.extra.push_back({"reasoning_effort", std::string(values[EffortKey].text())});
  }
  if (given(values[Reasoning])) {
    const Path path = at_top(Reasoning);
    constexpr std::array<std::string_view, 4> kNames{"effort", "max_tokens", "exclude", "enabled"};
    std::array<JsonValue, 4> found;
    model::ExtraFields other;
    QQ_CHECK(read_members(values[Reasoning], path, kNames, found, other));
    std::optional<bool> exclude;
    std::optional<bool> enabled;
    std::string word;
    QQ_CHECK(read_into(found[0], path / kNames[0], word));
    QQ_CHECK(read_into(found[1], path / kNames[1], wish.budget_tokens));
    QQ_CHECK(read_into(found[2], path / kNames[2], exclude));
    QQ_CHECK(read_into(found[3], path / kNames[3], enabled));
    if (!word.empty()) {
      wish.effort = effort_of(word);
      if (!wish.effort) return fail(invalid_at(path / kNames[0], "is no effort: say low, medium or high"));
    }
    if (enabled == false) wish.effort = Effort::None;
    if (enabled == true && !wish.effort && !wish.budget_tokens) wish.effort = Effort::Medium;
    if (exclude) wish.show = !*exclude;
    for (model::ExtraField& field : other) out.extra.push_back({"reasoning." + field.key, field.value});
  }
  if (wish.effort || wish.budget_tokens || wish.show) out.reasoning = std::move(wish);
  return {};
}

Result<> read_format(const Values& values, ChatRequest& out) {
  const JsonValue format = values[ResponseFormat];
  if (!given(format)) return {};
  const Path path = at_top(ResponseFormat);
  constexpr std::array<std::string_view, 2> kNames{"type", "json_schema"};
  std::array<JsonValue, 2> found;
  model::ExtraFields other;
  QQ_CHECK(read_members(format, path, kNames, found, other));
  using Kind = model::OutputFormat::Kind;
  const std::string_view type = found[0].raw_string();
  if (type == "text" || type == "json_object") {
    out.output = model::OutputFormat{.kind = type == "text" ? Kind::Text : Kind::JsonObject,
                                     .name = {},
                                     .description = {},
                                     .schema = {},
                                     .strict = {}};
    return {};
  }
  if (type != "json_schema") {  // a grammar, a regular expression: the provider's own
    out.extra.push_back({"response_format", std::string(format.text())});
    return {};
  }
  model::OutputFormat& output = out.output.emplace();
  output.kind = Kind::JsonSchema;
  constexpr std::array<std::string_view, 4> kInner{"name", "description", "schema", "strict"};
  std::array<JsonValue, 4> inner;
  const Path at = path / kNames[1];
  QQ_CHECK(read_members(found[1], at, kInner, inner, other));
  QQ_CHECK(read_into(inner[0], at / kInner[0], output.name));
  QQ_CHECK(read_into(inner[1], at / kInner[1], output.description));
  output.schema = inner[2].text();
  return read_into(inner[3], at / kInner[3], output.strict);
}

Result<> read_tool(JsonValue entry, const Path& path, ChatRequest& out) {
  constexpr std::array<std::string_view, 4> kNames{"type", "function", "custom", "cache_control"};
  std::array<JsonValue, 4> found;
  model::Tool tool;
  QQ_CHECK(read_members(entry, path, kNames, found, tool.extra));
  const std::string_view type = found[0].raw_string();
  const bool is_custom = type == "custom";
  // Mistral's SDK sends no type.
  if (!is_custom && type != "function" && (given(found[0]) || !given(found[1]))) {
    if (type.empty()) return fail(invalid_at(path / kNames[0], "is missing: say \"function\""));
    out.tools.push_back({.kind = model::Tool::Kind::Hosted,
                         .name = std::string(type),
                         .description = {},
                         .schema = std::string(entry.text()),
                         .strict = {},
                         .cache = {},
                         .extra = {}});
    return {};
  }
  tool.kind = is_custom ? model::Tool::Kind::Custom : model::Tool::Kind::Function;
  constexpr std::array<std::string_view, 5> kInner{"name", "description", "parameters", "strict", "format"};
  std::array<JsonValue, 5> inner;
  const Path at = path / kNames[is_custom ? 2 : 1];
  model::ExtraFields other;
  QQ_CHECK(read_members(found[is_custom ? 2 : 1], at, kInner, inner, other));
  QQ_CHECK(read_into(inner[0], at / kInner[0], tool.name));
  if (tool.name.empty()) return fail(invalid_at(at / kInner[0], "is missing: give the tool's name"));
  QQ_CHECK(read_into(inner[1], at / kInner[1], tool.description));
  QQ_CHECK(read_into(inner[3], at / kInner[3], tool.strict));
  tool.schema = inner[is_custom ? 4 : 2].text();
  for (model::ExtraField& field : other) tool.extra.push_back({"function." + field.key, field.value});
  QQ_CHECK(read_into(found[3], path / kNames[3], tool.cache));
  out.tools.push_back(std::move(tool));
  return {};
}

// {type: function, function: {name}} or the same of a custom tool; empty if it is neither.
std::string named_tool(JsonValue choice) {
  for (const std::string_view kind : {"function", "custom"}) {
    const auto name = choice.at(kind, "name");
    if (name && name->is_string()) return name->string();
  }
  return {};
}

Result<> read_tool_choice(const Values& values, ChatRequest& out) {
  const JsonValue choice = values[ToolChoiceKey];
  if (!given(choice)) return {};
  const Path path = at_top(ToolChoiceKey);
  using Mode = model::ToolChoice::Mode;
  const auto mode_of = [](std::string_view word) -> std::optional<Mode> {
    if (word == "auto") return Mode::Auto;
    if (word == "none") return Mode::None;
    if (word == "required" || word == "any") return Mode::Required;  // Mistral: any
    return std::nullopt;
  };
  model::ToolChoice& made = out.tool_choice.emplace();
  std::optional<Mode> mode = Mode::Required;
  if (choice.is_string()) {
    mode = mode_of(choice.raw_string());
  } else if (const auto allowed = choice.member("allowed_tools")) {
    const auto word = allowed->member("mode");
    mode = mode_of(word ? word->raw_string() : std::string_view());
    const auto tools = allowed->member("tools");
    for (wire::JsonElements each(tools.value_or(JsonValue())); tools && each.next();) {
      made.only.push_back(named_tool(each.value()));
    }
  } else {
    made.only.push_back(named_tool(choice));
  }
  if (!mode || std::ranges::find(made.only, "") != made.only.end()) {
    return fail(invalid_at(path, "must be \"none\", \"auto\", \"required\", or name a function"));
  }
  made.mode = *mode;
  return {};
}

Result<> read_tools(const Values& values, ChatRequest& out) {
  if (given(values[Functions]) || given(values[FunctionCall])) {
    const Top key = given(values[Functions]) ? Functions : FunctionCall;
    return fail(invalid_at(at_top(key), "is not possible with this model: use 'tools' and 'tool_choice'",
                           "unsupported_parameter"));
  }
  if (given(values[Tools])) {
    if (!values[Tools].is_array()) return fail(invalid_at(at_top(Tools), "must be an array", "invalid_type"));
    const Path path = at_top(Tools);
    std::size_t index = 0;
    for (wire::JsonElements each(values[Tools]); each.next();) {
      QQ_CHECK(read_tool(each.value(), path[index++], out));
    }
  }
  QQ_CHECK(read_tool_choice(values, out));
  return read_into(values[ParallelCalls], at_top(ParallelCalls), out.parallel_tool_calls);
}

Result<> read_rest(const Values& values, ChatRequest& out) {
  if (given(values[Modalities])) {
    if (!values[Modalities].is_array()) return fail(invalid_at(at_top(Modalities), "must be an array"));
    for (wire::JsonElements each(values[Modalities]); each.next();) {
      if (!each.is_string()) return fail(invalid_at(at_top(Modalities), "must hold strings"));
      out.modalities.push_back(each.value().string());
    }
  }
  QQ_CHECK(read_object(values, Audio, out.audio_output));
  QQ_CHECK(read_object(values, Metadata, out.metadata));
  QQ_CHECK(read_into(values[User], at_top(User), out.user));
  openai::take_user(out);
  QQ_CHECK(read_into(values[ServiceTier], at_top(ServiceTier), out.service_tier));
  QQ_CHECK(read_into(values[CacheKey], at_top(CacheKey), out.cache_key));
  QQ_CHECK(read_into(values[Store], at_top(Store), out.store));
  return read_into(values[CacheControl], at_top(CacheControl), out.cache);
}

}  // namespace

Result<ChatRequest> decode_request(std::string_view body) {
  if (const auto error = wire::check_json(body)) {
    return fail(invalid_at(
        {}, "is not valid JSON: " + std::string(error->reason) + " at byte " + std::to_string(error->offset),
        "invalid_json"));
  }
  ChatRequest out;
  Values values;
  QQ_CHECK(read_members(JsonValue(body), {}, kTop, values, out.extra));
  QQ_CHECK(read_into(values[Model], at_top(Model), out.model));
  if (out.model.empty()) {
    return fail(invalid_at(at_top(Model), "is missing: give the name of a model or route",
                           "missing_required_parameter"));
  }
  QQ_CHECK(read_stream(values, out));
  QQ_CHECK(read_sampling(values, out.sampling));
  QQ_CHECK(read_reasoning(values, out));
  QQ_CHECK(read_format(values, out));
  QQ_CHECK(read_tools(values, out));
  QQ_CHECK(read_rest(values, out));
  if (!values[Messages].is_array()) {
    return fail(invalid_at(at_top(Messages), "must be an array of messages",
                           given(values[Messages]) ? "invalid_type" : "missing_required_parameter"));
  }
  QQ_CHECK(decode_messages(values[Messages].text(), out));
  return out;
}

}  // namespace qq::dialects::openai_chat
