#include "dialects/declared/dialect.h"

#include "dialects/declared/sides.h"

namespace qq::dialects::declared {
namespace {

class DeclaredProvider final : public ProviderDialect {
 public:
  Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                        Losses& losses) const override {
    return declared::encode_request(request, target, losses);
  }
  Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                          std::string_view id_seed) const override {
    return declared::decode_answer(body, *adapter_of(target), id_seed);
  }
  std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target,
                                                std::string_view id_seed) const override {
    return make_stream_decoder(adapter_of(target), id_seed);
  }
};

}  // namespace

const ProviderDialect& provider_side() noexcept {
  static const DeclaredProvider side;
  return side;
}

}  // namespace qq::dialects::declared
