#include "downstream/models_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <vector>

#include "dialects/gemini/count_tokens.h"
#include "relay/called.h"
#include "wire/json_writer.h"

namespace qq::downstream {
namespace {

using model::Dialect;
constexpr std::string_view kPath = "/v1/models";
constexpr std::string_view kGeminiPath = "/v1beta/models";

void write_openai(wire::JsonWriter& json, std::string_view name, std::int64_t created) {
  json.begin_object();
  json.member("id", name).member("object", "model").member("created", created);
  json.member("owned_by", "queqiao");
  json.end_object();
}

void write_anthropic(wire::JsonWriter& json, std::string_view name, std::int64_t created) {
  json.begin_object();
  json.member("type", "model").member("id", name).member("display_name", name);
  const std::string when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{created}));
  json.member("created_at", std::string_view(when));
  json.end_object();
}

std::string openai_list(std::span<const std::string_view> names, std::int64_t created) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("object").string("list").key("data").begin_array();
  for (const std::string_view name : names) write_openai(json, name, created);
  json.end_array().end_object();
  return out;
}

// All at once, whatever `limit` says: there are as many as an operator has written down.
std::string anthropic_list(std::span<const std::string_view> names, std::int64_t created) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("data").begin_array();
  for (const std::string_view name : names) write_anthropic(json, name, created);
  json.end_array().key("has_more").boolean(false);
  json.key("first_id");
  names.empty() ? json.null() : json.string(names.front());
  json.key("last_id");
  names.empty() ? json.null() : json.string(names.back());
  json.end_object();
  return out;
}

std::string one(Dialect dialect, std::string_view name, std::int64_t created) {
  if (dialect == Dialect::Gemini) return dialects::gemini::encode_model(name);
  std::string out;
  wire::JsonWriter json(out);
  dialect == Dialect::Anthropic ? write_anthropic(json, name, created) : write_openai(json, name, created);
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
  asked.name = relay::percent_decoded(path).value_or(std::string(path));
  return asked;
}

std::optional<std::string> models_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key,
                                       const ModelsAsked& asked) {
  if (!asked.all) {
    if (snapshot.find_route(asked.name) == nullptr || !admission::may_use(key, asked.name)) {
      return std::nullopt;
    }
    return one(asked.dialect, asked.name, snapshot.created_unix);
  }
  std::vector<std::string_view> names;
  for (const std::string& name : snapshot.public_names) {
    if (admission::may_use(key, name)) names.push_back(name);
  }
  switch (asked.dialect) {
    case Dialect::Gemini: return dialects::gemini::encode_models(names);
    case Dialect::Anthropic: return anthropic_list(names, snapshot.created_unix);
    default: return openai_list(names, snapshot.created_unix);
  }
}

}  // namespace qq::downstream
