// The functions that the two sides are made of, each in the file of its name.
#pragma once
#include <memory>

#include "dialects/dialect.h"

namespace qq::dialects::openai_responses {

Result<model::ChatRequest> decode_request(std::string_view body);
std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses);
std::unique_ptr<StreamEncoder> make_stream_encoder(const model::ChatRequest& request, const AnswerHead& head);
EncodedError encode_error(const Error& error, std::string_view request_id);
void encode_stream_error(const Error& error, std::string_view request_id, std::string& out);

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                        std::string_view id_seed);
std::unique_ptr<StreamDecoder> make_stream_decoder(const model::Target& target, std::string_view id_seed);

}  // namespace qq::dialects::openai_responses
