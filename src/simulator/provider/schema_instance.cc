#include "simulator/provider/schema_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr int kDepthMax = 12;  // below it a recursive schema gets only what it requires
constexpr int kDepthEnd = 40;  // below it a schema that requires itself is given up

constexpr auto kFormats = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"date-time", "2026-01-01T08:00:00Z"},
    {"date", "2026-01-01"},
    {"time", "08:00:00Z"},
    {"duration", "PT1H"},
    {"email", "user@example.com"},
    {"hostname", "example.com"},
    {"ipv4", "192.0.2.1"},
    {"ipv6", "2001:db8::1"},
    {"uri", "https://example.com/"},
    {"url", "https://example.com/"},
    {"uuid", "123e4567-e89b-42d3-a456-426614174000"},
});

constexpr std::array<std::string_view, 6> kWords = {"alpha", "bravo", "charlie", "delta", "echo", "foxtrot"};

std::optional<double> number_of(JsonValue schema, std::string_view key) {
  const auto found = schema.member(key);
  if (!found) return std::nullopt;
  double value = 0;
  const std::string_view text = found->text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional<double>(value) : std::nullopt;
}

std::size_t size_of(JsonValue schema, std::string_view key, std::size_t otherwise) {
  const auto found = schema.member(key);
  const auto value = found ? found->integer() : std::nullopt;
  return value && *value >= 0 ? static_cast<std::size_t>(std::min<std::int64_t>(*value, 10'000)) : otherwise;
}

// Lists of lists multiply; nothing asks for more than this of a stand-in.
constexpr std::size_t kInstanceMax = 1U << 20U;

class Writer {
 public:
  Writer(JsonValue root, std::uint64_t seed) : root_(root), seed_(seed) {}

  void write(std::string& out, JsonValue schema, std::string_view name, int depth) {
    if (!schema.is_object()) {
      out += "{}";
      return;
    }
    if (depth > kDepthEnd || out.size() > kInstanceMax) {
      out += "null";
      return;
    }
    if (const auto ref = schema.member("$ref")) {
      if (const auto target = resolve(ref->string())) return write(out, *target, name, depth + 1);
    }
    for (const std::string_view fixed : {"const", "default"}) {
      if (const auto value = schema.member(fixed)) {
        out += value->text();
        return;
      }
    }
    for (const std::string_view listed : {"enum", "examples"}) {
      if (const auto values = schema.member(listed); values && values->is_array()) {
        JsonElements items(*values);
        if (items.next()) {
          out += items.value().text();
          return;
        }
      }
    }
    for (const std::string_view choice : {"anyOf", "oneOf"}) {
      if (const auto options = schema.member(choice); options && options->is_array()) {
        if (const auto option = pick(*options, depth)) return write(out, *option, name, depth + 1);
      }
    }
    write_typed(out, schema, name, depth);
  }

 private:
  // "#/$defs/step" in the root document.
  std::optional<JsonValue> resolve(std::string_view ref) const {
    if (!ref.starts_with('#')) return std::nullopt;
    ref.remove_prefix(1);
    std::optional<JsonValue> at = root_;
    while (at && ref.starts_with('/')) {
      ref.remove_prefix(1);
      const std::size_t slash = ref.find('/');
      at = at->member(ref.substr(0, slash));
      ref = slash == std::string_view::npos ? std::string_view{} : ref.substr(slash);
    }
    return at;
  }

  static bool is_null_schema(JsonValue schema) {
    const auto type = schema.member("type");
    return type && type->string() == "null";
  }

  // The first alternative that is not null; deep down the null one, which ends a recursion.
  static std::optional<JsonValue> pick(JsonValue options, int depth) {
    std::optional<JsonValue> null_option;
    std::optional<JsonValue> other;
    for (JsonElements items(options); items.next();) {
      auto& slot = is_null_schema(items.value()) ? null_option : other;
      if (!slot) slot = items.value();
    }
    if (depth > kDepthMax && null_option) return null_option;
    return other ? other : null_option;
  }

  static std::string type_of(JsonValue schema, int depth) {
    const auto type = schema.member("type");
    if (type && type->is_string()) return type->string();
    if (type && type->is_array()) {
      std::string chosen;
      for (JsonElements items(*type); items.next();) {
        const std::string option = items.value().string();
        if (option == "null" && depth > kDepthMax) return option;
        if (chosen.empty() || chosen == "null") chosen = option;
      }
      return chosen;
    }
    if (schema.member("properties") || schema.member("allOf")) return "object";
    if (schema.member("items") || schema.member("prefixItems")) return "array";
    return type || !schema.member("minimum") ? "string" : "number";
  }

  void write_typed(std::string& out, JsonValue schema, std::string_view name, int depth) {
    const std::string type = type_of(schema, depth);
    if (type == "object") return write_object(out, schema, depth);
    if (type == "array") return write_array(out, schema, name, depth);
    if (type == "integer") return write_number(out, schema, true);
    if (type == "number") return write_number(out, schema, false);
    if (type == "boolean") {
      out += "true";
    } else if (type == "null") {
      out += "null";
    } else {
      write_string(out, schema, name);
    }
  }

  struct Property {
    std::string key;
    JsonValue schema;
  };

  // Properties of the schema and of everything it is made of.
  void collect(JsonValue schema, std::vector<Property>& properties, std::vector<std::string>& required,
               int depth) const {
    if (depth > kDepthEnd) return;
    if (const auto ref = schema.member("$ref")) {
      if (const auto target = resolve(ref->string())) collect(*target, properties, required, depth + 1);
    }
    if (const auto parts = schema.member("allOf"); parts && parts->is_array()) {
      for (JsonElements items(*parts); items.next();) collect(items.value(), properties, required, depth + 1);
    }
    if (const auto named = schema.member("properties"); named && named->is_object()) {
      for (JsonMembers members(*named); members.next();) {
        std::string key =
            JsonValue(std::string_view(members.raw_key().data() - 1, members.raw_key().size() + 2)).string();
        const auto same = [&](const Property& p) { return p.key == key; };
        if (std::ranges::none_of(properties, same)) properties.push_back({std::move(key), members.value()});
      }
    }
    if (const auto names = schema.member("required"); names && names->is_array()) {
      for (JsonElements items(*names); items.next();) required.push_back(items.value().string());
    }
  }

  void write_object(std::string& out, JsonValue schema, int depth) {
    std::vector<Property> properties;
    std::vector<std::string> required;
    collect(schema, properties, required, depth);
    out += '{';
    bool first = true;
    const auto key = [&](std::string_view name) {
      if (!std::exchange(first, false)) out += ',';
      wire::append_json_string(out, name);
      out += ':';
    };
    for (const Property& property : properties) {
      if (depth > kDepthMax && std::ranges::find(required, property.key) == required.end()) continue;
      key(property.key);
      write(out, property.schema, property.key, depth + 1);
    }
    for (const std::string& name : required) {
      const auto same = [&](const Property& p) { return p.key == name; };
      if (std::ranges::any_of(properties, same)) continue;
      key(name);
      out += "\"\"";
    }
    out += '}';
  }

  void write_array(std::string& out, JsonValue schema, std::string_view name, int depth) {
    out += '[';
    std::size_t written = 0;
    if (const auto prefix = schema.member("prefixItems"); prefix && prefix->is_array()) {
      for (JsonElements items(*prefix); items.next(); ++written) {
        if (written > 0) out += ',';
        write(out, items.value(), name, depth + 1);
      }
    }
    const auto item = schema.member("items");
    const std::size_t most = size_of(schema, "maxItems", 10'000);
    std::size_t wanted = size_of(schema, "minItems", 0);
    if (wanted == 0 && depth <= kDepthMax && item && item->is_object()) wanted = 1;
    wanted = std::min(wanted, most);
    for (; written < wanted; ++written) {
      if (written > 0) out += ',';
      write(out, item.value_or(JsonValue{}), name, depth + 1);
    }
    out += ']';
  }

  void write_number(std::string& out, JsonValue schema, bool whole) {
    const double step = number_of(schema, "multipleOf").value_or(whole ? 1.0 : 0.5);
    std::optional<double> low = number_of(schema, "minimum");
    std::optional<double> high = number_of(schema, "maximum");
    if (const auto bound = number_of(schema, "exclusiveMinimum")) low = *bound + step / 2;
    if (const auto bound = number_of(schema, "exclusiveMaximum")) high = *bound - step / 2;
    double value = step * static_cast<double>(1 + seed_ % 40);
    if (low && value < *low) value = std::ceil(*low / step) * step;
    if (high && value > *high) value = std::floor(*high / step) * step;
    if (low && value < *low) value = *low;
    if (whole) {
      out += fmt::format("{}", static_cast<std::int64_t>(value));
    } else {
      out += fmt::format("{}", value);
    }
  }

  void write_string(std::string& out, JsonValue schema, std::string_view name) {
    std::string text;
    if (const auto format = schema.member("format")) {
      const std::string wanted = format->string();
      for (const auto& [known, example] : kFormats) {
        if (known == wanted) text = example;
      }
    }
    if (text.empty()) {
      text = kWords[(seed_ + name.size()) % kWords.size()];
      if (!name.empty()) text = std::string(name) + " " + text;
    }
    const std::size_t least = size_of(schema, "minLength", 0);
    const std::size_t most = size_of(schema, "maxLength", 10'000);
    while (text.size() < least) text += 'x';
    // Cut only ASCII: a name may hold characters of several bytes.
    if (text.size() > most)
      text = std::string(kWords[0].substr(0, most)).append(most > 5 ? most - 5 : 0, 'x');
    wire::append_json_string(out, text);
  }

  JsonValue root_;
  std::uint64_t seed_;
};

}  // namespace

std::string schema_instance(wire::JsonValue schema, std::uint64_t seed) {
  std::string out;
  Writer(schema, seed).write(out, schema, {}, 0);
  return out;
}

}  // namespace qq::simulator
