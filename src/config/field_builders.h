// How sections are written: fields made from member pointers, and what is special about each. Only for the
// files that define sections (sections.h).
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/secret.h"
#include "config/definition.h"

namespace qq::config::build {

template <typename T>
T& as(void* object) {
  return *static_cast<T*>(object);
}
template <typename T>
const T& as(const void* object) {
  return *static_cast<const T*>(object);
}

template <typename M>
struct Unwrapped {
  using type = M;
};
template <typename M>
struct Unwrapped<std::optional<M>> {
  using type = M;
};

// A scalar: `parse` makes the value or says what it expected, `format` is its inverse. Members may be
// optional.
template <typename T, typename M, typename Parse, typename Format>
Field scalar(std::string_view key, FieldType type, M T::* member, Parse parse, Format format) {
  Field field;
  field.key = key;
  field.type = type;
  field.store = [member, parse](void* object, const Scalar& value) -> std::string {
    auto parsed = parse(value.text);
    if (!parsed) return std::move(parsed).error();
    using Value = typename Unwrapped<M>::type;
    as<T>(object).*member = static_cast<Value>(*std::move(parsed));
    return {};
  };
  field.read = [member, format](const void* object) -> std::string {
    const M& value = as<T>(object).*member;
    if constexpr (std::is_same_v<M, typename Unwrapped<M>::type>) {
      return format(value);
    } else {
      return value ? format(*value) : std::string();
    }
  };
  return field;
}

inline Parsed<std::string> take_text(std::string_view text) {
  return std::string(text);
}
inline std::string give_text(const std::string& text) {
  return text;
}

template <typename T, typename M>
Field text(std::string_view key, M T::* member) {
  return scalar(key, FieldType::Text, member, take_text, give_text);
}

// One of `words`, kept as text.
template <typename T>
Field word(std::string_view key, std::string T::* member, std::vector<std::string_view> words) {
  Field field = text(key, member);
  field.type = FieldType::Word;
  field.words = std::move(words);
  return field;
}

template <typename T>
Field secret(std::string_view key, Secret T::* member) {
  Field field = scalar(
      key, FieldType::Secret, member,
      [](std::string_view value) -> Parsed<Secret> { return Secret(std::string(value)); },
      [](const Secret& value) { return std::string(value.reveal()); });
  return field;
}

template <typename T>
Field boolean(std::string_view key, bool T::* member) {
  return scalar(key, FieldType::Boolean, member, parse_boolean,
                [](bool value) { return std::string(value ? "true" : "false"); });
}

template <typename T, typename M>
Field integer(std::string_view key, M T::* member, double minimum, double maximum) {
  Field field = scalar(key, FieldType::Integer, member, parse_integer,
                       [](auto value) { return fmt::format("{}", value); });
  field.minimum = minimum;
  field.maximum = maximum;
  return field;
}

template <typename T>
Field number(std::string_view key, double T::* member, double minimum, double maximum) {
  Field field = scalar(key, FieldType::Number, member, parse_number, format_number);
  field.minimum = minimum;
  field.maximum = maximum;
  return field;
}

template <typename T, typename M>
Field duration(std::string_view key, M T::* member, Milliseconds minimum, Milliseconds maximum) {
  Field field = scalar(key, FieldType::Duration, member, parse_duration, format_duration);
  field.minimum = static_cast<double>(minimum.count());
  field.maximum = static_cast<double>(maximum.count());
  return field;
}

template <typename T>
Field size(std::string_view key, std::size_t T::* member, double minimum, double maximum) {
  Field field = scalar(key, FieldType::Size, member, parse_size, format_size);
  field.minimum = minimum;
  field.maximum = maximum;
  return field;
}

template <typename T, typename M>
Field tokens(std::string_view key, M T::* member, double minimum, double maximum) {
  Field field = scalar(key, FieldType::Tokens, member, parse_tokens, format_tokens);
  field.minimum = minimum;
  field.maximum = maximum;
  return field;
}

inline std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& element : list) {
    if (!out.empty()) out += ", ";
    out += element;
  }
  return out;
}

// A list of text, or of `words` if these are given.
template <typename T>
Field texts(std::string_view key, std::vector<std::string> T::* member,
            std::vector<std::string_view> words = {}) {
  Field field;
  field.key = key;
  field.type = words.empty() ? FieldType::Texts : FieldType::Words;
  field.words = std::move(words);
  field.clear = [member](void* object) { (as<T>(object).*member).clear(); };
  field.store = [member](void* object, const Scalar& value) -> std::string {
    (as<T>(object).*member).push_back(value.text);
    return {};
  };
  field.read = [member](const void* object) { return joined(as<T>(object).*member); };
  return field;
}

