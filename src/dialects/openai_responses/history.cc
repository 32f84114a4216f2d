#include "dialects/openai_responses/history.h"

#include <fmt/format.h>

#include "dialects/openai_responses/members.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_responses {
namespace {

using wire::JsonValue;

Result<JsonValue> checked_body(std::string_view body) {
  if (const auto error = wire::check_json(body)) {
    return fail(invalid("the body is not valid JSON: " + std::string(error->reason) + " at byte " +
                            std::to_string(error->offset),
                        {}, "invalid_json"));
  }
  if (!JsonValue(body).is_object())
    return fail(invalid("the body must be a JSON object", {}, "invalid_type"));
  return JsonValue(body);
}

bool is_filled(std::optional<JsonValue> value) noexcept {
  if (!value) return false;
  if (value->is_array()) return wire::JsonElements(*value).next();
  return value->is_string() && !value->raw_string().empty();
}

// A reasoning item that only its own store could fill.
bool is_hollow(JsonValue item) noexcept {
  const auto type = item.member("type");
  if (!type || type->raw_string() != "reasoning") return false;
  return !is_filled(item.member("encrypted_content")) && !is_filled(item.member("summary")) &&
         !is_filled(item.member("content"));
}

// The id that an item_reference is of; nothing for other items. Its type may be left out.
std::optional<JsonValue> reference_of(JsonValue item) noexcept {
  JsonValue type, id, role;
  find_members(item, {{"type", &type}, {"id", &id}, {"role", &role}});
  const bool untyped = absent(type) && absent(role);
  if (absent(id) || (!untyped && type.raw_string() != "item_reference")) return std::nullopt;
  return id;
}

void write_stored(wire::JsonWriter& json, JsonValue item) {
  if (!item.is_object()) {
    json.raw(item.text());
    return;
  }
  json.begin_object();
  for (wire::JsonMembers members(item); members.next();) {
    if (!members.key_is("created_by")) json.raw_member(members.raw_key(), members.value().text());
  }
  json.end_object();
}

void write_all(wire::JsonWriter& json, std::string_view items) {
  for (wire::JsonElements each{JsonValue(items)}; each.next();) {
    if (!is_hollow(each.value())) write_stored(json, each.value());
  }
}

std::optional<JsonValue> find_stored(std::string_view items, std::string_view id) noexcept {
  for (wire::JsonElements each{JsonValue(items)}; each.next();) {
    const auto own = each.value().member("id");
    if (own && own->text() == id) return each.value();
  }
  return std::nullopt;
}

// A request's own input, item by item.
Result<> write_input(wire::JsonWriter& json, JsonValue input, const StoredResponse* stored) {
  if (absent(input)) return {};
  if (input.is_string()) {
    json.begin_object().member("type", "message").member("role", "user");
    json.raw_member("content", input.text()).end_object();
    return {};
  }
  if (!input.is_array()) {
    return fail(invalid("'input' must be a string or an array of items", "input", "invalid_type"));
  }
  std::size_t index = 0;
  for (wire::JsonElements items(input); items.next(); ++index) {
    const JsonValue item = items.value();
    const auto id = stored != nullptr && item.is_object() ? reference_of(item) : std::nullopt;
    if (!id) {
      json.raw(item.text());
      continue;
    }
    auto found = find_stored(stored->output, id->text());
    if (!found) found = find_stored(stored->input, id->text());
    if (!found) {
      return fail(invalid(fmt::format("no item {} is in the conversation", id->text()),
                          fmt::format("input[{}].id", index), "item_not_found"));
    }
    // In the conversation it stands already.
  }
  return {};
}

}  // namespace

Result<model::Json> input_items(std::string_view body) {
  QQ_TRY(const JsonValue document, checked_body(body));
  JsonValue input;
  QQ_CHECK(read_members(document, {{"input", &input}}));
  model::Json items;
  wire::JsonWriter json(items);
  json.begin_array();
  QQ_CHECK(write_input(json, input, nullptr));
  json.end_array();
  return items;
}

Result<std::string> with_history(std::string_view body, const StoredResponse& stored) {
  QQ_TRY(const JsonValue document, checked_body(body));
  JsonValue input, previous;
  QQ_CHECK(read_members(document, {{"input", &input}, {"previous_response_id", &previous}}));
  std::string out;
  out.reserve(body.size() + stored.input.size() + stored.output.size() + 64);
  wire::JsonWriter json(out);
  json.begin_object();
  for (wire::JsonMembers members(document); members.next();) {
    if (members.key_is("input") || members.key_is("previous_response_id")) continue;
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.key("input").begin_array();
  write_all(json, stored.input);
  write_all(json, stored.output);
  QQ_CHECK(write_input(json, input, &stored));
  json.end_array().end_object();
  return out;
}

}  // namespace qq::dialects::openai_responses
