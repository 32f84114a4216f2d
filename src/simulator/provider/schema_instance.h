// A valid instance of a JSON schema, as small as the schema lets it be but with every named property: what
// the built-in answers give for response_format and as arguments of tool calls.
//
// Understood: type (also a list), properties, required, items, prefixItems, minItems, enum, const, default,
// examples, anyOf, oneOf, allOf, $ref into the same document ("#/$defs/x"), minimum, maximum and their
// exclusive forms, multipleOf, minLength, maxLength, format of the usual strings. Not understood: pattern,
// not, if/then, dependent*; such a schema may get an instance that does not satisfy it.
#pragma once
#include <cstdint>
#include <string>

#include "wire/json.h"

namespace qq::simulator {

// `seed` varies strings and numbers where the schema leaves them free. An empty or boolean schema gives {}.
std::string schema_instance(wire::JsonValue schema, std::uint64_t seed);

}  // namespace qq::simulator
