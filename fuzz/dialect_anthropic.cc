// Anthropic's messages: what is written of a stranger's request, answer or stream is JSON again; a stream is
// the same however it is cut, keeps the neutral grammar and can be read again after it was written.
#include <string>
#include <vector>

#include "dialects/anthropic/dialect.h"
#include "fuzz/wire_support.h"
#include "model/answer_builder.h"
#include "wire/json.h"

namespace {

using namespace qq;
using dialects::anthropic::client_side;
using dialects::anthropic::provider_side;
using Kind = model::StreamEvent::Kind;

const wire::JsonLimits kDeep{.depth_max = 1000};

model::Target target_of(model::MessagesForm form) {
  model::Target target;
  target.upstream_model = "claude-sonnet-4-5";
  target.quirks.messages_form = form;
  return target;
}

void check_request(std::string_view body) {
  auto request = client_side().decode_request(body, {.beta = "b"});
  if (!request) {
    FUZZ_CHECK(!request.error().message.empty());
    return;
  }
  for (const auto dialect : {model::Dialect::Anthropic, model::Dialect::OpenAiChat}) {
    request->dialect = dialect;  // as if another's client had said it: the corrections run too
    for (const auto form : {model::MessagesForm::Direct, model::MessagesForm::BedrockInvoke}) {
      dialects::Losses losses;
      const auto sent = provider_side().encode_request(*request, target_of(form), losses);
      if (!sent) continue;
      FUZZ_CHECK(!wire::check_json(sent->body, kDeep));
      FUZZ_CHECK(sent->header_lines.empty() || sent->header_lines.ends_with("\r\n"));
    }
  }
}

void check_answer(std::string_view body) {
  const auto answer = provider_side().decode_answer(body, {}, "seed");
  if (!answer) return;
  dialects::Losses losses;
  const std::string written =
      client_side().encode_answer(*answer, {}, {.model = "m", .request_id = "r"}, losses);
  FUZZ_CHECK(!wire::check_json(written, kDeep));
}

class Sink final : public dialects::EventSink {
 public:
  void on_event(const model::StreamEvent& event) override {
    FUZZ_CHECK(!over_);
    over_ = event.kind == Kind::Failed || event.kind == Kind::End;
    if (event.kind == Kind::Failed) failed_ = event.error->kind;
    if (event.kind != Kind::Ping && event.kind != Kind::Failed)
      FUZZ_CHECK(started_ != (event.kind == Kind::Started));
    started_ |= event.kind == Kind::Started;
    check_part(event);
    builder_.take(event);
    encoder_->encode(event, encoded_);
    seen_ += std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.part) + " ";
    for (const std::string_view text : {event.text, event.id, event.name, event.word, event.json}) {
      seen_.append(text).push_back('\n');
    }
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] const std::string& encoded() const { return encoded_; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] ErrorKind failed() const { return failed_; }

 private:
  void check_part(const model::StreamEvent& event) {
    const auto is_open = [&] { return event.part < parts_.size() && parts_[event.part]; };
    switch (event.kind) {
      case Kind::PartStarted:
        FUZZ_CHECK(event.part == parts_.size());
        parts_.push_back(true);
        break;
      case Kind::TextDelta:
      case Kind::ArgumentsDelta:
      case Kind::StateDelta:
      case Kind::CitationDelta:
      case Kind::OpaqueDelta: FUZZ_CHECK(is_open()); break;
      case Kind::PartFinished:
        FUZZ_CHECK(is_open());
        parts_[event.part] = false;
        break;
      case Kind::Finished:
        for (const bool open : parts_) FUZZ_CHECK(!open);
        break;
      default: break;
    }
  }

  model::ChatRequest request_;
  std::unique_ptr<dialects::StreamEncoder> encoder_ =
      client_side().stream_encoder(request_, {.model = "m", .request_id = "r"});
  model::AnswerBuilder builder_{model::Dialect::Anthropic};
  std::string seen_;
  std::string encoded_;
  std::vector<bool> parts_;
  ErrorKind failed_ = ErrorKind::Cancelled;
  bool started_ = false;
  bool over_ = false;
};

void check_stream(std::string_view body, model::MessagesForm form) {
  Sink whole;
  const auto decoder = provider_side().stream_decoder(target_of(form), "seed");
  decoder->feed(body, whole);
  decoder->finish(whole);
  FUZZ_CHECK(whole.over());
  Sink cut;
  const auto again = provider_side().stream_decoder(target_of(form), "seed");
  fuzz::Cuts cuts(static_cast<std::uint32_t>(body.size()));
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t size = std::min(cuts.next(), body.size() - at);
    again->feed(body.substr(at, size), cut);
    at += size;
  }
  again->finish(cut);
  FUZZ_CHECK(cut.seen() == whole.seen());
  Sink reread;
  const auto reader = provider_side().stream_decoder(target_of(model::MessagesForm::Direct), "seed");
  reader->feed(whole.encoded(), reread);
  reader->finish(reread);
  FUZZ_CHECK(reread.failed() != ErrorKind::BadJson);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Input input(fuzz::as_text(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0: check_request(input.view()); break;
    case 1: check_answer(input.view()); break;
    case 2: check_stream(input.view(), model::MessagesForm::Direct); break;
    default: check_stream(input.view(), model::MessagesForm::BedrockInvoke); break;
  }
  return 0;
}
