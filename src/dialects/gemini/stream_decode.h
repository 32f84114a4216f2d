#pragma once
#include <memory>
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects::gemini {

std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed);

}  // namespace qq::dialects::gemini
