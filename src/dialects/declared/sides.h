// The parts of this folder that dialect.cc puts together.
#pragma once
#include "base/assert.h"
#include "dialects/dialect.h"

namespace qq::dialects::declared {

using AdapterPtr = std::shared_ptr<const model::DeclaredAdapter>;  // never null

inline const AdapterPtr& adapter_of(const model::Target& target) {
  QQ_ASSERT(target.declared != nullptr);
  return target.declared;
}

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses);
Result<model::ChatAnswer> decode_answer(std::string_view body, const model::DeclaredAdapter& adapter,
                                        std::string_view id_seed);
std::unique_ptr<StreamDecoder> make_stream_decoder(AdapterPtr adapter, std::string_view id_seed);

}  // namespace qq::dialects::declared
