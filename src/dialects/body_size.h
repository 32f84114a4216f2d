// How large the body of a request will be, roughly, so that its string grows once.
#pragma once
#include <cstddef>

#include "model/chat_request.h"

namespace qq::dialects {

std::size_t body_size_hint(const model::ChatRequest& request);

}  // namespace qq::dialects
