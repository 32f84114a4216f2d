// The responses API in OpenAI's spelling, whole and as a stream of named events with sequence numbers:
// response.created, response.in_progress, per item output_item.added … output_item.done, and one terminal
// event; no [DONE]. https://platform.openai.com/docs/api-reference/responses-streaming
#pragma once
#include "simulator/provider/answer.h"
#include "simulator/provider/reply.h"

namespace qq::simulator {

Reply responses_reply(const Asked& asked, const Script& script);

}  // namespace qq::simulator
