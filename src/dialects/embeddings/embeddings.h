// Embeddings between dialects: what a client asks at POST /v1/embeddings or at Gemini's :embedContent and
// :batchEmbedContents, in the words of whoever makes the vectors, and the vectors in the client's.
//
//   at                   who                      one call takes   texts      dimensions
//   Embeddings           OpenAI and its kind      2,048            input      dimensions
//   BatchEmbedContents   Google AI Studio         100              requests   outputDimensionality
//   EmbedContent         the same, Vertex         1                content    outputDimensionality
//   Predict              Vertex                   250              instances  parameters.outputDimensionality
//   CohereEmbed          Cohere                   96               texts      output_dimension
//   InvokeEmbed          Bedrock: Cohere          96               texts      output_dimension
//   InvokeEmbed          Bedrock: Amazon Titan    1                inputText  dimensions
//
// What is decided here:
//   - A request is one call. More texts than a call takes are refused, naming the caller's field, so that a
//     target that takes them is asked instead; several calls would be several bills, and half an answer.
//   - Providers are asked for numbers; base64, which OpenAI's SDKs ask for by default, is made of them here,
//     as OpenAI does: 32-bit floats, little-endian.
//   - What a text is for is said where the caller says it (`input_type` or `task_type`, in Cohere's or in
//     Google's words), and else by nobody, but for Cohere, which wants to know: `search_document`.
//   - An answer with another number of vectors than of texts is no answer.
//   - Usage is what the provider says. Where it says nothing (AI Studio's older models), there is none in
//     the answer. Cohere in Bedrock says it in a header only, which is for the relay to read.
//
// Sources, November 2026: ai.google.dev/api/embeddings; docs.cloud.google.com, "Get text embeddings" and the
// method embedContent; docs.cohere.com/reference/embed; docs.aws.amazon.com/bedrock, "Amazon Titan Embeddings
// Text", "Cohere Embed".
//
// Pure. Any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialects/dialect.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "model/usage.h"
#include "wire/json.h"

namespace qq::dialects::embeddings {

struct Request {
  model::Endpoint asked = model::Endpoint::Embeddings;
  std::vector<std::string> texts;  // in order; as many as vectors are wanted
  std::optional<std::int64_t> dimensions;
  bool base64 = false;
  std::string task;                 // what the texts are for, in the caller's word
  std::string task_field;           // and where it stands
  std::string title;                // of a document (Google)
  std::string truncate;             // what becomes of too long a text (Cohere)
  std::optional<bool> normalize;    // vectors of length one (Titan)
  std::vector<std::string> others;  // what only targets of the caller's own dialect have a place for
  // The field that only such a target can read (tokens, pictures), and what to send instead.
  std::string own_field;
  std::string own_advice;
  // Gemini: each request as it was said, views into the body.
  std::vector<wire::JsonValue> contents;
};

// `body` was checked (openai/request.h). Errors: InvalidRequest with `param` in the caller's words.
Result<Request> decode_request(model::Endpoint asked, std::string_view body);

// The body for `target` at `endpoint`, one of the table's; the body that was decoded is still there. Errors:
// InvalidRequest with `param` in the caller's words, for what the target cannot do.
Result<std::string> encode_request(const Request& request, const model::Target& target,
                                   model::Endpoint endpoint, Losses& losses);

struct Answer {
  std::vector<wire::JsonValue> vectors;  // arrays of numbers, views into the provider's body
  model::Usage usage;
};

// `body` is the provider's; views of the answer are of it, or of `room`. Errors: BadJson, also for a wrong
// number of vectors; StreamError; EmptyReply.
Result<Answer> decode_answer(std::string_view body, const Request& request, const model::Target& target,
                             model::Endpoint endpoint, std::string& room);

// `model`: the name that the client asked for.
std::string encode_answer(const Answer& answer, const Request& request, std::string_view model);

}  // namespace qq::dialects::embeddings
