// OpenAI's responses dialect: what a client and a provider may send. A request that was read can be written
// and says the same again; an answer that was read can be given to a client and says the same; a stream's
// events keep their grammar, are the same however it is cut, and make whole events for a client. The first
// byte says which of the three the rest is.
#include "dialects/openai_responses/dialect.h"
#include "dialects/openai_responses/history.h"
#include "fuzz/wire_support.h"
#include "tests/fakes/neutral.h"
#include "wire/json.h"
#include "wire/sse.h"

namespace {

namespace responses = qq::dialects::openai_responses;
using qq::model::Dialect;

constexpr qq::dialects::AnswerHead kHead{.model = "asked", .request_id = "01REQ", .now = 1};

void check_request(std::string_view body) {
  const auto request = responses::client_side().decode_request(body, {});
  if (const auto items = responses::input_items(body)) {
    FUZZ_CHECK(!qq::wire::check_json(*items));
    if (const auto whole = responses::with_history(body, {*items, *items}))
      FUZZ_CHECK(!qq::wire::check_json(*whole));
  }
  if (!request) return;
  qq::dialects::Losses losses;
  qq::model::Target target;
  target.upstream_model = request->model;
  const auto encoded = responses::provider_side().encode_request(*request, target, losses);
  FUZZ_CHECK(encoded.has_value());
  FUZZ_CHECK(!qq::wire::check_json(encoded->body));
  const auto again = responses::client_side().decode_request(encoded->body, {});
  FUZZ_CHECK(again.has_value());
  const auto third = responses::provider_side().encode_request(*again, target, losses);
  FUZZ_CHECK(third.has_value() && third->body == encoded->body);
}

void check_answer(std::string_view body) {
  const auto answer = responses::provider_side().decode_answer(body, {}, "seed");
  if (!answer) return;
  qq::dialects::Losses losses;
  const std::string encoded = responses::client_side().encode_answer(*answer, {}, kHead, losses);
  FUZZ_CHECK(!qq::wire::check_json(encoded));
}

qq::testing::DecodedStream decode(std::string_view stream, std::uint32_t seed) {
  const auto decoder = responses::provider_side().stream_decoder({}, "seed");
  qq::testing::CollectingSink sink(Dialect::OpenAiResponses);
  qq::fuzz::Cuts cuts(seed);
  std::string piece;
  for (std::size_t at = 0; at < stream.size(); at += piece.size()) {
    piece.assign(stream.substr(at, seed == 0 ? stream.size() : cuts.next()));
    decoder->feed(piece, sink);
  }
  decoder->finish(sink);
  return sink.release();
}

struct ToClient final : qq::dialects::EventSink {
  explicit ToClient(qq::dialects::StreamEncoder& to) : encoder(to) {}
  void on_event(const qq::model::StreamEvent& event) override { encoder.encode(event, out); }
  qq::dialects::StreamEncoder& encoder;
  std::string out;
};

void check_stream(std::string_view stream) {
  const auto whole = decode(stream, 0);
  FUZZ_CHECK(whole.grammar.empty());
  FUZZ_CHECK(whole.ended || whole.error);
  const auto pieces = decode(stream, static_cast<std::uint32_t>(stream.size()));
  FUZZ_CHECK(pieces.events == whole.events);

  const qq::model::ChatRequest request;
  const auto encoder = responses::client_side().stream_encoder(request, kHead);
  ToClient client(*encoder);
  const auto decoder = responses::provider_side().stream_decoder({}, "seed");
  decoder->feed(stream, client);
  decoder->finish(client);
  qq::wire::SseDecoder sse;
  qq::wire::SseEvent event;
  std::size_t consumed = 0;
  while (sse.next(client.out, consumed, event)) FUZZ_CHECK(!qq::wire::check_json(event.data));
  FUZZ_CHECK(consumed == client.out.size() && sse.at_border());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const qq::fuzz::Input input(qq::fuzz::as_text(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0: check_request(input.view()); break;
    case 1: check_answer(input.view()); break;
    default: check_stream(input.view()); break;
  }
  return 0;
}
