#include "dialects/gemini/schema.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "dialects/gemini/members.h"
#include "dialects/gemini/schema_merge.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

// References are put in place of what they name; of those that name each other in many ways that is much.
constexpr std::size_t kSchemaMax = 64UL * 1024;
constexpr std::size_t kSchemaDepthMax = 64;

class SchemaWriter {
 public:
  SchemaWriter(JsonValue root, SchemaForm form)
      : root_(root), form_(form), json_(out_.json), merger_(root, form) {
    out_.form = form;
  }

  EncodedSchema run() {
    write(root_, true);
    out_.lost = std::move(merger_.lost());
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool open_api() const noexcept { return form_ == SchemaForm::Schema; }
  void lose(std::string_view word) { merger_.lose(word); }

  void write(JsonValue schema, bool is_root = false);
  void write_type(const Merged& merged, bool is_root);
  void write_type_name(std::string_view name);
  void write_word(const NamedWord& word, JsonValue value, const Merged& merged);
  void write_enum(JsonValue list, const Merged& merged);
  void write_properties(const Merged& merged);
  void write_required(const Merged& merged);
  void write_choices(const Merged& merged);
  void write_defs();
  [[nodiscard]] std::string_view type_of(const Merged& merged) const noexcept;
  [[nodiscard]] bool takes_format(JsonValue format, const Merged& merged) const noexcept;
  [[nodiscard]] bool takes_enum(JsonValue list) const noexcept;

  JsonValue root_;
  SchemaForm form_;
  EncodedSchema out_;
  wire::JsonWriter json_;
  SchemaMerger merger_;
  std::size_t depth_ = 0;
};

std::string_view SchemaWriter::type_of(const Merged& merged) const noexcept {
  const JsonValue type = merged.find("type");
  if (type.is_string()) return type.raw_string();
  std::string_view first;
  for (JsonElements each(type); each.next();) {
    const std::string_view name = each.value().raw_string();
    if (first.empty() || first == "null") first = name;
  }
  if (!first.empty()) return first;
  if (merged.has("properties")) return "object";
  if (merged.has("items") || merged.has("prefixItems")) return "array";
  const JsonValue values = merged.find("enum");
  const bool strings = values.is_array() ? takes_enum(values) : merged.find("const").is_string();
  return strings ? "string" : "";
}

void SchemaWriter::write_type_name(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (open_api() && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!open_api() && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  json_.string(text);
}

void SchemaWriter::write_type(const Merged& merged, bool is_root) {
  const JsonValue type = merged.find("type");
  const std::string_view name = type_of(merged);
  if (name.empty()) {
    // What may be anything has no type to say.
    if (open_api() && merged.choices.text().empty()) lose("type");
    if (open_api() && merged.nullable) json_.member("nullable", true);
    return;
  }
  if (open_api()) {
    std::size_t count = 0;
    for (JsonElements each(type); each.next();) count += each.value().text() == "\"null\"" ? 0 : 1;
    if (count > 1) lose("type");
    json_.key("type");
    write_type_name(name);
    if (merged.nullable) json_.member("nullable", true);
    if (name == "array" && !merged.has("items")) lose("items");
    if (name == "object" && !merged.has("properties") && !is_root) lose("properties");
    return;
  }
  if (type.text().empty() && !merged.nullable) return;
  json_.key("type");
  if (type.is_array()) {
    json_.raw(type.text());
  } else if (merged.nullable && name != "null") {
    json_.begin_array();
    write_type_name(name);
    json_.string("null").end_array();
  } else {
    write_type_name(name);
  }
}

bool SchemaWriter::takes_format(JsonValue format, const Merged& merged) const noexcept {
  const std::string_view type = type_of(merged);
  const std::string_view name = format.raw_string();
  if (type == "string") return name == "date-time";
  if (type == "number") return name == "float" || name == "double";
  return type == "integer" && (name == "int32" || name == "int64");
}

bool SchemaWriter::takes_enum(JsonValue list) const noexcept {
  for (JsonElements each(list); each.next();) {
    const JsonValue value = each.value();
    if (value.is_null()) continue;
    const bool text = value.is_string() && !value.raw_string().empty();
    const bool number = value.type() == wire::JsonType::Number;
    if (!text && (open_api() || !(number || value.is_string()))) return false;
  }
  return true;
}

void SchemaWriter::write_enum(JsonValue list, const Merged& merged) {
  if (!takes_enum(list)) return lose("enum");
  json_.key("enum").begin_array();
  bool has_null = false;
  for (JsonElements each(list); each.next();) {
    has_null |= each.value().is_null();
    if (!each.value().is_null() || !open_api()) json_.raw(each.value().text());
  }
  if (merged.nullable && !has_null && !open_api()) json_.null();
  json_.end_array();
}

void SchemaWriter::write_properties(const Merged& merged) {
  std::unordered_set<std::string_view> written;
  json_.key("properties").begin_object();
  for (const JsonValue source : merged.sources) {
    const auto properties = source.member("properties");
    for (JsonMembers members(properties ? *properties : JsonValue()); members.next();) {
      if (!written.insert(members.raw_key()).second) continue;
      json_.any_key(key_text(members.raw_key()));
      write(members.value());
    }
  }
  json_.end_object();
}

// Only names that are properties: others are refused.
void SchemaWriter::write_required(const Merged& merged) {
  std::unordered_set<std::string_view> known;
  std::unordered_set<std::string_view> written;
  for (const JsonValue source : merged.sources) {
    const auto properties = source.member("properties");
    for (JsonMembers members(properties ? *properties : JsonValue()); members.next();) {
      known.insert(members.raw_key());
    }
  }
  json_.key("required").begin_array();
  for (const JsonValue source : merged.sources) {
    const auto required = source.member("required");
    for (JsonElements each(required ? *required : JsonValue()); each.next();) {
      const std::string_view name = each.value().raw_string();
      if (!known.contains(name)) {
        lose("required");
      } else if (written.insert(name).second) {
        json_.raw(each.value().text());
      }
    }
  }
  json_.end_array();
}

void SchemaWriter::write_choices(const Merged& merged) {
  if (merged.choices.text().empty() && merged.kept_ref.empty()) return;
  const bool null_beside = merged.nullable && !open_api() && type_of(merged).empty();
  json_.key("anyOf").begin_array();
  if (!merged.kept_ref.empty()) {
    std::string ref = "#/$defs/";
    ref += merged.kept_ref;
    json_.begin_object().member("$ref", ref).end_object();
    if (!merged.choices.text().empty()) lose("anyOf");
  } else {
    for (JsonElements each(merged.choices); each.next();) {
      if (!is_null_schema(each.value())) write(each.value());
    }
  }
  if (null_beside) json_.raw(R"({"type":"null"})");
  json_.end_array();
}

void SchemaWriter::write_word(const NamedWord& word, JsonValue value, const Merged& merged) {
  switch (word.word) {
    case Word::Plain: json_.raw_member(word.name, value.text()); break;
    case Word::Enum: write_enum(value, merged); break;
    case Word::Const:
      if (merged.has("enum")) break;
      if (value.is_string() || (!open_api() && value.type() == wire::JsonType::Number)) {
        json_.key("enum").begin_array().raw(value.text()).end_array();
      } else {
        lose("const");
      }
      break;
    case Word::Properties: write_properties(merged); break;
    case Word::Required: write_required(merged); break;
    case Word::Items:
      if (value.is_array()) {  // a tuple, before prefixItems
        lose("items");
        break;
      }
      json_.key("items");
      write(value);
      break;
    case Word::PrefixItems:
      if (open_api()) return lose(word.name);
      json_.key("prefixItems").begin_array();
      for (JsonElements each(value); each.next();) write(each.value());
      json_.end_array();
      break;
    case Word::AdditionalProperties:
      if (value.is_true() || (open_api() && value.is_false() && !merged.has("properties"))) break;
      if (open_api()) return lose(word.name);
      json_.key("additionalProperties");
      if (value.is_object()) {
        write(value);
      } else {
        json_.raw(value.text());
      }
      break;
    case Word::Format:
      if (value.text() == "\"enum\"") break;
      if (open_api() && !takes_format(value, merged)) return lose(word.name);
      json_.raw_member(word.name, value.text());
      break;
    default: break;  // done with the merging
  }
}

void SchemaWriter::write(JsonValue schema, bool is_root) {
  if (depth_ == kSchemaDepthMax) {
    lose("depth");
    json_.raw("{}");
    return;
  }
  ++depth_;
  const std::size_t marked = merger_.mark();
  if (out_.json.size() > kSchemaMax) merger_.stop_following();
  Merged merged;
  merged.follows = is_root;
  merger_.gather(schema, merged);
  json_.begin_object();
  // A reference beside nothing else needs no wrapping.
  const bool bare_ref = !merged.kept_ref.empty() && merged.sources.size() == 1 && !merged.nullable && [&] {
    JsonMembers members(merged.sources.front());
    return members.next() && !members.next();
  }();
  if (bare_ref) {
    std::string ref = "#/$defs/";
    ref += merged.kept_ref;
    json_.member("$ref", ref);
  } else {
    write_type(merged, is_root);
    std::uint64_t written = 0;
    for (const JsonValue source : merged.sources) {
      for (JsonMembers members(source); members.next();) {
        const NamedWord* const word = named_word(members.raw_key());
        if (word == nullptr) {
          lose(key_text(members.raw_key()));
          continue;
        }
        const std::uint64_t bit = std::uint64_t{1} << index_of(*word);
        if ((written & bit) != 0) continue;
        written |= bit;
        write_word(*word, members.value(), merged);
      }
    }
    write_choices(merged);
  }
  if (is_root && merger_.kept_refs()) write_defs();
  json_.end_object();
  merger_.forget(marked);
  --depth_;
}

void SchemaWriter::write_defs() {
  json_.key("$defs").begin_object();
  for (const std::string_view place : {"$defs", "definitions"}) {
    const auto defs = root_.member(place);
    if (!defs) continue;
    for (JsonMembers members(*defs); members.next();) {
      json_.any_key(key_text(members.raw_key()));
      write(members.value());
    }
  }
  json_.end_object();
}

}  // namespace

EncodedSchema encode_schema(JsonValue schema) {
  EncodedSchema plain = SchemaWriter(schema, SchemaForm::Schema).run();
  if (plain.lost.empty()) return plain;
  EncodedSchema full = SchemaWriter(schema, SchemaForm::JsonSchema).run();
  return full.lost.size() < plain.lost.size() ? full : plain;
}

bool takes_nothing(JsonValue schema) noexcept {
  bool nothing = true;
  for (JsonMembers members(schema); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "properties") nothing &= value.text() == "{}" || !JsonMembers(value).next();
    if (key == "additionalProperties") nothing &= value.is_false();
    if (key == "$ref" || key == "anyOf" || key == "oneOf" || key == "allOf") nothing = false;
    if (key == "type") nothing &= value.text() == "\"object\"";
  }
  return nothing;
}

}  // namespace qq::dialects::gemini
