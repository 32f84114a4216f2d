// Google's generateContent, by fuzz/dialect_support.h: each input is a request, an answer and a stream.
#include "dialects/gemini/count_tokens.h"
#include "dialects/gemini/dialect.h"
#include "fuzz/dialect_support.h"

namespace {

using namespace qq;
constexpr model::Dialect kGemini = model::Dialect::Gemini;

// What a client gets that takes no events is one JSON array.
void check_array(std::string_view stream) {
  struct Sink final : dialects::EventSink {
    void on_event(const model::StreamEvent& event) override { encoder->encode(event, written); }
    std::unique_ptr<dialects::StreamEncoder> encoder;
    std::string written;
  } sink;
  const model::ChatRequest request;
  dialects::AnswerHead head = fuzz::kHead;
  head.array_stream = true;
  sink.encoder = dialects::gemini::client_side().stream_encoder(request, head);
  const auto decoder = dialects::gemini::provider_side().stream_decoder(fuzz::target_of(kGemini), "seed");
  decoder->feed(stream, sink);
  decoder->finish(sink);
  FUZZ_CHECK(!wire::check_json(sink.written, fuzz::kDeep));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(fuzz::as_text(data, size));
  fuzz::check_request(kGemini, input.view(), {.path_model = "m"});
  (void)dialects::gemini::decode_count_request(input.view(), {});
  fuzz::check_answer(kGemini, fuzz::target_of(kGemini), input.view());
  (void)dialects::gemini::decode_count_answer(input.view());
  fuzz::check_stream(kGemini, fuzz::target_of(kGemini), input.view());
  check_array(input.view());
  return 0;
}