// A list of words of which each stands for one flag of the struct that `at` finds in T.
template <typename T, typename S>
struct Flag {
  std::string_view word;
  bool S::* member;
};
template <typename T, typename S, typename At>
Field flags(std::string_view key, At at, std::vector<Flag<T, S>> list) {
  Field field;
  field.key = key;
  field.type = FieldType::Words;
  for (const auto& flag : list) field.words.push_back(flag.word);
  field.clear = [at, list](void* object) {
    for (const auto& flag : list) at(as<T>(object)).*(flag.member) = false;
  };
  field.store = [at, list](void* object, const Scalar& value) -> std::string {
    for (const auto& flag : list) {
      if (flag.word == value.text) at(as<T>(object)).*(flag.member) = true;
    }
    return {};
  };
  field.read = [at, list](const void* object) {
    std::vector<std::string> on;
    for (const auto& flag : list) {
      if (at(as<T>(object)).*(flag.member)) on.emplace_back(flag.word);
    }
    return joined(on);
  };
  return field;
}

template <typename T, typename E>
Field maps(std::string_view key, std::vector<E> T::* member, const Section& section,
           std::string_view identity) {
  Field field;
  field.key = key;
  field.type = FieldType::Maps;
  field.section = &section;
  field.identity = identity;
  field.open = [member](void* object) -> void* { return &(as<T>(object).*member).emplace_back(); };
  field.elements = [member](const void* object) {
    std::vector<const void*> all;
    for (const E& element : as<T>(object).*member) all.push_back(&element);
    return all;
  };
  return field;
}

template <typename T, typename E>
Field map(std::string_view key, E T::* member, const Section& section) {
  Field field;
  field.key = key;
  field.type = FieldType::Map;
  field.section = &section;
  field.open = [member](void* object) -> void* {
    if constexpr (std::is_same_v<E, typename Unwrapped<E>::type>) {
      return &(as<T>(object).*member);
    } else {
      return &(as<T>(object).*member).emplace();
    }
  };
  field.elements = [member](const void* object) -> std::vector<const void*> {
    if constexpr (std::is_same_v<E, typename Unwrapped<E>::type>) {
      return {&(as<T>(object).*member)};
    } else {
      const E& value = as<T>(object).*member;
      if (!value) return {};
      return {&*value};
    }
  };
  return field;
}

// A map in the file whose keys fill the same struct as the keys around it.
inline Field same_struct(std::string_view key, const Section& section) {
  Field field;
  field.key = key;
  field.type = FieldType::Map;
  field.section = &section;
  field.open = [](void* object) { return object; };
  field.elements = [](const void* object) -> std::vector<const void*> { return {object}; };
  return field;
}

template <typename T>
std::function<const void*()> defaults_of() {
  return []() -> const void* {
    static const T kDefault{};
    return &kDefault;
  };
}

// Makes definitions read as sentences: what a field is, then what is special about it.
struct Make {
  Field field;
  Make(Field made) : field(std::move(made)) {}  // NOLINT(google-explicit-constructor)
  Make&& doc(std::string_view text) && { return field.doc = text, std::move(*this); }
  Make&& required() && { return field.presence = Presence::Required, std::move(*this); }
  Make&& restart() && { return field.effect = Effect::Restart, std::move(*this); }
  Make&& absent(std::string note) && { return field.default_note = std::move(note), std::move(*this); }
  Make&& at_least(std::size_t items) && { return field.min_items = items, std::move(*this); }
  Make&& like(std::string_view example) && { return field.example = example, std::move(*this); }
  Make&& known_as(std::vector<std::string_view> names) && {
    return field.often_written = std::move(names), std::move(*this);
  }
  Make&& longest(std::size_t bytes) && { return field.max_length = bytes, std::move(*this); }
  Make&& of_lines() && { return field.lines = true, std::move(*this); }
  operator Field() && { return std::move(field); }  // NOLINT(google-explicit-constructor)
};

inline bool in_charset(std::string_view text, std::string_view punctuation, std::size_t longest) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > longest || !alphanumeric(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return alphanumeric(c) || punctuation.find(c) != std::string_view::npos;
  });
}

// Names of providers, accounts and groups: parts of "provider/account/model", so without a slash.
inline Field named(Field field) {
  field.pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  field.pattern_words =
      "a name of at most 64 letters, digits, '.', '_' and '-', beginning with a letter or digit";
  field.matches = [](std::string_view text) { return in_charset(text, "._-", 64); };
  return field;
}

// Names that clients send as `model` and that appear in response headers.
inline Field publicly_named(Field field) {
  field.pattern = "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$";
  field.pattern_words =
      "a name of at most 128 letters, digits and '.', '_', '-', ':', '/', '@', '+', beginning with a letter "
      "or digit";
  field.matches = [](std::string_view text) { return in_charset(text, "._:/@+-", 128); };
  return field;
}

}  // namespace qq::config::build
