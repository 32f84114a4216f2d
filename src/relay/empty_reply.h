// An answer with nothing in it, where one was owed: the provider's failure, or just what its caller asked
// for?
//
// Another target is tried either way. But a caller can have as many empty answers as it likes, with a stop
// string that comes first or by asking for a blank, and must not be able to open a breaker with them, which
// would take the target from everybody else.
#pragma once
#include "relay/request.h"

namespace qq::relay {

// Notes it for the running attempt, if `error` is of that kind. `blank`: white space was said. `finished`:
// the provider said that the answer is complete.
void note_empty_reply(RequestState& state, const Error& error, bool blank, bool finished);

}  // namespace qq::relay
