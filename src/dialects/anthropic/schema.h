// JSON Schema as Anthropic takes it for structured output and strict tools: every object says
// `additionalProperties: false`, and the words that limit figures, lengths and counts are refused. Source:
// platform.claude.com/docs, "Structured outputs", "JSON Schema limitations"; Anthropic's own SDKs do the
// same.
#pragma once
#include <string>

#include "model/chat_request.h"
#include "wire/json.h"

namespace qq::dialects::anthropic {

// `changed` is set if something that means something was left out or added.
std::string adapted_schema(wire::JsonValue schema, bool& changed);

// A tool's `input_schema`, which must say that it is an object's.
std::string input_schema(std::string_view schema);

// What the system prompt asks for where the target has no field for JSON, or for a schema.
std::string json_instruction(const model::OutputFormat& output);

}  // namespace qq::dialects::anthropic
