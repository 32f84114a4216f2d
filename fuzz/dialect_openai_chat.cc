// OpenAI's chat dialect, by fuzz/dialect_support.h: each input is a request, an answer and a stream.
#include "fuzz/dialect_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qq::fuzz;
  constexpr auto kChat = qq::model::Dialect::OpenAiChat;
  const Input input(as_text(data, size));
  check_request(kChat, input.view(), {});
  check_answer(kChat, target_of(kChat), input.view());
  check_stream(kChat, {}, input.view());
  return 0;
}
