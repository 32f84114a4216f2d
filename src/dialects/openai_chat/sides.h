// The parts that both sides are put together from in dialect.cc, one file each.
#pragma once
#include "dialects/dialect.h"

namespace qq::dialects::openai_chat {

Result<model::ChatRequest> decode_request(std::string_view body);
// The `messages` of a request: its turns.
Result<> decode_messages(std::string_view messages, model::ChatRequest& out);
std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses);
std::unique_ptr<StreamEncoder> make_stream_encoder(const model::ChatRequest& request, const AnswerHead& head);

Result<std::string> encode_request(const model::ChatRequest& request, const model::Target& target,
                                   Losses& losses);
// The value of `messages`.
void encode_messages(const model::ChatRequest& request, const model::Target& target, std::string& out,
                     Losses& losses);
std::string_view cache_control(const model::CacheMark& mark) noexcept;  // its JSON
Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                        std::string_view id_seed);
std::unique_ptr<StreamDecoder> make_stream_decoder(const model::Target& target, std::string_view id_seed);

}  // namespace qq::dialects::openai_chat
