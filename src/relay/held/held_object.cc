#include "relay/held/held_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dialects/openai/answer.h"
#include "relay/path_form.h"
#include "wire/json_patch.h"
#include "wire/json_writer.h"

namespace qq::relay {
namespace {

Error no_object(const char* why) {
  return Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun, why);
}

std::string text_of(wire::JsonValue object, std::string_view key) {
  const auto value = object.member(key);
  return value && value->is_string() ? value->string() : std::string();
}

bool has_ended(HoldingKind kind, wire::JsonValue object) {
  if (kind == HoldingKind::MessageBatch) return text_of(object, "processing_status") == "ended";
  constexpr std::array<std::string_view, 4> kEnds = {"completed", "failed", "expired", "cancelled"};
  return kind == HoldingKind::Batch && std::ranges::find(kEnds, text_of(object, "status")) != kEnds.end();
}

void write_unread(wire::JsonWriter& json, const Holding& holding) {
  const auto created =
      std::chrono::duration_cast<std::chrono::seconds>(holding.created.time_since_epoch()).count();
  json.begin_object().member("id", std::string_view(holding.id)).member("object", "file");
  json.member("purpose", std::string_view(holding.purpose)).member("created_at", created);
  json.member("bytes", 0).member("filename", "").member("status", "processed").end_object();
}

}  // namespace

Result<HeldObject> read_held_object(HoldingKind kind, std::string_view json, const model::Quirks& quirks) {
  const wire::JsonValue object(json);
  HeldObject said;
  said.id = text_of(object, "id");
  if (!is_object_id(said.id)) return fail(no_object("the provider's answer has no id that can be asked for"));
  if (kind == HoldingKind::File) said.purpose = text_of(object, "purpose");
  said.ended = has_ended(kind, object);
  if (kind == HoldingKind::Batch) {
    for (const std::string_view key : {"output_file_id", "error_file_id"}) {
      std::string file = text_of(object, key);
      if (is_object_id(file)) said.left.push_back(std::move(file));
    }
    const auto usage = object.member("usage");
    if (usage && usage->is_object()) said.usage = dialects::openai::decode_usage(*usage, quirks);
  }
  return said;
}

std::string told_object(HoldingKind kind, std::string json, std::string_view id) {
  if (kind != HoldingKind::MessageBatch) return json;
  const auto results = wire::JsonValue(json).member("results_url");
  if (!results || !results->is_string()) return json;
  wire::JsonPatch patch(json);
  patch.replace(*results, fmt::format("\"/v1/messages/batches/{}/results\"", id));
  return patch.apply();
}

std::string encode_page(HoldingKind kind, const HoldingPage& page) {
  const bool is_openais = kind == HoldingKind::File || kind == HoldingKind::Batch;
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object();
  if (is_openais) json.member("object", "list");
  json.key("data").begin_array();
  for (const Holding& holding : page.holdings) {
    holding.object.empty() ? write_unread(json, holding) : static_cast<void>(json.raw(holding.object));
  }
  json.end_array().key("first_id");
  page.holdings.empty() ? json.null() : json.string(page.holdings.front().id);
  json.key("last_id");
  page.holdings.empty() ? json.null() : json.string(page.holdings.back().id);
  json.member("has_more", page.has_more).end_object();
  return out;
}

}  // namespace qq::relay
