// JSON: our reader and simdjson's DOM agree on what is JSON and on what it says, apart from numbers and
// lone surrogates, which the DOM refuses; walking never leaves the bytes; every patch leaves JSON.
#include <simdjson.h>

#include <algorithm>
#include <string>

#include "fuzz/wire_support.h"
#include "wire/json.h"
#include "wire/json_part.h"
#include "wire/json_patch.h"
#include "wire/json_progress.h"

namespace {

using qq::wire::JsonElements;
using qq::wire::JsonMembers;
using qq::wire::JsonType;
using qq::wire::JsonValue;

std::string read_back(std::string_view text) {
  std::string literal;
  qq::wire::append_json_string(literal, text);
  FUZZ_CHECK(!qq::wire::check_json(literal));
  return JsonValue(literal).string();
}

void compare(JsonValue ours, simdjson::dom::element theirs);

void compare_object(JsonValue ours, simdjson::dom::object theirs) {
  JsonMembers members(ours);
  for (const auto field : theirs) {
    FUZZ_CHECK(members.next());
    FUZZ_CHECK(members.key_is(field.key));
    const std::string literal = "\"" + std::string(members.raw_key()) + "\"";
    FUZZ_CHECK(JsonValue(literal).string() == field.key);
    compare(members.value(), field.value);
    FUZZ_CHECK(ours.member(field.key).has_value());
  }
  FUZZ_CHECK(!members.next());
}

void compare_array(JsonValue ours, simdjson::dom::array theirs) {
  JsonElements elements(ours);
  for (const auto element : theirs) {
    FUZZ_CHECK(elements.next());
    compare(elements.value(), element);
  }
  FUZZ_CHECK(!elements.next());
}

void compare(JsonValue ours, simdjson::dom::element theirs) {
  FUZZ_CHECK(!qq::wire::check_json(ours.text()));
  switch (theirs.type()) {
    case simdjson::dom::element_type::OBJECT:
      FUZZ_CHECK(ours.type() == JsonType::Object);
      return compare_object(ours, theirs.get_object());
    case simdjson::dom::element_type::ARRAY:
      FUZZ_CHECK(ours.type() == JsonType::Array);
      return compare_array(ours, theirs.get_array());
    case simdjson::dom::element_type::STRING: {
      FUZZ_CHECK(ours.type() == JsonType::String);
      const std::string text = ours.string();
      FUZZ_CHECK(text == std::string_view(theirs.get_string()));
      FUZZ_CHECK(read_back(text) == text);
      const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
      FUZZ_CHECK(ours.is_blank_string() == blank);
      return;
    }
    case simdjson::dom::element_type::INT64:
      FUZZ_CHECK(ours.integer() == std::int64_t{theirs.get_int64()});
      return;
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
      FUZZ_CHECK(ours.type() == JsonType::Number);
      FUZZ_CHECK(!ours.integer());
      return;
    case simdjson::dom::element_type::BOOL:
      FUZZ_CHECK(bool{theirs.get_bool()} ? ours.is_true() : ours.is_false());
      return;
    case simdjson::dom::element_type::NULL_VALUE: FUZZ_CHECK(ours.is_null()); return;
  }
}

// Both readers on the same text.
bool check_verdict(std::string_view text) {
  static simdjson::dom::parser parser;
  const auto error = qq::wire::check_json(text, {.depth_max = 1000});
  if (error) FUZZ_CHECK(error->offset <= text.size());
  if (text.empty()) return !error;  // simdjson copies from no address then
  const auto theirs = parser.parse(text.data(), text.size());
  if (theirs.error() == simdjson::SUCCESS) {
    const bool too_deep = error && std::string_view(error->reason) == "nested too deeply";
    FUZZ_CHECK(!error || too_deep);
    if (!error) compare(JsonValue(text), theirs.value_unsafe());
  } else if (!error) {
    const bool number = theirs.error() == simdjson::NUMBER_ERROR;
    const bool surrogate =
        theirs.error() == simdjson::STRING_ERROR && text.find("\\u") != std::string_view::npos;
    FUZZ_CHECK(number || surrogate);
  }
  return !error;
}

// Edits chosen by `seed` on the outermost object.
void check_patch(std::string_view text, std::uint32_t seed) {
  const JsonValue object(text);
  if (!object.is_object()) return;
  qq::wire::JsonPatch patch(text);
  std::size_t members_expected = 0;
  std::vector<std::string> kept;
  qq::fuzz::Cuts choices(seed);
  for (JsonMembers members(object); members.next();) {
    const std::size_t choice = choices.next();
    if (choice < 5) {
      patch.remove_member(object, members.value());
      continue;
    }
    ++members_expected;
    if (choice < 8) patch.replace(members.value(), "[0]");
    if (choice >= 8 && choice < 10 && members.value().is_object())
      patch.add_member(members.value(), "q\"", "{}");
    if (choice >= 10) kept.emplace_back(members.value().text());
  }
  for (std::size_t i = choices.next() % 3; i > 0; --i) {
    patch.add_member(object, "added", "null");
    ++members_expected;
  }
  const std::string result = patch.apply();
  FUZZ_CHECK(!qq::wire::check_json(result, {.depth_max = 1001}));
  if (patch.empty()) FUZZ_CHECK(result == text);
  std::size_t members_found = 0;
  std::size_t next_kept = 0;
  for (JsonMembers members{JsonValue(result)}; members.next();) {
    ++members_found;
    if (next_kept < kept.size() && members.value().text() == kept[next_kept]) ++next_kept;
  }
  FUZZ_CHECK(members_found == members_expected);
  FUZZ_CHECK(next_kept == kept.size());
}

// The reader that keeps nothing, fed pieces: it goes with what the strict one accepts, and a proper beginning
// of that is never its end.
void check_progress(std::string_view text, bool valid) {
  const bool same_limits = valid && !qq::wire::check_json(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool container = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  qq::wire::JsonProgress whole;
  const bool taken = whole.feed(text);
  if (same_limits && container) FUZZ_CHECK(taken && whole.complete());
  qq::wire::JsonProgress pieces;
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(text.size()));
  bool taken_in_pieces = true;
  for (std::size_t at = 0; at < text.size() && taken_in_pieces;) {
    const std::size_t size = std::min(cuts.next(), text.size() - at);
    const bool had_ended = pieces.complete();
    taken_in_pieces = pieces.feed(text.substr(at, size));
    if (had_ended && taken_in_pieces) FUZZ_CHECK(pieces.complete());
    at += size;
  }
  FUZZ_CHECK(taken_in_pieces == taken);
  if (taken) FUZZ_CHECK(pieces.complete() == whole.complete());
}

// What was never checked: walking must only end and stay inside.
void walk_anything(std::string_view text) {
  std::size_t steps = 0;
  for (JsonMembers members{JsonValue(text)}; members.next();) {
    FUZZ_CHECK(++steps <= text.size());
    (void)members.key_is("model");
    (void)members.value().string();
    (void)members.value().is_blank_string();
  }
  for (JsonElements elements{JsonValue(text)}; elements.next();) FUZZ_CHECK(++steps <= 2 * text.size());
}

// Members looked for in the beginning or the end of a document of which the rest is not at hand: what is
// found lies inside and is a value of its kind.
void look_into_parts(std::string_view text) {
  const auto inside = [&](JsonValue found) {
    return found.text().empty() ||
           (found.text().data() >= text.data() &&
            found.text().data() + found.text().size() <= text.data() + text.size() &&
            !qq::wire::check_json(found.text(), {.depth_max = qq::wire::kJsonDepthMax, .check_utf8 = false}));
  };
  for (const std::string_view key : {"usage", "model", "a"}) {
    const JsonValue last = qq::wire::object_in_tail(text, key);
    FUZZ_CHECK(inside(last) && (last.text().empty() || last.is_object()));
    const JsonValue first = qq::wire::object_in_part(text, key);
    FUZZ_CHECK(first.text().empty() || first.is_object());
    const JsonValue name = qq::wire::member_in_part(text, key);
    FUZZ_CHECK(name.text().empty() || name.is_string());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  const bool valid = check_verdict(input.view());
  check_progress(input.view(), valid);
  if (valid) {
    check_patch(input.view(), static_cast<std::uint32_t>(size));
  } else {
    walk_anything(input.view());
  }
  look_into_parts(input.view());
  (void)read_back(input.view());
  return 0;
}
