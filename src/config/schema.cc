#include "config/schema.h"

#include <fmt/core.h>

#include "config/definition.h"
#include "providers/catalogue.h"

namespace qq::config {
namespace {

// A JSON writer for exactly what a schema needs: objects, arrays, strings, numbers, two spaces of indent.
class JsonWriter {
 public:
  void open(char bracket) {
    value_starts();
    out_.push_back(bracket);
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) new_line();
    out_.push_back(bracket);
    first_ = false;
  }
  void key(std::string_view name) {
    if (!first_) out_.push_back(',');
    new_line();
    quote(name);
    out_ += ": ";
    after_key_ = true;
  }
  void text(std::string_view value) {
    value_starts();
    quote(value);
  }
  void raw(std::string_view value) {
    value_starts();
    out_ += value;
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  [[nodiscard]] std::string take() { return std::move(out_) + "\n"; }

 private:
  void value_starts() {
    if (!after_key_ && depth_ > 0) {
      if (!first_) out_.push_back(',');
      new_line();
    }
    after_key_ = false;
    first_ = false;
  }
  void new_line() {
    out_.push_back('\n');
    out_.append(depth_ * 2, ' ');
  }
  void quote(std::string_view text) {
    out_.push_back('"');
    for (const char c : text) {
      if (c == '"' || c == '\\') out_.push_back('\\');
      out_.push_back(c);
    }
    out_.push_back('"');
  }

  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

constexpr std::string_view kDurationPattern = "^(0|[1-9][0-9]*)(ms|s|m|h)$";
constexpr std::string_view kSizePattern = "^(0|[1-9][0-9]*)(B|KiB|MiB|GiB)$";
constexpr std::string_view kTokensPattern = "^(0|[1-9][0-9]*)[km]?$";

void reference_to(JsonWriter& json, std::string_view id) {
  json.open('{');
  json.member("$ref", fmt::format("#/$defs/{}", id));
  json.close('}');
}

// "this, or a text with an expansion in it".
template <typename Body>
void or_expansion(JsonWriter& json, Body body) {
  json.key("anyOf");
  json.open('[');
  json.open('{');
  body();
  json.close('}');
  reference_to(json, "expansion");
  json.close(']');
}

void pattern_of(JsonWriter& json, std::string_view pattern) {
  json.member("type", "string");
  json.member("pattern", pattern);
}

void words_of(JsonWriter& json, const Field& field) {
  json.key("enum");
  json.open('[');
  for (const std::string_view word : field.words) {
    json.text(word);
    // `429` and `404` without quotes are integers to an editor.
    if (word.find_first_not_of("0123456789") == std::string_view::npos) json.raw(word);
  }
  json.close(']');
}

void range_of(JsonWriter& json, const Field& field) {
  const auto number = [&](double value) {
    return field.type == FieldType::Number ? format_number(value)
                                           : fmt::format("{}", static_cast<std::int64_t>(value));
  };
  json.member("type", field.type == FieldType::Number ? "number" : "integer");
  json.key("minimum");
  json.raw(number(field.minimum));
  json.key("maximum");
  json.raw(number(field.maximum));
}

void text_of(JsonWriter& json, const Field& field) {
  if (!field.words.empty()) {
    or_expansion(json, [&] { words_of(json, field); });
  } else if (field.pattern.empty()) {
    json.member("type", "string");
    json.key("minLength");
    json.raw("1");
  } else {
    or_expansion(json, [&] { pattern_of(json, field.pattern); });
  }
}

void list_of(JsonWriter& json, const Field& field) {
  json.member("type", "array");
  if (field.min_items > 0) {
    json.key("minItems");
    json.raw(fmt::format("{}", field.min_items));
  }
  if (field.type != FieldType::Maps) {
    json.key("uniqueItems");
    json.raw("true");
  }
  json.key("items");
  if (field.type == FieldType::Maps) {
    reference_to(json, field.section->id);
    return;
  }
  json.open('{');
  if (field.type == FieldType::Words) {
    or_expansion(json, [&] { words_of(json, field); });
  } else {
    text_of(json, field);
  }
  json.close('}');
}

void type_of(JsonWriter& json, const Field& field) {
  switch (field.type) {
    case FieldType::Text:
    case FieldType::Secret: text_of(json, field); return;
    case FieldType::Boolean: or_expansion(json, [&] { json.member("type", "boolean"); }); return;
    case FieldType::Integer:
    case FieldType::Number: or_expansion(json, [&] { range_of(json, field); }); return;
    case FieldType::Duration: or_expansion(json, [&] { pattern_of(json, kDurationPattern); }); return;
    case FieldType::Size:
      or_expansion(json, [&] {
        if (field.minimum > 0) {
          pattern_of(json, kSizePattern);
          return;
        }
        // Zero needs no unit.
        json.key("type");
        json.open('[');
        json.text("string");
        json.text("integer");
        json.close(']');
        json.member("pattern", kSizePattern);
        json.key("maximum");
        json.raw("0");
        json.key("minimum");
        json.raw("0");
      });
      return;
    case FieldType::Tokens:
      or_expansion(json, [&] {
        json.key("type");
        json.open('[');
        json.text("string");
        json.text("integer");
        json.close(']');
        json.member("pattern", kTokensPattern);
        json.key("minimum");
        json.raw("1");
      });
      return;
    case FieldType::Word: or_expansion(json, [&] { words_of(json, field); }); return;
    case FieldType::Words:
    case FieldType::Texts:
    case FieldType::Maps: list_of(json, field); return;
    case FieldType::Map: json.member("$ref", fmt::format("#/$defs/{}", field.section->id)); return;
  }
}

void section_of(JsonWriter& json, const Section& section) {
  json.member("type", "object");
  json.member("description", section.doc);
  json.key("additionalProperties");
  json.raw("false");
  json.key("properties");
  json.open('{');
  for (const Field& field : section.fields) {
    json.key(field.key);
    json.open('{');
    json.member("description", field.doc);
    if (const std::string absent = section.default_of(field); !absent.empty()) {
      json.member("$comment", fmt::format("Default: {}", absent));
    }
    type_of(json, field);
    json.close('}');
  }
  json.close('}');
  bool any_required = false;
  for (const Field& field : section.fields) {
    if (field.presence != Presence::Required) continue;
    if (!any_required) {
      json.key("required");
      json.open('[');
      any_required = true;
    }
    json.text(field.key);
  }
  if (any_required) json.close(']');
}

// How a value is written, for the reference.
std::string kind_of(const Field& field) {
  switch (field.type) {
    case FieldType::Text: return "text";
    case FieldType::Secret: return "secret";
    case FieldType::Boolean: return "`true`, `false`";
    case FieldType::Integer: return "whole number";
    case FieldType::Number: return "number";
    case FieldType::Duration: return "duration";
    case FieldType::Size: return "size";
    case FieldType::Tokens: return "token count";
    case FieldType::Word:
    case FieldType::Words: {
      std::string out = field.type == FieldType::Words ? "list of " : "";
      for (std::size_t i = 0; i < field.words.size(); ++i)
        out += fmt::format("{}`{}`", i == 0 ? "" : ", ", field.words[i]);
      return out;
    }
    case FieldType::Texts: return "list of text";
    case FieldType::Map: return "map";
    case FieldType::Maps: return "list of maps";
  }
  return "";
}

std::string range_text(const Field& field) {
  switch (field.type) {
    case FieldType::Integer:
      return fmt::format(", {} to {}", static_cast<std::int64_t>(field.minimum),
                         static_cast<std::int64_t>(field.maximum));
    case FieldType::Number:
      return fmt::format(", {} to {}", format_number(field.minimum), format_number(field.maximum));
    case FieldType::Duration:
      return fmt::format(", {} to {}",
                         format_duration(Milliseconds(static_cast<std::int64_t>(field.minimum))),
                         format_duration(Milliseconds(static_cast<std::int64_t>(field.maximum))));
    case FieldType::Size:
      return fmt::format(", {} to {}", format_size(static_cast<std::uint64_t>(field.minimum)),
                         format_size(static_cast<std::uint64_t>(field.maximum)));
    default: return {};
  }
}

}  // namespace

std::string json_schema() {
  JsonWriter json;
  json.open('{');
  json.member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("title", "Queqiao configuration");
  section_of(json, root_section());
  json.key("$defs");
  json.open('{');
  json.key("expansion");
  json.open('{');
  json.member("description", "A text with ${VAR}, ${VAR:-default} or ${file:/path} in it.");
  pattern_of(json, "\\$\\{");
  json.close('}');
  for (const Section* section : all_sections()) {
    if (section == &root_section()) continue;
    json.key(section->id);
    json.open('{');
    section_of(json, *section);
    json.close('}');
  }
  json.close('}');
  json.close('}');
  return json.take();
}

std::string reference_markdown() {
  std::string out;
  for (const Section* section : all_sections()) {
    out +=
        fmt::format("### {}\n\n{}\n\n",
                    section->name.empty() ? "Top level" : fmt::format("`{}`", section->name), section->doc);
    out += "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
    for (const Field& field : section->fields) {
      const bool required = field.presence == Presence::Required;
      std::string absent = required ? "**required**" : section->default_of(field);
      std::string meaning(field.doc);
      if (!field.example.empty()) meaning += fmt::format(" Example: `{}`.", field.example);
      if (field.effect == Effect::Restart) meaning += " *(restart)*";
      out += fmt::format("| `{}` | {}{} | {} | {} |\n", field.key, kind_of(field), range_text(field), absent,
                         meaning);
    }
    out += "\n";
  }
  out += "### Provider kinds\n\nValues of `providers[].kind`: the built-in catalogue.\n\n";
  out += "| kind | provider | default `base_url` | usual key variable |\n| --- | --- | --- | --- |\n";
  const auto code = [](std::string_view text) {
    return text.empty() ? std::string() : fmt::format("`{}`", text);
  };
  for (const providers::ProviderKind& kind : providers::catalogue()) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", kind.name, kind.title,
                       kind.base_url.empty() ? "must be given" : code(kind.base_url), code(kind.key_env));
  }
  return out;
}

}  // namespace qq::config
