// The pieces of the provider's side, which dialect.cc puts together.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "dialects/bedrock/dialect.h"
#include "wire/json.h"

namespace qq::dialects::bedrock {

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed);
std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed);

// "end_turn" and its kind; words that nobody knows yet are Stop.
model::Finish finish_of(std::string_view stop_reason) noexcept;
// Of a `usage` object: inputTokens holds nothing of the cache's.
model::Usage usage_of(wire::JsonValue usage) noexcept;
// The text of an error that Bedrock sent in place of an answer; nothing if `document` is none.
std::optional<std::string> error_text(wire::JsonValue document);

}  // namespace qq::dialects::bedrock
