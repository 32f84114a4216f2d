#include "dialects/openai_responses/members.h"

#include <fmt/format.h>

#include <charconv>

#include "dialects/made_ids.h"

namespace qq::dialects::openai_responses {

using wire::JsonValue;

namespace {

template <typename Twice, typename Escaped>
void walk_members(JsonValue object, std::initializer_list<Known> known, model::ExtraFields* others,
                  Twice twice, Escaped escaped) {
  std::uint64_t seen = 0;
  for (wire::JsonMembers members(object); members.next();) {
    std::uint64_t bit = 1;
    const Known* found = nullptr;
    for (const Known& each : known) {
      if (members.key_is(each.name)) {
        found = &each;
        break;
      }
      bit <<= 1U;
    }
    const JsonValue value = members.value();
    if (found == nullptr) {
      if (others == nullptr || value.is_null()) continue;
      std::string quoted = "\"";
      quoted.append(members.raw_key()).append("\"");
      others->push_back({JsonValue(quoted).string(), std::string(value.text())});
      continue;
    }
    if (members.raw_key() != found->name) escaped(found->name);
    if ((seen & bit) != 0) {
      twice(found->name);
      continue;
    }
    seen |= bit;
    if (!value.is_null()) *found->value = value;
  }
}

}  // namespace

Error invalid(std::string message, std::string param, std::string code) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::move(param));
  error.type = "invalid_request_error";
  error.code = std::move(code);
  return error;
}

Result<> read_members(JsonValue object, std::initializer_list<Known> known, model::ExtraFields* others) {
  std::optional<Error> wrong;
  walk_members(
      object, known, others,
      [&](std::string_view name) {
        wrong = invalid(fmt::format("the key \"{}\" is given twice; give it once", name), std::string(name),
                        "invalid_json");
      },
      [&](std::string_view name) {
        wrong = invalid(fmt::format("the key \"{}\" is written with escapes; write it plainly", name),
                        std::string(name), "invalid_json");
      });
  if (wrong) return fail(std::move(*wrong));
  return {};
}

void find_members(JsonValue object, std::initializer_list<Known> known, model::ExtraFields* others) {
  walk_members(object, known, others, [](std::string_view) {}, [](std::string_view) {});
}

Error within(Error error, std::string_view outer) {
  std::string path(outer);
  if (!error.param.empty() && error.param.front() != '[') path += '.';
  error.param.insert(0, path);
  return error;
}

Error within(Error error, std::string_view outer, std::size_t index) {
  return within(std::move(error), fmt::format("{}[{}]", outer, index));
}

namespace {

std::unexpected<Error> wrong_type(std::string_view name, std::string_view what) {
  return fail(invalid(fmt::format("'{}' must be {}", name, what), std::string(name), "invalid_type"));
}

}  // namespace

Result<std::string> string_of(JsonValue value, std::string_view name) {
  if (absent(value)) return std::string();
  if (!value.is_string()) return wrong_type(name, "a string");
  return value.string();
}

Result<std::optional<std::int64_t>> integer_of(JsonValue value, std::string_view name) {
  if (absent(value)) return std::nullopt;
  const auto number = value.integer();
  if (!number) return wrong_type(name, "an integer");
  return number;
}

Result<std::optional<double>> number_of(JsonValue value, std::string_view name) {
  if (absent(value)) return std::nullopt;
  double number = 0;
  const std::string_view text = value.text();
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (value.type() != wire::JsonType::Number || read.ec != std::errc()) return wrong_type(name, "a number");
  return number;
}

Result<std::optional<bool>> boolean_of(JsonValue value, std::string_view name) {
  if (absent(value)) return std::nullopt;
  if (value.is_true()) return true;
  if (value.is_false()) return false;
  return wrong_type(name, "true or false");
}

Result<> must_be_array(JsonValue value, std::string_view name) {
  if (absent(value) || value.is_array()) return {};
  return wrong_type(name, "an array");
}

Result<> must_be_object(JsonValue value, std::string_view name) {
  if (absent(value) || value.is_object()) return {};
  return wrong_type(name, "an object");
}

std::int64_t seconds_of(JsonValue value) noexcept {
  const std::string_view text = value.text();
  std::int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

std::string made_id(std::string_view prefix, std::string_view seed, std::size_t number) {
  return fmt::format("{}{:016x}", prefix, (fnv1a(seed) ^ number) * 1099511628211ULL);
}

}  // namespace qq::dialects::openai_responses
