#include "dialects/gemini/stream_decode.h"

#include "base/text.h"
#include "dialects/gemini/chunk_decode.h"
#include "dialects/gemini/framing.h"
#include "dialects/provider_json.h"
#include "wire/json.h"

namespace qq::dialects::gemini {
namespace {

Error broken(ErrorKind kind, const char* message) {
  return Error::upstream(kind, AttemptPhase::ReplyBegun, message);
}

class GeminiStreamDecoder final : public StreamDecoder {
 public:
  explicit GeminiStreamDecoder(std::string_view id_seed) : chunks_(id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    std::size_t consumed = 0;
    std::string_view object;
    while (!failed_ && framing_.next(bytes, consumed, object)) take(object, sink);
    if (framing_.too_big())
      fail_with(broken(ErrorKind::EventTooBig, "an event of the stream is too big"), sink);
  }

  void expect_choices(std::uint32_t count) noexcept override { chunks_.expect_choices(count); }

  void finish(EventSink& sink) override {
    std::string_view object;
    if (!failed_ && framing_.finish(object)) {
      // What does not parse here was cut.
      if (check_provider_json(object, repaired_) != nullptr) return cut(sink);
      take(object, sink);
    }
    if (failed_) return;
    if (framing_.cut() || !chunks_.finish(sink)) cut(sink);
  }

 private:
  void fail_with(const Error& error, EventSink& sink) {
    if (failed_) return;
    failed_ = true;
    sink.on_event({.kind = model::StreamEvent::Kind::Failed, .error = &error});
  }
  void cut(EventSink& sink) {
    fail_with(broken(ErrorKind::StreamCut, "the stream ended without a finish reason"), sink);
  }

  void take(std::string_view object, EventSink& sink) {
    object = trimmed(object);
    if (object.empty() || object == "[DONE]") return;  // proxies end all streams alike
    if (check_provider_json(object, repaired_) != nullptr) {
      return fail_with(broken(ErrorKind::BadJson, "an event of the stream is not valid JSON"), sink);
    }
    const wire::JsonValue document(object);
    if (!document.is_array()) return take_document(document, sink);
    for (wire::JsonElements each(document); each.next() && !failed_;) take_document(each.value(), sink);
  }
  void take_document(wire::JsonValue document, EventSink& sink) {
    if (const auto error = chunks_.take(document, sink)) fail_with(*error, sink);
  }

  Framing framing_;
  ChunkDecoder chunks_;
  std::string repaired_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed) {
  return std::make_unique<GeminiStreamDecoder>(id_seed);
}

}  // namespace qq::dialects::gemini
