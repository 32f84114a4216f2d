#pragma once
#include <memory>

#include "dialects/dialect.h"

namespace qq::dialects::gemini {

std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request, const AnswerHead& head);

}  // namespace qq::dialects::gemini
