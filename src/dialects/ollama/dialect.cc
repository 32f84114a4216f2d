#include "dialects/ollama/dialect.h"

#include "dialects/ollama/sides.h"

namespace qq::dialects::ollama {
namespace {

class OllamaProvider final : public ProviderDialect {
 public:
  [[nodiscard]] Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                      const model::Target& target,
                                                      Losses& losses) const override {
    return ollama::encode_request(request, target, losses);
  }
  [[nodiscard]] Result<model::ChatAnswer> decode_answer(std::string_view body,
                                                        const model::Target& /*target*/,
                                                        std::string_view id_seed) const override {
    return ollama::decode_answer(body, id_seed);
  }
  [[nodiscard]] std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& /*target*/,
                                                              std::string_view id_seed) const override {
    return ollama::stream_decoder(id_seed);
  }
};

}  // namespace

const ProviderDialect& provider_side() noexcept {
  static const OllamaProvider side;
  return side;
}

}  // namespace qq::dialects::ollama
