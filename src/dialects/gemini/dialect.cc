#include "dialects/gemini/dialect.h"

#include "dialects/gemini/answer_decode.h"
#include "dialects/gemini/answer_encode.h"
#include "dialects/gemini/errors.h"
#include "dialects/gemini/request_decode.h"
#include "dialects/gemini/request_encode.h"
#include "dialects/gemini/stream_decode.h"
#include "dialects/gemini/stream_encode.h"

namespace qq::dialects::gemini {
namespace {

class GeminiClient final : public ClientDialect {
 public:
  Result<model::ChatRequest> decode_request(std::string_view body, const RequestHead& head) const override {
    return gemini::decode_request(body, head);
  }
  std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                            const AnswerHead& head, Losses& losses) const override {
    return gemini::encode_answer(answer, request, head, losses);
  }
  std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request,
                                                const AnswerHead& head) const override {
    return gemini::stream_encoder(request, head);
  }
  EncodedError encode_error(const Error& error, std::string_view request_id) const override {
    return gemini::encode_error(error, request_id);
  }
  void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) const override {
    gemini::encode_stream_error(error, request_id, out);
  }
  // Not for the array form, where its encoder knows what to do with a Ping.
  std::string_view heartbeat() const noexcept override { return kGeminiHeartbeat; }
};

class GeminiProvider final : public ProviderDialect {
 public:
  Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                        Losses& losses) const override {
    return gemini::encode_request(request, target, losses);
  }
  Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target&,
                                          std::string_view id_seed) const override {
    return gemini::decode_answer(body, id_seed);
  }
  std::unique_ptr<StreamDecoder> stream_decoder(const model::Target&,
                                                std::string_view id_seed) const override {
    return gemini::stream_decoder(id_seed);
  }
};

}  // namespace

const ClientDialect& client_side() noexcept {
  static const GeminiClient client;
  return client;
}

const ProviderDialect& provider_side() noexcept {
  static const GeminiProvider provider;
  return provider;
}

}  // namespace qq::dialects::gemini
