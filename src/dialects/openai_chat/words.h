// What whole answers and streams of this dialect say in the same words.
#pragma once
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_chat {

// The members of a message, or of a stream's delta, that say something. Empty text: absent, null, "", [] or
// {}.
struct Said {
  explicit Said(wire::JsonValue message) noexcept;
  wire::JsonValue content, refusal, audio, annotations, images, calls;
  wire::JsonValue thoughts;  // reasoning_content or reasoning
  wire::JsonValue details;   // reasoning_details
  wire::JsonValue old_call;  // function_call
};

// A provider's finish reason, whichever of the many words it is; None for "" only.
model::Finish finish_of(std::string_view word) noexcept;
// What a choice's end comes to, with what is known of its calls. No word at all is an end as well, and
// Google's endpoint says "stop" to calls. But a "stop" in the middle of a call's arguments (`cut`) is a stop
// string's work, for all that is known, and not a call that waits for its result.
model::Finish finish_with(model::Finish told, bool has_calls, bool cut,
                          std::string_view stop_string) noexcept;
// Of calls that are told as whole and are not: nobody is to act on half of what the model wanted.
Error broken_off_call();
// The word for clients: one that OpenAI's own SDKs know, but "error" for what broke. Empty for None.
std::string_view finish_word(model::Finish finish) noexcept;

// The id and the time of an answer: the provider's where they are of this dialect, else made from `head`.
std::string answer_id(std::string_view given, const AnswerHead& head);
inline std::int64_t answer_time(std::int64_t given, const AnswerHead& head) noexcept {
  return given != 0 ? given : head.now;
}

inline bool says_anything(const model::Usage& usage) noexcept {
  return usage != model::Usage{};
}
// The value of `usage`: totals that hold what their details hold, as OpenAI counts.
void write_usage(wire::JsonWriter& json, const model::Usage& usage);

// A citation of any dialect as an annotation of the text at [begin, end), in characters of the message; false
// (and nothing written) if it names no URL.
bool write_annotation(wire::JsonWriter& json, std::string_view citation, std::size_t begin, std::size_t end);
std::size_t characters_in(std::string_view utf8) noexcept;

// Where a call's arguments say nothing, that is an empty object.
std::string arguments_of(wire::JsonValue value);
inline bool is_no_arguments(std::string_view text) noexcept {
  return text.empty() || text == "null";
}

// 128 bits of `text`, as hex digits.
std::string fingerprint(std::string_view text);

// What the beginning of a sound in base64 says it is, where nothing else does.
std::string_view sound_type(std::string_view base64) noexcept;

}  // namespace qq::dialects::openai_chat
