// The built-in answers in every dialect but OpenAI's: what the model says (answer.h), as the events of
// model/stream_event.h, told by the dialect's voice (voices/voice.h).
#pragma once
#include "base/result.h"
#include "simulator/provider/answer.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/route.h"

namespace qq::simulator {

// Reads a request of a route that has a voice. `body` is checked JSON. Errors: InvalidRequest in the
// dialect's words.
Result<Asked> read_spoken(const RoutedPath& path, std::string_view body);

Reply spoken_reply(const Asked& asked, const Script& script);
// How many tokens the prompt has, in the dialect's words.
Reply count_reply(const Asked& asked);

}  // namespace qq::simulator
