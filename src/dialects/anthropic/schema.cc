#include "dialects/anthropic/schema.h"

#include <algorithm>
#include <array>

#include "wire/json_writer.h"

namespace qq::dialects::anthropic {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::array<std::string_view, 29> kRefusedWords{"minimum",
                                                         "maximum",
                                                         "exclusiveMinimum",
                                                         "exclusiveMaximum",
                                                         "multipleOf",
                                                         "minLength",
                                                         "maxLength",
                                                         "maxItems",
                                                         "uniqueItems",
                                                         "minProperties",
                                                         "maxProperties",
                                                         "patternProperties",
                                                         "propertyNames",
                                                         "contains",
                                                         "minContains",
                                                         "maxContains",
                                                         "not",
                                                         "if",
                                                         "then",
                                                         "else",
                                                         "dependentSchemas",
                                                         "dependentRequired",
                                                         "dependencies",
                                                         "prefixItems",
                                                         "additionalItems",
                                                         "unevaluatedItems",
                                                         "contentEncoding",
                                                         "unevaluatedProperties",
                                                         "contentMediaType"};
constexpr std::array<std::string_view, 10> kFormats{"date-time", "time", "date", "duration", "email",
                                                    "hostname",  "uri",  "ipv4", "ipv6",     "uuid"};
// Whose value is a schema or a list of them, and whose members are schemas.
constexpr std::array<std::string_view, 4> kSchemaWords{"items", "anyOf", "allOf", "oneOf"};
constexpr std::array<std::string_view, 3> kSchemaMaps{"properties", "$defs", "definitions"};

bool is_one_of(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_refused(const JsonMembers& member) {
  const std::string_view key = member.raw_key();
  if (key == "minItems") return member.value().integer().value_or(2) > 1;
  if (key == "format") return !is_one_of(kFormats, member.value().raw_string());
  if (key == "items") return member.is_array();  // a tuple, before prefixItems
  return is_one_of(kRefusedWords, key);
}

class Adapter {
 public:
  explicit Adapter(std::string& out) : json_(out) {}
  void schema(JsonValue value) {
    if (!value.is_object()) {
      json_.raw(value.text());
      return;
    }
    json_.begin_object();
    bool is_object = false;
    const bool both = value.member("anyOf") && value.member("oneOf");
    for (JsonMembers members(value); members.next();) {
      if (both && members.raw_key() == "oneOf") {
        changed_ = true;  // it would be a second anyOf
      } else {
        member(members, is_object);
      }
    }
    if (is_object) json_.member("additionalProperties", false);
    json_.end_object();
  }
  [[nodiscard]] bool changed() const noexcept { return changed_; }

 private:
  void member(const JsonMembers& members, bool& is_object) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (is_refused(members)) {
      changed_ = true;
      return;
    }
    if (key == "additionalProperties") {
      changed_ |= !value.is_false();
      is_object = true;
      return;
    }
    is_object |= key == "properties" || (key == "type" && value.text() == "\"object\"");
    json_.key(key == "oneOf" ? "anyOf" : key);  // as it is escaped in the source
    if (is_one_of(kSchemaMaps, key) && value.is_object()) {
      json_.begin_object();
      for (JsonMembers inner(value); inner.next();) {
        json_.key(inner.raw_key());
        schema(inner.value());
      }
      json_.end_object();
    } else if (is_one_of(kSchemaWords, key) && value.is_array()) {
      json_.begin_array();
      for (JsonElements inner(value); inner.next();) schema(inner.value());
      json_.end_array();
    } else if (is_one_of(kSchemaWords, key)) {
      schema(value);
    } else {
      json_.raw(value.text());
    }
  }

  wire::JsonWriter json_;
  bool changed_ = false;
};

}  // namespace

std::string adapted_schema(JsonValue schema, bool& changed) {
  std::string out;
  out.reserve(schema.text().size() + 64);
  Adapter adapter(out);
  adapter.schema(schema);
  changed |= adapter.changed();
  return out;
}

std::string input_schema(std::string_view schema) {
  const JsonValue value(schema);
  if (!value.is_object()) return R"({"type":"object","properties":{}})";
  if (value.member("type")) return std::string(schema);
  std::string out = R"({"type":"object")";
  const std::string_view rest = value.text().substr(1);
  if (JsonMembers(value).next()) out += ',';
  return out.append(rest);
}

std::string json_instruction(const model::OutputFormat& output) {
  std::string text = "Answer with one JSON object and nothing else: no prose around it and no code fence.";
  if (output.kind == model::OutputFormat::Kind::JsonSchema && !output.schema.empty())
    text.append(" It must conform to this JSON Schema: ").append(output.schema);
  return text;
}

}  // namespace qq::dialects::anthropic
