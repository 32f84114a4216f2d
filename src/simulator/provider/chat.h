// Chat completions in OpenAI's spelling: https://platform.openai.com/docs/api-reference/chat. A stream is
// the role, then pieces, then the finish reason, then (only when include_usage was asked, and then with
// `usage: null` on all the others) a chunk with usage and no choices, then [DONE].
#pragma once
#include "simulator/provider/answer.h"
#include "simulator/provider/reply.h"

namespace qq::simulator {

Reply chat_reply(const Asked& asked, const Script& script);
// The old completions endpoint: the same, with `text` for a message.
Reply completions_reply(const Asked& asked, const Script& script);

// {"prompt_tokens":…} as chat, completions and the usage chunk have it.
void append_usage(std::string& out, const Usage& usage);
// Appends `text` as a JSON string; with the faults `invalid_utf8` and `lone_surrogate` some bytes stay raw.
void append_text(std::string& out, std::string_view text, const Script& script);

inline constexpr std::int64_t kCreated = 1'767'225'600;  // 2026-01-01: answers do not depend on the clock

}  // namespace qq::simulator
