// Gemini: a stream comes out the same however its bytes are cut, and what comes out can be encoded again; so
// can requests and answers. Whatever is written is JSON.
#include <algorithm>
#include <string>

#include "dialects/gemini/count_tokens.h"
#include "dialects/gemini/dialect.h"
#include "fuzz/wire_support.h"
#include "wire/json.h"

namespace {

namespace gemini = qq::dialects::gemini;
using qq::model::StreamEvent;
using Kind = StreamEvent::Kind;

// Notes what happens, with deltas that follow each other joined, and encodes it for a client.
class Recorder final : public qq::dialects::EventSink {
 public:
  explicit Recorder(bool array) : head_{.model = "m", .request_id = "r", .array_stream = array} {
    encoder_ = gemini::client_side().stream_encoder(request_, head_);
  }
  void on_event(const StreamEvent& event) override {
    FUZZ_CHECK(!failed_);
    failed_ = event.kind == Kind::Failed;
    ended_ = ended_ || event.kind == Kind::End;
    const bool joins = event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta;
    if (!joins || event.kind != last_ || event.part != part_) {
      notes += "\n" + std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.choice) +
               "." + std::to_string(event.part) + " ";
    }
    last_ = event.kind;
    part_ = event.part;
    notes.append(event.text).append(event.id).append(event.name).append(event.word).append(event.json);
    if (event.state != nullptr) notes += event.state->data;
    if (event.error != nullptr) notes += event.error->message;
    if (!failed_) encoder_->encode(event, written);
  }
  void check() const {
    if (!ended_) return;
    if (head_.array_stream) {
      FUZZ_CHECK(!qq::wire::check_json(written));
      return;
    }
    FUZZ_CHECK(written.starts_with("data: ") && written.ends_with("}\r\n\r\n"));
  }

  std::string notes;
  std::string written;

 private:
  qq::model::ChatRequest request_;
  qq::dialects::AnswerHead head_;
  std::unique_ptr<qq::dialects::StreamEncoder> encoder_;
  Kind last_ = Kind::Ping;
  std::uint32_t part_ = 0;
  bool failed_ = false;
  bool ended_ = false;
};

qq::model::Target target(const char* model, const char* kind) {
  qq::model::Target made;
  made.kind = kind;
  made.upstream_model = model;
  return made;
}

void check_stream(std::string_view body) {
  const qq::model::Target to = target("gemini-3-flash", "gemini");
  const bool array = body.size() % 2 == 0;
  Recorder whole(array);
  const auto decoder = gemini::provider_side().stream_decoder(to, "seed");
  decoder->feed(body, whole);
  decoder->finish(whole);
  whole.check();
  Recorder pieces(array);
  const auto again = gemini::provider_side().stream_decoder(to, "seed");
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(body.size()));
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t size = std::min(cuts.next(), body.size() - at);
    const qq::fuzz::Input piece(body.substr(at, size));
    again->feed(piece.view(), pieces);
    at += size;
  }
  again->finish(pieces);
  FUZZ_CHECK(whole.notes == pieces.notes);
}

void check_answer(std::string_view body) {
  const auto answer = gemini::provider_side().decode_answer(body, target("gemini-2.5-pro", "gemini"), "seed");
  (void)gemini::decode_count_answer(body);
  if (!answer) return;
  qq::dialects::Losses losses;
  const std::string written =
      gemini::client_side().encode_answer(*answer, {}, {.model = "m", .request_id = "r"}, losses);
  FUZZ_CHECK(!qq::wire::check_json(written, {.depth_max = 300}));
}

void check_request(std::string_view body) {
  const auto request = gemini::client_side().decode_request(body, {.path_model = "m"});
  (void)gemini::decode_count_request(body, {});
  if (!request) return;
  for (const auto& to : {target("gemini-3-pro", "gemini"), target("gemini-2.5-flash", "vertex")}) {
    qq::dialects::Losses losses;
    const auto encoded = gemini::provider_side().encode_request(*request, to, losses);
    if (!encoded) continue;
    FUZZ_CHECK(!qq::wire::check_json(encoded->body, {.depth_max = 300}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  check_stream(input.view());
  check_answer(input.view());
  check_request(input.view());
  return 0;
}
