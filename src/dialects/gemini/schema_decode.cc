// Google's Schema as JSON Schema.
#include <algorithm>
#include <array>

#include "dialects/gemini/members.h"
#include "dialects/gemini/schema.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::array<std::string_view, 11> kCamelWords{
    "anyOf",     "maxItems", "minItems",         "maxProperties", "minProperties",       "minLength",
    "maxLength", "nullable", "propertyOrdering", "prefixItems",   "additionalProperties"};

std::string_view camel(std::string_view raw_key) noexcept {
  for (const std::string_view word : kCamelWords) {
    if (is_field(raw_key, word)) return word;
  }
  return raw_key;
}

// Whole numbers of 64 bits are strings in proto JSON.
bool is_quoted_number(JsonValue value) noexcept {
  const std::string_view digits = value.raw_string();
  return !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

class SchemaReader {
 public:
  explicit SchemaReader(std::string& out) : json_(out) {}

  void read(JsonValue schema) {
    if (!schema.is_object()) {
      json_.raw(schema.text());
      return;
    }
    bool nullable = false;
    bool typed = false;
    for (JsonMembers members(schema); members.next();) {
      nullable |= members.raw_key() == "nullable" && members.value().is_true();
      typed |= members.raw_key() == "type";
    }
    json_.begin_object();
    for (JsonMembers members(schema); members.next();) {
      read_word(camel(members.raw_key()), members.raw_key(), members.value(), nullable, typed);
    }
    json_.end_object();
  }

 private:
  void read_type(JsonValue type, bool nullable) {
    if (!type.is_string()) {
      json_.raw_member("type", type.text());
      return;
    }
    std::string name(type.raw_string());
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (name == "type_unspecified") return;
    json_.key("type");
    if (nullable) json_.begin_array();
    json_.string(name);
    if (nullable) json_.string("null").end_array();
  }

  void read_list(JsonValue list, bool with_null) {
    json_.begin_array();
    for (JsonElements each(list); each.next();) read(each.value());
    if (with_null) json_.raw(R"({"type":"null"})");
    json_.end_array();
  }

  void read_word(std::string_view word, std::string_view raw_key, JsonValue value, bool nullable,
                 bool typed) {
    if (value.is_null() || word == "nullable") return;
    if (word == "type") return read_type(value, nullable);
    if (word == "format" && value.text() == "\"enum\"") return;
    if (word == "ref") word = raw_key = "$ref";
    if (word == "defs") word = raw_key = "$defs";
    if (word != raw_key) {
      json_.key(word);
    } else {
      json_.any_key(key_text(raw_key));
    }
    if (word == "properties" || word == "$defs") {
      json_.begin_object();
      for (JsonMembers members(value); members.next();) {
        json_.any_key(key_text(members.raw_key()));
        read(members.value());
      }
      json_.end_object();
    } else if (word == "anyOf" || word == "prefixItems") {
      read_list(value, word == "anyOf" && nullable && !typed);
    } else if (word == "items" || word == "additionalProperties") {
      read(value);
    } else if (word == "enum" && nullable) {
      json_.begin_array();
      for (JsonElements each(value); each.next();) json_.raw(each.value().text());
      json_.null().end_array();
    } else if (word.starts_with("max") || word.starts_with("min")) {
      json_.raw(is_quoted_number(value) ? value.raw_string() : value.text());
    } else {
      json_.raw(value.text());
    }
  }

  wire::JsonWriter json_;
};

}  // namespace

model::Json decode_schema(JsonValue schema) {
  model::Json out;
  SchemaReader(out).read(schema);
  return out;
}

}  // namespace qq::dialects::gemini
