// The parts of a content, as both sides write them.
#pragma once
#include <string>
#include <string_view>

#include "model/part.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {

enum class TextKind : std::uint8_t { Text, Thought };

void write_text(wire::JsonWriter& json, std::string_view text, TextKind kind,
                std::string_view signature = {});

// The members of an object part behind its own: the signature.
void write_signature(wire::JsonWriter& json, std::string_view signature);

// A call's arguments as the object that they must be: "" and "null" are {}, and what is no object goes into
// one as {"arguments": "…"}; false then.
bool write_arguments(wire::JsonWriter& json, std::string_view arguments);

// {"inlineData": …} or {"fileData": …} by where the medium is; FileId and Text are not written.
void write_media(wire::JsonWriter& json, const model::MediaPart& media, std::string_view media_type);

// Those of `extra` whose key is `prefix`, a dot and a name without one; of an empty prefix those without any.
void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra, std::string_view prefix);
bool has_extra(const model::ExtraFields& extra, std::string_view prefix) noexcept;

}  // namespace qq::dialects::gemini
