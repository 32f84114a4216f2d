// Faults that change which events a stream has and how they are spelled, and their likes in plain bodies.
#pragma once
#include "simulator/provider/reply.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

// Errors inside a 200, missing and doubled ends, cut JSON.
void apply_event_faults(Reply& reply, const Script& script);

// Line ends, BOM, comments, blank lines and white space around `data:`.
void apply_spelling_faults(Reply& reply, const Script& script);

}  // namespace qq::simulator
