// countTokens and the list of models: what Gemini clients ask beside generateContent.
//
// AI Studio takes the request to be counted inside {"generateContentRequest": …}, or contents alone; Vertex
// takes its members as they are. Source: ai.google.dev/api/tokens, ai.google.dev/api/models.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dialects/dialect.h"
#include "model/listed_model.h"
#include "model/target.h"

namespace qq::dialects::gemini {

Result<model::ChatRequest> decode_count_request(std::string_view body, const RequestHead& head);
std::string encode_count_answer(std::int64_t tokens);

Result<EncodedRequest> encode_count_request(const model::ChatRequest& request, const model::Target& target,
                                            Losses& losses);
// Errors: BadJson, StreamError, EmptyReply (no count).
Result<std::int64_t> decode_count_answer(std::string_view body);

// GET /v1beta/models.
std::string encode_models(std::span<const model::ListedModel> models);
// GET /v1beta/models/NAME.
std::string encode_model(const model::ListedModel& model);

}  // namespace qq::dialects::gemini
