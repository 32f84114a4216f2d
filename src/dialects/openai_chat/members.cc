#include "dialects/openai_chat/members.h"

#include <charconv>

namespace qq::dialects::openai_chat {

std::string Path::text() const {
  std::string out = parent == nullptr ? std::string() : parent->text();
  if (!name.empty()) {
    if (!out.empty()) out += '.';
    out += name;
  } else if (parent != nullptr) {
    out += '[' + std::to_string(index) + ']';
  }
  return out;
}

Error invalid_at(const Path& path, std::string_view what, std::string_view code) {
  const std::string place = path.text();
  std::string message = place.empty() ? std::string("the body ") : "'" + place + "' ";
  message += what;
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), place);
  error.type = "invalid_request_error";
  error.code = code;
  return error;
}

Result<> read_members(wire::JsonValue object, const Path& path, std::span<const std::string_view> names,
                      std::span<wire::JsonValue> values, model::ExtraFields& extra) {
  if (!object.is_object()) return fail(invalid_at(path, "must be an object", "invalid_type"));
  std::uint64_t seen = 0;  // there are fewer than 64 names
  for (wire::JsonMembers members(object); members.next();) {
    const std::string_view raw = members.raw_key();
    const bool escaped = raw.find('\\') != std::string_view::npos;
    std::size_t at = 0;
    while (at < names.size() && (escaped ? !members.key_is(names[at]) : raw != names[at])) ++at;
    if (at == names.size()) {
      std::string key = escaped ? wire::JsonValue("\"" + std::string(raw) + "\"").string() : std::string(raw);
      extra.push_back({std::move(key), std::string(members.value().text())});
      continue;
    }
    if (escaped) return fail(invalid_at(path / names[at], "is spelled with escapes; write it plainly"));
    if ((seen >> at & 1U) != 0) return fail(invalid_at(path / names[at], "is given twice; give it once"));
    seen |= std::uint64_t{1} << at;
    if (!members.is_null()) values[at] = members.value();
  }
  return {};
}

Result<> read_into(wire::JsonValue value, const Path& path, std::optional<double>& out) {
  if (!given(value)) return {};
  double number = 0;
  const std::string_view text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (value.type() != wire::JsonType::Number || error != std::errc{} || end != text.data() + text.size()) {
    return fail(invalid_at(path, "must be a number", "invalid_type"));
  }
  out = number;
  return {};
}

Result<> read_into(wire::JsonValue value, const Path& path, std::optional<std::int64_t>& out) {
  if (!given(value)) return {};
  out = value.integer();
  if (!out) return fail(invalid_at(path, "must be an integer", "invalid_type"));
  return {};
}

Result<> read_into(wire::JsonValue value, const Path& path, std::optional<bool>& out) {
  if (!given(value)) return {};
  if (!value.is_true() && !value.is_false())
    return fail(invalid_at(path, "must be true or false", "invalid_type"));
  out = value.is_true();
  return {};
}

Result<> read_into(wire::JsonValue value, const Path& path, std::string& out) {
  if (!given(value)) return {};
  if (!value.is_string()) return fail(invalid_at(path, "must be a string", "invalid_type"));
  out = value.string();
  return {};
}

Result<> read_into(wire::JsonValue value, const Path& path, std::optional<model::CacheMark>& out) {
  if (!given(value)) return {};
  if (!value.is_object()) return fail(invalid_at(path, "must be an object", "invalid_type"));
  out.emplace();
  const auto ttl = value.member("ttl");
  if (ttl && ttl->raw_string() == "1h") out->ttl = model::CacheMark::Ttl::OneHour;
  if (ttl && ttl->raw_string() == "5m") out->ttl = model::CacheMark::Ttl::FiveMinutes;
  return {};
}

}  // namespace qq::dialects::openai_chat
