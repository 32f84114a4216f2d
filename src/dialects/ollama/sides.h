// The pieces of the provider's side, which dialect.cc puts together.
#pragma once
#include <memory>
#include <string_view>

#include "dialects/ollama/dialect.h"

namespace qq::dialects::ollama {

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed);
std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed);

}  // namespace qq::dialects::ollama
