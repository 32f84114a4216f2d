// A declared back end: a stream comes out the same however its bytes are cut and keeps the grammar's outline,
// in each of its formats; pointers and templates take any text.
#include <fakes/declared.h>

#include <algorithm>
#include <string>

#include "dialects/declared/dialect.h"
#include "fuzz/wire_support.h"
#include "model/answer_builder.h"
#include "providers/declared_templates.h"
#include "wire/json_pointer.h"

namespace {

using qq::model::DeclaredStream;
using qq::model::StreamEvent;
using Kind = StreamEvent::Kind;

// Notes what happens, with deltas that follow each other joined.
class Recorder final : public qq::dialects::EventSink {
 public:
  void on_event(const StreamEvent& event) override {
    FUZZ_CHECK(!over_);
    over_ = event.kind == Kind::Failed || event.kind == Kind::End;
    if (event.kind == Kind::Started) FUZZ_CHECK(!std::exchange(started_, true));
    if (event.kind != Kind::Failed) FUZZ_CHECK(started_);
    if (event.kind == Kind::PartStarted) FUZZ_CHECK(event.part == parts_++);
    const bool joins = event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta;
    if (joins) FUZZ_CHECK(!event.text.empty() && event.part < parts_);
    if (!joins || event.kind != last_ || event.part != part_)
      notes += "\n" + std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.part) + " ";
    last_ = event.kind;
    part_ = event.part;
    notes.append(event.text).append(event.id).append(event.name).append(event.word).append(event.model);
    if (event.error != nullptr) notes += event.error->message;
    if (event.usage != nullptr) {
      FUZZ_CHECK(event.usage->input_total() >= 0 && event.usage->output_total() >= 0);
      notes += std::to_string(event.usage->input_total());
    }
    if (event.kind != Kind::Failed) builder_.take(event);
  }
  std::string notes;

 private:
  qq::model::AnswerBuilder builder_{qq::model::Dialect::Declared};
  Kind last_ = Kind::Ping;
  std::uint32_t part_ = 0;
  std::uint32_t parts_ = 0;
  bool started_ = false;
  bool over_ = false;
};

void check_stream(std::string_view body, DeclaredStream::Format format, DeclaredStream::Text text) {
  qq::model::DeclaredAdapter adapter = qq::testing::declared_adapter(format);
  adapter.stream.text = text;
  if (text == DeclaredStream::Text::Deltas) {
    adapter.stream.type = {"kind"};
    adapter.stream.text_in = {"words"};
    adapter.stream.done_in = {"end"};
    adapter.stream.done_data = "[DONE]";
  }
  const qq::model::Target target = qq::testing::declared_target(std::move(adapter));
  Recorder whole;
  const auto decoder = qq::dialects::declared::provider_side().stream_decoder(target, "seed");
  decoder->feed(body, whole);
  decoder->finish(whole);
  Recorder pieces;
  const auto again = qq::dialects::declared::provider_side().stream_decoder(target, "seed");
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  for (const auto format :
       {DeclaredStream::Format::Sse, DeclaredStream::Format::Ndjson, DeclaredStream::Format::None}) {
    check_stream(input.view(), format, DeclaredStream::Text::Deltas);
    check_stream(input.view(), format, DeclaredStream::Text::SoFar);
  }
  (void)qq::wire::parse_json_pointer(input.view());
  (void)qq::providers::read_json_template(input.view(), qq::providers::TemplateUse::Body);
  (void)qq::providers::read_text_template(input.view(), qq::providers::TemplateUse::StringToSign);
  return 0;
}
