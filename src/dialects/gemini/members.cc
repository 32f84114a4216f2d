#include "dialects/gemini/members.h"

#include <charconv>
#include <cmath>

namespace qq::dialects::gemini {
namespace {

constexpr char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// The digits of a number that may stand in quotes.
std::string_view digits_of(wire::JsonValue value) noexcept {
  return value.is_string() ? value.raw_string() : value.text();
}

}  // namespace

std::string key_text(std::string_view raw_key) {
  if (raw_key.find('\\') == std::string_view::npos) return std::string(raw_key);
  std::string literal;
  literal.reserve(raw_key.size() + 2);
  literal.append(1, '"').append(raw_key).append(1, '"');
  return wire::JsonValue(literal).string();
}

Error invalid_field(std::string message, std::string param) {
  return Error::client(ErrorKind::InvalidRequest, std::move(message), std::move(param));
}

bool is_field(std::string_view raw_key, std::string_view camel) noexcept {
  if (raw_key == camel) return true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < raw_key.size(); ++i, ++at) {
    char c = raw_key[i];
    if (c == '_' && i > 0 && i + 1 < raw_key.size()) c = upper(raw_key[++i]);
    if (at == camel.size() || camel[at] != c) return false;
  }
  return at == camel.size();
}

Result<std::size_t> find_field(std::string_view raw_key, std::span<const std::string_view> names,
                               std::uint64_t& seen, std::string_view path) {
  const bool escaped = raw_key.find('\\') != std::string_view::npos;
  const std::string decoded = escaped ? key_text(raw_key) : std::string();
  const std::string_view key = escaped ? std::string_view(decoded) : raw_key;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_field(key, names[i])) continue;
    std::string param = join_path(path, names[i]);
    if (escaped) {
      return fail(
          invalid_field("the key \"" + param + "\" is written with escapes; write it plainly", param));
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((seen & bit) != 0) {
      return fail(invalid_field("the key \"" + param + "\" is given twice; give it once", param));
    }
    seen |= bit;
    return i;
  }
  return names.size();
}

std::optional<std::int64_t> whole_number(wire::JsonValue value) noexcept {
  if (const auto number = value.integer()) return number;
  const auto number = real_number(value);
  // Beyond this a double is no longer one whole number.
  constexpr double kExact = 9007199254740992.0;
  if (!number || std::trunc(*number) != *number || std::abs(*number) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> real_number(wire::JsonValue value) noexcept {
  const std::string_view digits = digits_of(value);
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

Result<std::string> text_field(wire::JsonValue value, const std::string& path) {
  if (!value.is_string()) return fail(wrong_type(path, "a string"));
  return value.string();
}

model::Json compact(std::string_view json) {
  model::Json out;
  out.reserve(json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) {
        out += json[++i];
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    in_string = c == '"';
    out += c;
  }
  return out;
}

model::ExtraField extra_field(std::string_view prefix, std::string_view raw_key, wire::JsonValue value) {
  return {join_path(prefix, key_text(raw_key)), std::string(value.text())};
}

}  // namespace qq::dialects::gemini
