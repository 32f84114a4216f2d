// The end of a request: its record goes to the observer, whatever happened.
#pragma once
#include "relay/request.h"

namespace qq::relay {

void settle(RequestState& state) noexcept;

}  // namespace qq::relay
