#include "dialects/openai_responses/history.h"

#include <fmt/format.h>

#include <set>

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

// Of ids that were made here. Another store expects another beginning or its own ids, so they are not sent.
constexpr std::string_view kMadeHere = "qq_item_";

bool is_made_here(JsonValue id) noexcept {
  return id.raw_string().starts_with(kMadeHere);
}

Error bad_answer(const char* what) {
  return Error::gateway(ErrorKind::BadJson, what);
}

Result<JsonValue> checked_object(std::string_view text, const char* what) {
  if (wire::check_json(text) || !JsonValue(text).is_object()) return fail(bad_answer(what));
  return JsonValue(text);
}

Result<JsonValue> checked_array(std::string_view text, const char* what) {
  if (wire::check_json(text) || !JsonValue(text).is_array()) return fail(bad_answer(what));
  return JsonValue(text);
}

void write_stored(wire::JsonWriter& json, JsonValue item) {
  if (!item.is_object()) {
    json.raw(item.text());
    return;
  }
  json.begin_object();
  for (wire::JsonMembers members(item); members.next();) {
    if (members.key_is("created_by")) continue;
    if (members.key_is("id") && is_made_here(members.value())) continue;
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.end_object();
}

void write_all(wire::JsonWriter& json, std::string_view items) {
  for (wire::JsonElements each{JsonValue(items)}; each.next();) {
    if (!is_hollow(each.value())) write_stored(json, each.value());
  }
}

// The ids of what is stored, read at the first reference: there may be many of both.
class StoredIds {
 public:
  explicit StoredIds(const Exchange& past) noexcept : past_(past) {}
  bool contains(JsonValue id) {
    if (!ids_) {
      ids_.emplace();
      read(past_.input);
      read(past_.output);
    }
    return ids_->contains(id.text());
  }

 private:
  void read(std::string_view items) {
    for (wire::JsonElements each{JsonValue(items)}; each.next();) {
      if (const auto id = each.value().member("id")) ids_->insert(id->text());
    }
  }
  const Exchange& past_;
  std::optional<std::set<std::string_view>> ids_;
};

// A request's own input, item by item.
Result<> write_input(wire::JsonWriter& json, JsonValue input, const Exchange* past) {
  if (absent(input)) return {};
  if (input.is_string()) {
    json.begin_object().member("type", "message").member("role", "user");
    json.raw_member("content", input.text()).end_object();
    return {};
  }
  if (!input.is_array()) {
    return fail(invalid("'input' must be a string or an array of items", "input", "invalid_type"));
  }
  std::optional<StoredIds> stored;
  std::size_t index = 0;
  for (wire::JsonElements items(input); items.next(); ++index) {
    const JsonValue item = items.value();
    const auto id = past != nullptr && item.is_object() ? reference_of(item) : std::nullopt;
    if (!id) {
      json.raw(item.text());
      continue;
    }
    if (!stored) stored.emplace(*past);
    if (!stored->contains(*id)) {
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

Result<StateWanted> state_wanted(std::string_view body) {
  QQ_TRY(const JsonValue document, checked_body(body));
  JsonValue previous, conversation, store;
  QQ_CHECK(read_members(
      document, {{"previous_response_id", &previous}, {"conversation", &conversation}, {"store", &store}}));
  StateWanted wanted;
  QQ_TRY(wanted.previous_response_id, string_of(previous, "previous_response_id"));
  // Its id, or an object with it.
  if (conversation.is_object()) {
    JsonValue id;
    QQ_CHECK(read_members(conversation, {{"id", &id}}));
    QQ_TRY(wanted.conversation, string_of(id, "conversation.id"));
  } else {
    QQ_TRY(wanted.conversation, string_of(conversation, "conversation"));
  }
  QQ_TRY(const auto kept, boolean_of(store, "store"));
  wanted.store = kept.value_or(true);
  if (!wanted.previous_response_id.empty() && !wanted.conversation.empty()) {
    return fail(invalid("'previous_response_id' and 'conversation' cannot be given together; leave one out",
                        "previous_response_id", "mutually_exclusive_parameters"));
  }
  return wanted;
}

Result<Exchange> exchange_of(std::string_view input, std::string_view response) {
  constexpr const char* kNotOurs = "a stored answer cannot be read";
  QQ_TRY(const JsonValue document, checked_object(response, kNotOurs));
  QQ_TRY(const JsonValue items, checked_array(input, kNotOurs));
  const auto output = document.member("output");
  Exchange exchange{model::Json(items.text()), "[]"};
  if (output && output->is_array()) exchange.output = output->text();
  return exchange;
}

Result<std::string> with_history(std::string_view body, const Exchange& past) {
  QQ_TRY(const JsonValue document, checked_body(body));
  JsonValue input, ignored;
  QQ_CHECK(read_members(document, {{"input", &input},
                                   {"previous_response_id", &ignored},
                                   {"conversation", &ignored},
                                   {"store", &ignored}}));
  std::string out;
  out.reserve(body.size() + past.input.size() + past.output.size() + 64);
  wire::JsonWriter json(out);
  json.begin_object();
  for (wire::JsonMembers members(document); members.next();) {
    if (members.key_is("input") || members.key_is("previous_response_id") || members.key_is("conversation") ||
        members.key_is("store")) {
      continue;
    }
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.member("store", false).key("input").begin_array();
  write_all(json, past.input);
  write_all(json, past.output);
  QQ_CHECK(write_input(json, input, &past));
  json.end_array().end_object();
  return out;
}

Result<std::string> as_kept(std::string_view response, const StateWanted& wanted) {
  QQ_TRY(const JsonValue document, checked_object(response, "the answer is not a JSON object"));
  std::string out;
  out.reserve(response.size() + 128);
  wire::JsonWriter json(out);
  json.begin_object();
  for (wire::JsonMembers members(document); members.next();) {
    if (members.key_is("previous_response_id") || members.key_is("conversation") || members.key_is("store")) {
      continue;
    }
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.member("store", wanted.store).key("previous_response_id");
  if (wanted.previous_response_id.empty()) {
    json.null();
  } else {
    json.string(wanted.previous_response_id);
  }
  if (!wanted.conversation.empty()) {
    json.key("conversation").begin_object().member("id", wanted.conversation).end_object();
  }
  json.end_object();
  return out;
}

Result<KeptAnswer> kept_answer(std::string_view response) {
  QQ_TRY(const JsonValue document, checked_object(response, "the answer is not a JSON object"));
  JsonValue id, model, created;
  find_members(document, {{"id", &id}, {"model", &model}, {"created_at", &created}});
  if (!is_filled(id)) return fail(bad_answer("the answer has no id"));
  return KeptAnswer{id.string(), model.string(), seconds_of(created)};
}

namespace {

// `json` with `id` in front, where it has none.
void add_items(std::vector<TurnItem>& out, JsonValue items, std::string_view seed) {
  for (wire::JsonElements each(items); each.next();) {
    const JsonValue item = each.value();
    // What a reference is of stands in the conversation already.
    if (!item.is_object() || reference_of(item)) continue;
    const auto own = item.member("id");
    if (own && is_filled(*own)) {
      out.push_back({own->string(), model::Json(item.text())});
      continue;
    }
    TurnItem made;
    made.id = fmt::format("{}{}_{}", kMadeHere, seed, out.size());
    wire::JsonWriter json(made.json);
    json.begin_object().member("id", made.id);
    for (wire::JsonMembers members(item); members.next();) {
      if (!members.key_is("id")) json.raw_member(members.raw_key(), members.value().text());
    }
    json.end_object();
    out.push_back(std::move(made));
  }
}

}  // namespace

Result<std::vector<TurnItem>> items_with_ids(std::string_view items, std::string_view seed) {
  QQ_TRY(const JsonValue list, checked_array(items, "the items are not a JSON array"));
  std::vector<TurnItem> all;
  add_items(all, list, seed);
  return all;
}

Result<std::vector<TurnItem>> turn_items(std::string_view input, std::string_view response,
                                         std::string_view seed) {
  QQ_TRY(auto all, items_with_ids(input, seed));
  QQ_TRY(const JsonValue document, checked_object(response, "the answer is not a JSON object"));
  if (const auto output = document.member("output"); output && output->is_array()) {
    add_items(all, *output, seed);
  }
  return all;
}

}  // namespace qq::dialects::openai_responses
