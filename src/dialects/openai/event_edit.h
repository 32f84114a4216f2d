// What a client gets of an event that the judge has read: nearly always the provider's bytes as they are.
// Two things are put back: what we asked for beyond the client's wish (the usage chunk, and `usage` in
// others, when stream_options.include_usage was forced), and the name of the model the client asked for. And
// an event whose fields are indented, which we read and clients do not, is written so that they do.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "dialects/openai/stream.h"
#include "wire/sse.h"

namespace qq::dialects::openai {

// The same for a whole stream.
struct EventRules {
  bool usage_forced = false;        // usage_was_forced() of the request
  std::string_view rename_model{};  // name_to_restore(); empty: the provider's name stays
  std::string_view rename_json{};   // the same as JSON, kept by the caller
};

enum class Edit : std::uint8_t {
  Keep,     // forward the event's own bytes; nothing was copied
  Drop,     // forward nothing
  Rewrite,  // forward what was appended to `out`
};

[[nodiscard]] inline bool renames(const EventRules& rules, const DeltaFacts& facts) noexcept {
  // Azure's first chunk has an empty name: not one to replace.
  return !rules.rename_model.empty() && facts.model_value.text() != rules.rename_json &&
         !facts.model_value.raw_string().empty();
}
[[nodiscard]] inline bool strips_null(const EventRules& rules, const DeltaFacts& facts) noexcept {
  return rules.usage_forced && !facts.usage_null_value.text().empty();
}

// What to do, without doing it.
Edit edit_of(const EventRules& rules, const EventFacts& facts, const wire::SseEvent& event) noexcept;

// The same, and on Rewrite appends the new event to `out`. `raw` are the event's bytes on the wire, its
// closing blank line included; `facts` come from judging `event`. With one data line everything outside the
// changed members stays byte for byte (line ends, `id:`, comments). Data of several lines, an event whose
// raw bytes are gone (`raw` empty) and one with indented fields is written anew as `event:` and `data:`
// lines.
Edit edit_event(const EventRules& rules, const EventFacts& facts, const wire::SseEvent& event,
                std::string_view raw, std::string& out);

// A rewritten event as pieces of its own bytes and of the rules', unused ones empty. `event` is the event's
// data, or all its bytes.
using EventPieces = std::array<std::string_view, 5>;
void splice_event(const EventRules& rules, const DeltaFacts& facts, std::string_view event,
                  EventPieces& pieces) noexcept;

// Appends an event anew: `event:` if it has a name, a `data:` line for each line, a blank line.
void append_event(std::string& out, std::string_view name, std::string_view data);

}  // namespace qq::dialects::openai
