// Which reply a request gets, before faults of the stream and the wire: a scripted error, a recording, or
// a built-in answer. Pure.
#pragma once
#include <optional>
#include <string_view>

#include "simulator/provider/library.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/request_text.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

// An error, or a 200 that is none, where the script wants one in place of any answer.
std::optional<Reply> scripted_reply(const Script& script);

// `model` is the request's, with what follows '+' taken off; "rec:provider/stem" plays that recording.
Reply respond(const RequestText& request, std::string_view model, const Script& script,
              const Library& library);

// The `model` of a request body, or of the path; empty when there is none or the body is no JSON object.
std::string model_of(const RequestText& request);

}  // namespace qq::simulator
