// OpenAI's chat dialect: whatever comes in, what goes out is JSON; a request that is understood is understood
// again from the body that a target gets; a stream reads the same however it is cut, and its events keep
// their order.
#include <string>

#include "dialects/openai_chat/dialect.h"
#include "fuzz/wire_support.h"
#include "model/answer_builder.h"
#include "wire/json.h"

namespace {

namespace chat = qq::dialects::openai_chat;
using Kind = qq::model::StreamEvent::Kind;

bool is_json(std::string_view text) {
  return !qq::wire::check_json(text, {.depth_max = 1000});
}

void check_request(std::string_view body) {
  const auto request = chat::client_side().decode_request(body, {});
  if (!request) {
    FUZZ_CHECK(request.error().kind == qq::ErrorKind::InvalidRequest && !request.error().message.empty());
    return;
  }
  qq::model::Target target;
  target.upstream_model = request->model;
  target.quirks.chat.thoughts = qq::model::ChatQuirks::Thoughts::Details;
  target.quirks.chat.takes_cache_control = true;
  qq::dialects::Losses losses;
  for (const auto dialect : {qq::model::Dialect::OpenAiChat, qq::model::Dialect::Anthropic}) {
    qq::model::ChatRequest asked = *request;
    asked.dialect = dialect;
    const auto encoded = chat::provider_side().encode_request(asked, target, losses);
    if (!encoded) continue;
    FUZZ_CHECK(is_json(encoded->body));
    FUZZ_CHECK(chat::client_side().decode_request(encoded->body, {}).has_value());
  }
}

void check_answer(std::string_view body) {
  const auto answer = chat::provider_side().decode_answer(body, {}, "seed");
  if (!answer) return;
  qq::dialects::Losses losses;
  FUZZ_CHECK(is_json(
      chat::client_side().encode_answer(*answer, {}, {.model = "m", .request_id = "r", .now = 1}, losses)));
}

// The events as text, joined where the pieces may differ, and their order checked.
class Listener final : public qq::dialects::EventSink {
 public:
  Listener()
      : encoder_(chat::client_side().stream_encoder(request_, {.model = "m", .request_id = "r", .now = 1})) {}
  void on_event(const qq::model::StreamEvent& event) override {
    FUZZ_CHECK(!over_);
    FUZZ_CHECK(event.kind == Kind::Failed || started_ != (event.kind == Kind::Started));
    started_ = true;
    over_ = event.kind == Kind::End || event.kind == Kind::Failed;
    if (event.kind == Kind::PartStarted) FUZZ_CHECK(event.part == parts_++);
    if (event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta)
      FUZZ_CHECK(!event.text.empty() && event.part < parts_);
    text += std::to_string(static_cast<int>(event.kind)) + ' ' + std::to_string(event.choice) + '.' +
            std::to_string(event.part) + ' ';
    text.append(event.text).append(event.id).append(event.name).append(event.json).append("\n");
    encoder_->encode(event, encoded);
  }
  std::string text;
  std::string encoded;

 private:
  qq::model::ChatRequest request_;
  std::unique_ptr<qq::dialects::StreamEncoder> encoder_;
  std::uint32_t parts_ = 0;
  bool started_ = false;
  bool over_ = false;
};

template <typename NextPiece>
std::string decode(std::string_view stream, NextPiece next_piece) {
  const auto decoder = chat::provider_side().stream_decoder({}, "seed");
  Listener listener;
  std::string piece;
  for (std::size_t at = 0; at < stream.size(); at += piece.size()) {
    piece.assign(stream.substr(at, next_piece()));
    decoder->feed(piece, listener);
  }
  decoder->finish(listener);
  for (std::size_t at = 0; at < listener.encoded.size();) {
    const std::size_t end = listener.encoded.find("\n\n", at);
    FUZZ_CHECK(end != std::string::npos);
    const std::string_view event = std::string_view(listener.encoded).substr(at, end - at);
    FUZZ_CHECK(event.starts_with("data: "));
    FUZZ_CHECK(event == "data: [DONE]" || is_json(event.substr(6)));
    at = end + 2;
  }
  return listener.text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  const std::string_view bytes = input.view();
  check_request(bytes);
  check_answer(bytes);
  const std::string whole = decode(bytes, [&] { return bytes.size(); });
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(size));
  FUZZ_CHECK(decode(bytes, [] { return std::size_t{1}; }) == whole);
  FUZZ_CHECK(decode(bytes, [&] { return cuts.next(); }) == whole);
  return 0;
}
