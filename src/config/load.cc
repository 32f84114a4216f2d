#include "config/load.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "config/check.h"
#include "config/definition.h"
#include "config/json_document.h"
#include "config/places.h"
#include "config/shown.h"
#include "config/suggest.h"
#include "config/yaml_tree.h"

namespace qq::config {
namespace {

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string_view expected_words(FieldType type) {
  switch (type) {
    case FieldType::Text:
    case FieldType::Secret: return "text";
    case FieldType::Boolean: return "true or false";
    case FieldType::Integer: return "a whole number";
    case FieldType::Number: return "a number";
    case FieldType::Duration: return "a duration such as 3s";
    case FieldType::Size: return "a size such as 64MiB";
    case FieldType::Tokens: return "a token count such as 128k";
    case FieldType::Word: return "a word";
    case FieldType::Words: return "a list of words";
    case FieldType::Texts: return "a list of text";
    case FieldType::Map: return "a map of keys and values";
    case FieldType::Maps: return "a list of maps, each beginning with `- `";
  }
  return "a value";
}

// The value in base units, for the range check; nothing for types without a range.
std::optional<double> magnitude(FieldType type, std::string_view text) {
  const auto of = [](auto parsed) -> std::optional<double> {
    if (!parsed) return std::nullopt;
    return static_cast<double>(*parsed);
  };
  switch (type) {
    case FieldType::Integer: return of(parse_integer(text));
    case FieldType::Number: return of(parse_number(text));
    case FieldType::Size: return of(parse_size(text));
    case FieldType::Tokens: return of(parse_tokens(text));
    case FieldType::Duration: {
      const auto parsed = parse_duration(text);
      if (!parsed) return std::nullopt;
      return static_cast<double>(parsed->count());
    }
    default: return std::nullopt;
  }
}

std::string spelled(FieldType type, double value) {
  switch (type) {
    case FieldType::Size: return format_size(static_cast<std::uint64_t>(value));
    case FieldType::Duration: return format_duration(Milliseconds(static_cast<std::int64_t>(value)));
    case FieldType::Tokens: return format_tokens(static_cast<std::int64_t>(value));
    case FieldType::Integer: return fmt::format("{}", static_cast<std::int64_t>(value));
    default: return format_number(value);
  }
}

bool has_control(std::string_view text, bool lines) {
  return std::any_of(text.begin(), text.end(), [lines](char c) {
    if (lines && (c == '\n' || c == '\t')) return false;
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

class Loader {
 public:
  Loader(const Environment& environment, Places& places, Diagnostics& out)
      : environment_(environment), places_(places), out_(out) {}

  void load_map(const Section& section, void* object, const Node& node, const std::string& path) {
    std::unordered_map<std::string_view, Mark> seen;
    for (const Entry& entry : node.entries) {
      const Node& key = entry.key;
      if (key.kind != Node::Kind::Scalar) {
        out_.add(key.mark, prefixed(path, "a key must be a word"));
        continue;
      }
      if (key.plain && key.text == "<<") {
        out_.add(key.mark, prefixed(path, "merge keys (<<) are not supported: write the keys out"));
        continue;
      }
      const Field* field = section.find(key.text);
      if (field == nullptr) {
        out_.add(key.mark, out_.full() ? std::string() : prefixed(path, unknown_key(section, key.text)));
        continue;
      }
      const auto [first, fresh] = seen.emplace(field->key, key.mark);
      if (!fresh) {
        out_.add(key.mark, prefixed(path, fmt::format("`{}` is given twice, first in line {}", field->key,
                                                      first->second.line)));
        continue;
      }
      load_value(*field, object, entry.value, join(path, field->key));
    }
    for (const Field& field : section.fields) {
      if (field.presence == Presence::Required && !seen.contains(field.key)) {
        out_.add(node.mark, prefixed(path, fmt::format("`{}` is required", field.key)));
      }
    }
  }

 private:
  static std::string prefixed(const std::string& path, std::string message) {
    return path.empty() ? message : fmt::format("{}: {}", path, message);
  }

  static std::string unknown_key(const Section& section, std::string_view key) {
    const std::string name = shown(key);
    for (const Field& field : section.fields) {
      if (std::find(field.often_written.begin(), field.often_written.end(), key) !=
          field.often_written.end()) {
        return fmt::format("unknown key {}: did you mean `{}`?", name, field.key);
      }
    }
    std::vector<std::string_view> known;
    for (const Field& field : section.fields) known.push_back(field.key);
    if (const auto near = nearest(key, known))
      return fmt::format("unknown key {}: did you mean `{}`?", name, *near);
    for (const Section* other : all_sections()) {
      if (other->find(key) == nullptr) continue;
      return other->name.empty() ? fmt::format("unknown key {}: it belongs at the top level", name)
                                 : fmt::format("unknown key {}: it belongs in `{}`", name, other->name);
    }
    std::string list;
    for (const std::string_view word : known) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", word);
    return fmt::format("unknown key {}: known here are {}", name, list);
  }

  void load_value(const Field& field, void* object, const Node& node, const std::string& path) {
    places_.set(path, {node.mark});
    if (node.kind == Node::Kind::Null) {
      const std::string what =
          node.text.empty() ? "nothing" : fmt::format("`{}`, which is YAML's null", node.text);
      const bool text = !node.text.empty() && expected_words(field.type) == "text";
      out_.add(node.mark, fmt::format("{}: expected {}, found {}: {}", path, expected_words(field.type), what,
                                      text ? "quote it" : "give it a value or remove the key"));
      return;
    }
    switch (field.type) {
      case FieldType::Map:
        if (!expect(Node::Kind::Map, field, node, path)) return;
        load_map(*field.section, field.open(object), node, path);
        return;
      case FieldType::Maps:
      case FieldType::Words:
      case FieldType::Texts: load_list(field, object, node, path); return;
      default:
        if (!expect(Node::Kind::Scalar, field, node, path)) return;
        load_scalar(field, object, node, path);
    }
  }

  void load_list(const Field& field, void* object, const Node& node, const std::string& path) {
    if (!expect(Node::Kind::Sequence, field, node, path)) return;
    if (node.items.size() < field.min_items) {
      out_.add(node.mark, fmt::format("{}: must not be empty", path));
      return;
    }
    if (field.clear) field.clear(object);
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Node& item = node.items[i];
      const std::string item_path = fmt::format("{}[{}]", path, i);
      places_.set(item_path, {item.mark});
      if (field.type == FieldType::Maps) {
        // A place is taken even for what cannot be read, so that paths and indices stay in step.
        void* element = field.open(object);
        if (item.kind == Node::Kind::Map) {
          load_map(*field.section, element, item, item_path);
        } else {
          out_.add(item.mark,
                   fmt::format("{}: expected a map of keys and values, found {}", item_path, describe(item)));
        }
        continue;
      }
      if (item.kind != Node::Kind::Scalar) {
        out_.add(item.mark, fmt::format("{}: expected a word, found {}", item_path, describe(item)));
        continue;
      }
      if (!seen.insert(item.text).second) {
        out_.add(item.mark, fmt::format("{}: {} is listed twice", item_path, shown(item.text)));
        continue;
      }
      load_scalar(field, object, item, item_path);
    }
  }

  bool expect(Node::Kind kind, const Field& field, const Node& node, const std::string& path) {
    if (node.kind == kind) return true;
    out_.add(node.mark,
             fmt::format("{}: expected {}, found {}", path, expected_words(field.type), describe(node)));
    return false;
  }

  void load_scalar(const Field& field, void* object, const Node& node, const std::string& path) {
    auto expanded = expand(node.text, environment_);
    if (!expanded) {
      out_.add(node.mark, fmt::format("{}: {}", path, expanded.error()));
      return;
    }
    const Scalar value{std::move(expanded->text), node.plain, expanded->from_outside, node.mark};
    places_.set(path, {node.mark, value.from_outside});
    const std::string problem = problem_of(field, value);
    const std::string error = problem.empty() ? stored(field, object, value) : problem;
    if (error.empty()) return;
    places_.set(path, {node.mark, value.from_outside, false});
    out_.add(node.mark, fmt::format("{}: {}", path, error));
  }

  static std::string found(const Field& field, const Scalar& value) {
    if (field.type == FieldType::Secret) return {};
    if (value.from_outside) return " (the expanded value is something else)";
    return fmt::format(", found {}", shown(value.text));
  }

  static std::string stored(const Field& field, void* object, const Scalar& value) {
    const std::string expected = field.store(object, value);
    return expected.empty() ? expected : fmt::format("expected {}{}", expected, found(field, value));
  }

  static std::string problem_of(const Field& field, const Scalar& value) {
    switch (field.type) {
      case FieldType::Text:
      case FieldType::Texts:
      case FieldType::Secret: return text_problem(field, value);
      case FieldType::Word:
      case FieldType::Words: return word_problem(field, value);
      case FieldType::Boolean:
      case FieldType::Integer:
      case FieldType::Number:
        if (!value.plain && !value.from_outside) {
          return fmt::format("expected {} without quotes, found text", expected_words(field.type));
        }
        return range_problem(field, value);
      default: return range_problem(field, value);
    }
  }

  static std::string range_problem(const Field& field, const Scalar& value) {
    const auto number = magnitude(field.type, value.text);
    if (!number || (*number >= field.minimum && *number <= field.maximum)) return {};
    return fmt::format("must be between {} and {}{}", spelled(field.type, field.minimum),
                       spelled(field.type, field.maximum), found(field, value));
  }

  static std::string text_problem(const Field& field, const Scalar& value) {
    const std::string_view silent =
        value.plain && !value.from_outside ? silent_type(value.text) : std::string_view{};
    if (!silent.empty()) {
      if (field.type == FieldType::Secret) {
        return fmt::format("expected text, but without quotes YAML reads this as {}: quote it", silent);
      }
      return fmt::format("expected text, but without quotes YAML reads {} as {}: quote it", shown(value.text),
                         silent);
    }
    if (value.text.empty() && field.type != FieldType::Secret) return "must not be empty";
    const bool is_document = field.type == FieldType::Secret && is_json_object(value.text);
    if (has_control(value.text, field.lines) && !is_document)
      return "holds a control character, such as a line break";
    if (value.text.size() >
        std::max<std::size_t>(field.max_length, field.type == FieldType::Secret ? 16U << 10U : 0U)) {
      return fmt::format("is longer than {} bytes", field.max_length);
    }
    if (field.matches && !field.matches(value.text)) {
      return fmt::format("expected {}{}", field.pattern_words, found(field, value));
    }
    return {};
  }

  static std::string word_problem(const Field& field, const Scalar& value) {
    if (std::find(field.words.begin(), field.words.end(), value.text) != field.words.end()) return {};
    std::string list;
    for (const std::string_view word : field.words)
      list += fmt::format("{}`{}`", list.empty() ? "" : ", ", word);
    const auto near = value.from_outside ? std::nullopt : nearest(value.text, field.words);
    return fmt::format("expected {}{}{}{}", field.words.size() > 1 ? "one of " : "", list,
                       found(field, value), near ? fmt::format(": did you mean `{}`?", *near) : "");
  }

  const Environment& environment_;
  Places& places_;
  Diagnostics& out_;
};

}  // namespace

LoadResult load_text(const std::string& name, std::string_view text, const Environment& environment) {
  Diagnostics out(name);
  const auto root = parse_yaml(text, out);
  if (!root) return std::unexpected(out.take());
  if (root->kind != Node::Kind::Map) {
    out.add(root->mark,
            root->kind == Node::Kind::Null
                ? std::string("the file is empty: `listeners`, `providers` and `models` are required")
                : fmt::format("the file must hold a map of keys and values, not {}", describe(*root)));
    return std::unexpected(out.take());
  }
  Config config;
  Places places;
  Loader(environment, places, out).load_map(root_section(), &config, *root, "");
  complete(config, places);
  check(config, places, out);
  if (!out.empty()) return std::unexpected(out.take());
  return config;
}

LoadResult load_file(const std::string& path, const Environment& environment) {
  // A file that is too large is read a little beyond the limit, so that `parse_yaml` sees it is.
  const auto text = read_file(path, kMaxFileBytes, environment.pipes);
  if (!text) return std::unexpected(std::vector<Diagnostic>{{path, 1, 1, text.error()}});
  return load_text(path, *text, environment);
}

}  // namespace qq::config
