// What a client is told whose request does not come to the relay.
#pragma once
#include <cstddef>
#include <string>

#include "base/error.h"

namespace qq::downstream {

Error too_large(std::size_t body_max);
// A limit of ours is reached: come back in a second.
Error saturated(std::string text);
Error too_slow();
Error too_many_bodies();
Error malformed_body(const char* reason);
Error client_left_inside();

}  // namespace qq::downstream
