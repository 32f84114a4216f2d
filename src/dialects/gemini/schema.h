// Schemas between JSON Schema, which the neutral model holds, and what Google takes. Two forms of it:
//
//   Schema       `parameters`, `responseSchema`: a subset of OpenAPI 3.0 that every model and API version
//                takes: types in capitals, `nullable`, `anyOf`, string enums, no references; an unknown word
//                is a 400
//   JsonSchema   `parametersJsonSchema`, `responseJsonSchema`: a subset of JSON Schema with references,
//                tuples, additionalProperties and enums of any type; unknown words mean nothing to it
//
// The first is used where nothing is lost by it, else the one that loses less. On the way references are put
// in place of what they name, allOf is merged, const becomes an enum of one, oneOf anyOf (Google reads it
// so), and a null among types, choices and enums `nullable`.
//
// Sources: ai.google.dev/api/caching#Schema, ai.google.dev/gemini-api/docs/structured-output, and the field
// comments of GenerationConfig.responseJsonSchema and FunctionDeclaration.parametersJsonSchema.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

enum class SchemaForm : std::uint8_t { Schema, JsonSchema };

struct EncodedSchema {
  SchemaForm form = SchemaForm::Schema;
  model::Json json;
  std::vector<std::string> lost;  // the words that do not get across, each once
};

// `schema` is a checked document.
EncodedSchema encode_schema(wire::JsonValue schema);
// An object without properties: Google wants no `parameters` at all then.
bool takes_nothing(wire::JsonValue schema) noexcept;

// A `parameters` or `responseSchema` of a client, in either spelling of its words.
model::Json decode_schema(wire::JsonValue schema);

}  // namespace qq::dialects::gemini
