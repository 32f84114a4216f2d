// Objects read by the names of their members, in one pass: what is known goes to its place, what is not is
// kept or passed over. A member that is null is as good as absent: its value stays empty.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {

struct Known {
  std::string_view name;
  wire::JsonValue* value;
};

// A client's object. Errors: InvalidRequest for a known key that comes twice or is written with escapes,
// since another reader might take the other one.
Result<> read_members(wire::JsonValue object, std::initializer_list<Known> known,
                      model::ExtraFields* others = nullptr);
// A provider's: of two the first counts.
void find_members(wire::JsonValue object, std::initializer_list<Known> known,
                  model::ExtraFields* others = nullptr);

inline bool absent(wire::JsonValue value) noexcept {
  return value.text().empty();
}

// InvalidRequest as OpenAI words it; `param` is the path inside of what is being read.
Error invalid(std::string message, std::string param, std::string code);
// `error`, its path begun with `outer`: "content[0].text" inside "input[3]".
Error within(Error error, std::string_view outer);
Error within(Error error, std::string_view outer, std::size_t index);

// Values by type; absent ones are empty. Errors: InvalidRequest with `name`.
Result<std::string> string_of(wire::JsonValue value, std::string_view name);
Result<std::optional<std::int64_t>> integer_of(wire::JsonValue value, std::string_view name);
Result<std::optional<double>> number_of(wire::JsonValue value, std::string_view name);
Result<std::optional<bool>> boolean_of(wire::JsonValue value, std::string_view name);
Result<> must_be_array(wire::JsonValue value, std::string_view name);
Result<> must_be_object(wire::JsonValue value, std::string_view name);

// A time in seconds, which some write with a fraction; 0 if it is none.
std::int64_t seconds_of(wire::JsonValue value) noexcept;

// An id made of `seed` and `number`, the same for the same: "call_" and 16 hexadecimal digits.
std::string made_id(std::string_view prefix, std::string_view seed, std::size_t number);

}  // namespace qq::dialects::openai_responses
