// The responses API in OpenAI's spelling, whole and as a stream of named events with sequence numbers:
// response.created, response.in_progress, per item output_item.added … output_item.done, and one terminal
// event; no [DONE]. https://platform.openai.com/docs/api-reference/responses-streaming
//
// A thought is sealed (`encrypted_content`) where the request asks for it; the text says whose seal it is.
// The ids of the items behind a thought end in its id's end, so that who sends them back without it can be
// told.
#pragma once
#include <string>
#include <string_view>

#include "simulator/provider/answer.h"
#include "simulator/provider/reply.h"

namespace qq::simulator {

inline constexpr std::string_view kSealed = "gAAAA";
// Of an item's id; empty where no thought was before it.
std::string end_of_thought_before(std::string_view item_id);

Reply responses_reply(const Asked& asked, const Script& script);

}  // namespace qq::simulator
