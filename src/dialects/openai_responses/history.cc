#include "dialects/openai_responses/history.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "dialects/openai_responses/members.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_responses {
namespace {

using wire::JsonValue;

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

// Of our own and a provider's items only.
void write_stored(wire::JsonWriter& json, JsonValue item, bool with_id) {
  if (!item.is_object()) {
    json.raw(item.text());
    return;
  }
  json.begin_object();
  for (wire::JsonMembers members(item); members.next();) {
    if (members.key_is("created_by")) continue;
    if (members.key_is("id") && (!with_id || is_made_here(members.value()))) continue;
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.end_object();
}

// How many were written. Of thoughts only their store knew, and it keeps nothing: see stateless.h.
std::size_t write_all(wire::JsonWriter& json, std::string_view items) {
  const auto fates = fates_of(JsonValue(items), Thoughts::Hollow);
  std::size_t index = 0;
  std::size_t written = 0;
  for (wire::JsonElements each{JsonValue(items)}; each.next(); ++index) {
    if (fates[index] == Fate::Goes) continue;
    write_stored(json, each.value(), fates[index] == Fate::Stays);
    ++written;
  }
  return written;
}

void note_ids(std::string_view items, std::unordered_set<std::string_view>& ids) {
  for (wire::JsonElements each{JsonValue(items)}; each.next();) {
    if (const auto own = each.value().member("id")) ids.insert(own->raw_string());
  }
}

// The id of a thought that its client has not got whole: there is a summary of it at most.
std::optional<JsonValue> lost_thought(JsonValue item) noexcept {
  const auto type = item.member("type");
  if (!type || type->raw_string() != "reasoning") return std::nullopt;
  if (is_filled(item.member("encrypted_content")) || is_filled(item.member("content"))) return std::nullopt;
  const auto id = item.member("id");
  return id && is_filled(id) ? id : std::nullopt;
}

// What an item stands for that is said elsewhere.
struct Name {
  JsonValue id;
  bool must_be_found = true;
};
std::optional<Name> name_in(JsonValue item) noexcept {
  if (!item.is_object()) return std::nullopt;
  if (const auto id = reference_of(item)) return Name{*id, true};
  if (const auto id = lost_thought(item)) return Name{*id, false};
  return std::nullopt;
}

// Items as they stand, but for the names: what they are of takes their place, unless the past has it already.
Result<> write_items(wire::JsonWriter& json, JsonValue input, const Exchange& past, const FoundItems& found) {
  std::unordered_set<std::string_view> past_ids;
  bool ids_known = false;
  std::size_t index = 0;
  for (wire::JsonElements items(input); items.next(); ++index) {
    const JsonValue item = items.value();
    const auto name = name_in(item);
    if (!name) {
      json.raw(item.text());
      continue;
    }
    if (!ids_known) {
      note_ids(past.input, past_ids);
      note_ids(past.output, past_ids);
      ids_known = true;
    }
    if (past_ids.contains(name->id.raw_string())) continue;
    if (const auto known = found.find(name->id.string()); known != found.end()) {
      write_stored(json, JsonValue(known->second), true);
    } else if (name->must_be_found) {
      Error error = invalid(fmt::format("Item with id {} not found.", name->id.text()),
                            fmt::format("input[{}].id", index), "item_not_found");
      error.kind = ErrorKind::NotFound;
      return fail(std::move(error));
    } else {
      json.raw(item.text());
    }
  }
  return {};
}

Error not_items() {
  return invalid("'input' must be a string or an array of items", "input", "invalid_type");
}

void write_as_message(wire::JsonWriter& json, JsonValue text) {
  json.begin_object().member("type", "message").member("role", "user");
  json.raw_member("content", text.text()).end_object();
}

bool is_left_out(JsonValue input) noexcept {
  return absent(input) || input.is_null();
}

}  // namespace

Result<model::Json> input_items(JsonValue input, std::size_t from) {
  model::Json items;
  wire::JsonWriter json(items);
  json.begin_array();
  if (input.is_string()) {
    write_as_message(json, input);
  } else if (input.is_array()) {
    std::size_t index = 0;
    for (wire::JsonElements each(input); each.next(); ++index) {
      if (index >= from) json.raw(each.value().text());
    }
  } else if (!is_left_out(input)) {
    return fail(not_items());
  }
  json.end_array();
  return items;
}

Result<StateWanted> state_wanted(const StateMembers& members) {
  const auto present = [](JsonValue value) { return value.is_null() ? JsonValue() : value; };
  const JsonValue conversation = present(members.conversation);
  StateWanted wanted;
  QQ_TRY(wanted.previous_response_id,
         string_of(present(members.previous_response_id), "previous_response_id"));
  // Its id, or an object with it.
  if (conversation.is_object()) {
    JsonValue id;
    QQ_CHECK(read_members(conversation, {{"id", &id}}));
    QQ_TRY(wanted.conversation, string_of(id, "conversation.id"));
  } else {
    QQ_TRY(wanted.conversation, string_of(conversation, "conversation"));
  }
  QQ_TRY(const auto kept, boolean_of(present(members.store), "store"));
  wanted.store = kept.value_or(true);
  if (!wanted.previous_response_id.empty() && !wanted.conversation.empty()) {
    return fail(invalid("'previous_response_id' and 'conversation' cannot be given together; leave one out",
                        "previous_response_id", "mutually_exclusive_parameters"));
  }
  return wanted;
}

Result<std::vector<NamedItem>> named_items(JsonValue input) {
  std::vector<NamedItem> names;
  if (!input.is_array()) return names;
  std::unordered_set<std::string_view> seen;
  std::size_t index = 0;
  for (wire::JsonElements each(input); each.next(); ++index) {
    const auto name = name_in(each.value());
    if (!name) continue;
    if (!seen.insert(name->id.raw_string()).second) {
      return fail(invalid(
          fmt::format(
              "Duplicate item found with id {}. Remove duplicate items from your input and try again.",
              name->id.text()),
          fmt::format("input[{}].id", index), "duplicate_item"));
    }
    if (names.size() == kNamedItemsMax) {
      return fail(
          invalid(fmt::format("'input' refers to more than {} earlier items by their ids alone; send the "
                              "items themselves, or go on with previous_response_id or conversation",
                              kNamedItemsMax),
                  fmt::format("input[{}].id", index), "array_above_max_length"));
    }
    names.push_back({name->id.string(), name->must_be_found});
  }
  return names;
}

void find_items(std::string_view response, const std::vector<NamedItem>& names, FoundItems& found) {
  if (wire::check_json(response)) return;
  const auto output = JsonValue(response).member("output");
  if (!output || !output->is_array()) return;
  std::unordered_map<std::string, JsonValue> items;
  for (wire::JsonElements each(*output); each.next();) {
    if (const auto id = each.value().member("id")) items.emplace(id->string(), each.value());
  }
  for (const NamedItem& name : names) {
    if (const auto item = items.find(name.id); item != items.end())
      found.try_emplace(name.id, item->second.text());
  }
}

std::vector<std::string> output_ids(std::string_view response) {
  std::vector<std::string> ids;
  const auto output = JsonValue(response).member("output");
  if (!output) return ids;
  for (wire::JsonElements each(*output); each.next();) {
    if (const auto id = each.value().member("id"); id && is_filled(id)) ids.push_back(id->string());
  }
  return ids;
}

Result<Exchange> exchange_of(std::string_view input, std::string_view response) {
  constexpr const char* kNotOurs = "a stored answer cannot be read";
  QQ_TRY(const JsonValue document, checked_object(response, kNotOurs));
  QQ_TRY(const JsonValue items, checked_array(input, kNotOurs));
  const auto output = document.member("output");
  Exchange exchange{items.text(), "[]"};
  if (output && output->is_array()) exchange.output = output->text();
  return exchange;
}

Result<Whole> with_history(JsonValue request, JsonValue input, const Exchange& past,
                           const FoundItems& found) {
  Whole whole;
  std::string& out = whole.body;
  std::size_t room = request.text().size() + past.input.size() + past.output.size() + 64;
  for (const auto& [id, item] : found) room += item.size();
  out.reserve(room);
  wire::JsonWriter json(out);
  json.begin_object();
  for (wire::JsonMembers members(request); members.next();) {
    if (members.key_is("input") || members.key_is("previous_response_id") || members.key_is("conversation")) {
      continue;
    }
    json.raw_member(members.raw_key(), members.value().text());
  }
  json.key("input").begin_array();
  whole.past_items = write_all(json, past.input) + write_all(json, past.output);
  if (input.is_string()) {
    write_as_message(json, input);
  } else if (input.is_array()) {
    QQ_CHECK(write_items(json, input, past, found));
  } else if (!is_left_out(input)) {
    return fail(not_items());
  }
  json.end_array().end_object();
  return whole;
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
