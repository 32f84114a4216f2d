// The pieces of the provider's side, which dialect.cc puts together.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "dialects/cohere/dialect.h"
#include "wire/json.h"

namespace qq::dialects::cohere {

// The state of a thought that was a tool plan.
inline constexpr std::string_view kPlan = "tool_plan";

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed);
std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed);

// "COMPLETE" and its kind; words that nobody knows yet are Stop.
model::Finish finish_of(std::string_view finish_reason) noexcept;
// Of a `usage` object.
model::Usage usage_of(wire::JsonValue usage) noexcept;
// What Cohere says in place of an answer or inside a stream; nothing if `document` is no error.
std::optional<Error> find_error(wire::JsonValue document);

}  // namespace qq::dialects::cohere
