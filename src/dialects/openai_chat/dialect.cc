#include "dialects/openai_chat/dialect.h"

#include "dialects/openai/errors.h"
#include "dialects/openai_chat/sides.h"

namespace qq::dialects::openai_chat {
namespace {

class ChatClient final : public ClientDialect {
 public:
  Result<model::ChatRequest> decode_request(std::string_view body, const RequestHead&) const override {
    return openai_chat::decode_request(body);
  }
  std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                            const AnswerHead& head, Losses& losses) const override {
    return openai_chat::encode_answer(answer, request, head, losses);
  }
  std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request,
                                                const AnswerHead& head) const override {
    return make_stream_encoder(request, head);
  }
  // The errors of requests that pass through are this dialect's too.
  EncodedError encode_error(const Error& error, std::string_view request_id) const override {
    openai::EncodedError encoded = openai::encode_error(error, request_id);
    return {encoded.status, std::move(encoded.body)};
  }
  void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) const override {
    out += openai::encode_stream_error(error, model::Endpoint::ChatCompletions, request_id);
  }
  std::string_view heartbeat() const noexcept override { return openai::kHeartbeat; }
};

class ChatProvider final : public ProviderDialect {
 public:
  Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                        Losses& losses) const override {
    QQ_TRY(std::string body, openai_chat::encode_request(request, target, losses));
    return EncodedRequest{.body = std::move(body), .header_lines = {}};
  }
  Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                          std::string_view id_seed) const override {
    return openai_chat::decode_answer(body, target, id_seed);
  }
  std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target,
                                                std::string_view id_seed) const override {
    return make_stream_decoder(target, id_seed);
  }
};

}  // namespace

const ClientDialect& client_side() noexcept {
  static const ChatClient side;
  return side;
}

const ProviderDialect& provider_side() noexcept {
  static const ChatProvider side;
  return side;
}

}  // namespace qq::dialects::openai_chat
