// Cohere's chat: see provider_support.h.
#include "fuzz/provider_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<qq::model::Target> kTargets{{qq::fuzz::target_named("command-a")}};
  qq::fuzz::check_provider(qq::model::Dialect::Cohere, kTargets, qq::fuzz::as_text(data, size));
  return 0;
}
