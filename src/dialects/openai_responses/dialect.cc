#include "dialects/openai_responses/dialect.h"

#include "dialects/openai/errors.h"
#include "dialects/openai_responses/parts.h"

namespace qq::dialects::openai_responses {
namespace {

class Client final : public ClientDialect {
 public:
  [[nodiscard]] Result<model::ChatRequest> decode_request(std::string_view body,
                                                          const RequestHead& /*head*/) const override {
    return openai_responses::decode_request(body);
  }
  [[nodiscard]] std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                                          const AnswerHead& head, Losses& losses) const override {
    return openai_responses::encode_answer(answer, request, head, losses);
  }
  [[nodiscard]] std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request,
                                                              const AnswerHead& head) const override {
    return make_stream_encoder(request, head);
  }
  [[nodiscard]] EncodedError encode_error(const Error& error, std::string_view request_id) const override {
    return openai_responses::encode_error(error, request_id);
  }
  void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) const override {
    openai_responses::encode_stream_error(error, request_id, out);
  }
  [[nodiscard]] std::string_view heartbeat() const noexcept override { return openai::kHeartbeat; }
};

class Provider final : public ProviderDialect {
 public:
  [[nodiscard]] Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                      const model::Target& target,
                                                      Losses& losses) const override {
    return openai_responses::encode_request(request, target, losses);
  }
  [[nodiscard]] Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                                        std::string_view id_seed) const override {
    return openai_responses::decode_answer(body, target, id_seed);
  }
  [[nodiscard]] std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target,
                                                              std::string_view id_seed) const override {
    return make_stream_decoder(target, id_seed);
  }
};

}  // namespace

const ClientDialect& client_side() noexcept {
  static const Client side;
  return side;
}

const ProviderDialect& provider_side() noexcept {
  static const Provider side;
  return side;
}

}  // namespace qq::dialects::openai_responses
