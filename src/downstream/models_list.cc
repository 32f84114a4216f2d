#include "downstream/models_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "dialects/gemini/count_tokens.h"
#include "model/listed_model.h"
#include "wire/json_writer.h"

namespace qq::downstream {
namespace {

using model::Dialect;
constexpr std::string_view kPath = "/v1/models";
constexpr std::string_view kGeminiPath = "/v1beta/models";

// What all of a route's targets have in common.
model::ListedModel listed(const routing::Route& route) {
  model::ListedModel out;
  out.name = route.name;
  bool first = true;
  for (const auto* const candidates : {&route.candidates, &route.fallback}) {
    for (const routing::RouteCandidate& candidate : *candidates) {
      for (const model::Target* const target : candidate.targets) {
        if (std::exchange(first, false)) {
          out.context_tokens = target->context_tokens;
          out.can.assign(target->can.begin(), target->can.end());
          continue;
        }
        if (!target->context_tokens) out.context_tokens.reset();
        if (out.context_tokens) out.context_tokens = std::min(*out.context_tokens, *target->context_tokens);
        std::erase_if(out.can, [target](std::string_view word) {
          return std::ranges::find(target->can, word) == target->can.end();
        });
      }
    }
  }
  return out;
}

// In OpenRouter's words.
void write_modalities(wire::JsonWriter& json, const model::ListedModel& model) {
  struct Modality {
    std::string_view can;
    std::string_view word;
  };
  constexpr std::array kInputs = {Modality{"vision", "image"}, Modality{"audio", "audio"},
                                  Modality{"files", "file"}};
  json.key("architecture").begin_object().key("input_modalities").begin_array().string("text");
  for (const Modality& input : kInputs) {
    if (model.does(input.can)) json.string(input.word);
  }
  std::string_view output = "text";
  if (model.does("images")) output = "image";
  if (model.does("embeddings")) output = "embeddings";
  json.end_array().key("output_modalities").begin_array().string(output).end_array().end_object();
}

// With what OpenAI's list does not say where others' clients look for it: OpenRouter's `context_length` and
// `architecture`, vLLM's `max_model_len`, and `capabilities` in the configuration's words.
void write_openai(wire::JsonWriter& json, const model::ListedModel& model, std::int64_t created) {
  json.begin_object();
  json.member("id", model.name).member("object", "model").member("created", created);
  json.member("owned_by", "queqiao");
  if (model.context_tokens) {
    json.member("context_length", *model.context_tokens).member("max_model_len", *model.context_tokens);
  }
  if (!model.can.empty()) {
    json.key("capabilities").begin_array();
    for (const std::string_view word : model.can) json.string(word);
    json.end_array();
    write_modalities(json, model);
  }
  json.end_object();
}

void write_supported(wire::JsonWriter& json, std::initializer_list<std::string_view> keys, bool supported) {
  for (const std::string_view key : keys)
    json.key(key).begin_object().key("supported").boolean(supported).end_object();
}

wire::JsonWriter& begin_supported(wire::JsonWriter& json, std::string_view key, bool supported) {
  return json.key(key).begin_object().key("supported").boolean(supported);
}

// All members that the dialect has must be there (ModelCapabilities of @anthropic-ai/sdk). What the operator
// has not said counts as not there, and so does what no operator can say.
void write_capabilities(wire::JsonWriter& json, const model::ListedModel& model) {
  const bool reasons = model.does("reasoning");
  json.key("capabilities").begin_object();
  write_supported(json, {"batch", "citations", "code_execution"}, false);
  begin_supported(json, "context_management", false);
  write_supported(json, {"clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"}, false);
  json.end_object();
  begin_supported(json, "effort", reasons);
  write_supported(json, {"low", "medium", "high"}, reasons);
  write_supported(json, {"xhigh", "max"}, false);
  json.end_object();
  write_supported(json, {"image_input"}, model.does("vision"));
  write_supported(json, {"pdf_input"}, model.does("files"));
  begin_supported(json, "server_tools", false);
  write_supported(json, {"code_execution", "web_search"}, false);
  json.end_object();
  write_supported(json, {"structured_outputs"}, model.does("json_schema"));
  begin_supported(json, "thinking", reasons).key("types").begin_object();
  write_supported(json, {"adaptive", "enabled"}, reasons);
  write_supported(json, {"between_tools"}, false);
  write_supported(json, {"disabled"}, true);
  json.end_object().end_object();
  json.end_object();
}

void write_anthropic(wire::JsonWriter& json, const model::ListedModel& model, std::int64_t created) {
  json.begin_object();
  json.member("type", "model").member("id", model.name).member("display_name", model.name);
  const std::string when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{created}));
  json.member("created_at", std::string_view(when));
  json.key("max_input_tokens");
  model.context_tokens ? json.integer(*model.context_tokens) : json.null();
  json.key("max_tokens").null();
  if (model.can.empty()) {
    json.key("capabilities").null();
  } else {
    write_capabilities(json, model);
  }
  json.end_object();
}

std::string openai_list(std::span<const model::ListedModel> models, std::int64_t created) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("object").string("list").key("data").begin_array();
  for (const model::ListedModel& model : models) write_openai(json, model, created);
  json.end_array().end_object();
  return out;
}

// All at once, whatever `limit` says: there are as many as an operator has written down.
std::string anthropic_list(std::span<const model::ListedModel> models, std::int64_t created) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("data").begin_array();
  for (const model::ListedModel& model : models) write_anthropic(json, model, created);
  json.end_array().key("has_more").boolean(false);
  json.key("first_id");
  models.empty() ? json.null() : json.string(models.front().name);
  json.key("last_id");
  models.empty() ? json.null() : json.string(models.back().name);
  json.end_object();
  return out;
}

std::string one(Dialect dialect, const model::ListedModel& model, std::int64_t created) {
  if (dialect == Dialect::Gemini) return dialects::gemini::encode_model(model);
  std::string out;
  wire::JsonWriter json(out);
  dialect == Dialect::Anthropic ? write_anthropic(json, model, created) : write_openai(json, model, created);
  return out;
}

}  // namespace

std::optional<ModelsAsked> models_asked(const wire::RequestHead& head) {
  std::string_view path = head.path();
  ModelsAsked asked;
  if (path.starts_with(kGeminiPath)) {
    asked.dialect = Dialect::Gemini;
    path.remove_prefix(kGeminiPath.size());
  } else if (path.starts_with(kPath)) {
    if (head.fields.find("anthropic-version")) asked.dialect = Dialect::Anthropic;
    if (head.fields.find("x-goog-api-key")) asked.dialect = Dialect::Gemini;
    path.remove_prefix(kPath.size());
  } else {
    return std::nullopt;
  }
  asked.all = path.empty();
  if (asked.all) return asked;
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  asked.name = percent_decoded(path).value_or(std::string(path));
  return asked;
}

std::optional<std::string> models_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key,
                                       const ModelsAsked& asked) {
  if (!asked.all) {
    const routing::Route* const route = snapshot.find_route(asked.name);
    if (route == nullptr || !admission::may_use(key, asked.name)) return std::nullopt;
    return one(asked.dialect, listed(*route), snapshot.created_unix);
  }
  std::vector<model::ListedModel> models;
  for (const std::string& name : snapshot.public_names) {
    if (admission::may_use(key, name)) models.push_back(listed(*snapshot.find_route(name)));
  }
  switch (asked.dialect) {
    case Dialect::Gemini: return dialects::gemini::encode_models(models);
    case Dialect::Anthropic: return anthropic_list(models, snapshot.created_unix);
    default: return openai_list(models, snapshot.created_unix);
  }
}

}  // namespace qq::downstream
