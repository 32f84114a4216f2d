// The pieces of both sides, which dialect.cc puts together.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "dialects/anthropic/dialect.h"

namespace qq::dialects::anthropic {

inline constexpr std::string_view kPing = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
// An ExtraField of requests: the client's anthropic-beta header, which is a header or a member again on its
// way to a provider of this dialect.
inline constexpr std::string_view kBetaField = "anthropic-beta";

enum class Purpose : std::uint8_t { Answer, Count };
Result<model::ChatRequest> decode_request(std::string_view body, const RequestHead& head, Purpose purpose);
std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses);
std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request, const AnswerHead& head);
EncodedError encode_error(const Error& error, std::string_view request_id);
void encode_stream_error(const Error& error, std::string_view request_id, std::string& out);

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed);
std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target, std::string_view id_seed);

// "end_turn" and its kind.
model::Finish finish_of(std::string_view stop_reason) noexcept;
std::string_view stop_reason_of(model::Finish finish) noexcept;
// The id of an answer: the provider's own if it is of this dialect, else made of the request's.
std::string answer_id(std::string_view id, const AnswerHead& head);

}  // namespace qq::dialects::anthropic
