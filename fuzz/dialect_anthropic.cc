// Anthropic's messages, by fuzz/dialect_support.h: the first byte says what the rest is.
#include "dialects/anthropic/dialect.h"
#include "fuzz/dialect_support.h"

namespace {

using namespace qq;
constexpr model::Dialect kAnthropic = model::Dialect::Anthropic;

// As if another's client had said it: the corrections run too.
void check_anothers(std::string_view body) {
  auto request = dialects::anthropic::client_side().decode_request(body, {.beta = "b"});
  if (!request) return;
  request->dialect = model::Dialect::OpenAiChat;
  for (const auto form : {model::MessagesForm::Direct, model::MessagesForm::BedrockInvoke}) {
    model::Target target = fuzz::target_of(kAnthropic);
    target.quirks.messages_form = form;
    dialects::Losses losses;
    const auto sent = dialects::anthropic::provider_side().encode_request(*request, target, losses);
    if (sent) FUZZ_CHECK(!wire::check_json(sent->body, fuzz::kDeep));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Input input(fuzz::as_text(data + 1, size - 1));
  model::Target target = fuzz::target_of(kAnthropic);
  switch (data[0] % 4) {
    case 0:
      fuzz::check_request(kAnthropic, input.view(), {.beta = "b"});
      check_anothers(input.view());
      break;
    case 1: fuzz::check_answer(kAnthropic, fuzz::target_of(kAnthropic), input.view()); break;
    case 2: fuzz::check_stream(kAnthropic, target, input.view()); break;
    default:
      target.quirks.messages_form = model::MessagesForm::BedrockInvoke;
      fuzz::check_stream(kAnthropic, target, input.view());
      break;
  }
  return 0;
}
