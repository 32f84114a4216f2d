// A provider's stream, read by `data.type`: not all that speak it send `event:` lines. A text stays open
// behind its content-end until something else comes, for citations may follow it.
#include <utility>

#include "dialects/cohere/sides.h"
#include "dialects/part_events.h"
#include "dialects/provider_json.h"
#include "wire/json_text.h"
#include "wire/sse.h"

namespace qq::dialects::cohere {
namespace {

using model::PartKind;
using wire::JsonValue;

class CohereStream final : public StreamDecoder {
 public:
  explicit CohereStream(std::string_view id_seed) : events_(model::Dialect::Cohere, id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    events_.to(sink);
    std::size_t consumed = 0;
    wire::SseEvent event;
    while (!events_.done() && sse_.next(bytes, consumed, event)) take(event.data);
    if (sse_.verdict() == wire::SseDecoder::Verdict::EventTooBig)
      events_.fail(ErrorKind::EventTooBig, "an event of the stream is too big");
  }
  void finish(EventSink& sink) override {
    events_.to(sink);
    wire::SseEvent event;
    if (!events_.done() && sse_.finish(event)) take(event.data);
    events_.body_ended();
  }

 private:
  void take(std::string_view data) {
    if (data.empty()) return;
    if (data == "[DONE]") {
      if (events_.finished()) events_.end();
      return;
    }
    std::string room;
    const auto checked = provider_json(data, room);
    if (!checked) return events_.fail(ErrorKind::BadJson, "an event of the stream is not JSON");
    const JsonValue event = *checked;
    std::string scratch;
    const std::string_view type = text_in(event.member("type"), scratch);
    const JsonValue delta = event.member("delta").value_or(JsonValue());
    const JsonValue message = delta.member("message").value_or(JsonValue());
    if (type == "content-delta" || type == "content-start") {
      if (type == "content-start") begin_content();
      content_index_ = index_of(event);
      content(message.member("content").value_or(JsonValue()));
    } else if (type == "tool-plan-delta") {
      if (!std::exchange(in_plan_, true)) events_.close();
      events_.text(PartKind::Reasoning, text_in(message.member("tool_plan"), scratch));
    } else if (type == "tool-call-start") {
      end_plan();
      call_index_ = index_of(event);
      call(message.member("tool_calls").value_or(JsonValue()));
    } else if (type == "tool-call-delta") {
      const bool is_its = events_.is_open(PartKind::ToolCall) && call_index_ == index_of(event);
      if (!is_its && !events_.finished())
        return events_.fail(ErrorKind::StreamError, "a piece of a call came that had not begun");
      arguments(message.member("tool_calls").value_or(JsonValue()));
    } else if (type == "tool-call-end") {
      events_.close();
    } else if (type == "citation-start") {
      citation(message.member("citations").value_or(JsonValue()));
    } else if (type == "message-start") {
      events_.start(text_in(event.member("id"), scratch));
    } else if (type == "message-end") {
      end(delta);
    } else if (type.empty() || type == "error") {
      if (auto error = find_error(event)) events_.fail(std::move(*error));
    }
  }

  static std::int64_t index_of(JsonValue event) noexcept {
    return count_in(event.member("index")).value_or(0);
  }
  // A content that begins is another part, though it be of the same kind as the last.
  void begin_content() {
    end_plan();
    events_.close();
  }
  void content(JsonValue value) {
    end_plan();
    std::string scratch;
    events_.text(PartKind::Reasoning, text_in(value.member("thinking"), scratch));
    events_.text(PartKind::Text, text_in(value.member("text"), scratch));
  }
  void end_plan() {
    if (!std::exchange(in_plan_, false)) return;
    if (events_.is_open(PartKind::Reasoning)) events_.state(kPlan);
    events_.close();
  }

  // An object, where whole answers have a list.
  void call(JsonValue value) {
    std::string id_room;
    std::string name_room;
    const JsonValue function = value.member("function").value_or(JsonValue());
    const std::string_view name = text_in(function.member("name"), name_room);
    if (name.empty()) return;
    events_.open_call(text_in(value.member("id"), id_room), name);
    arguments(value);
  }
  void arguments(JsonValue value) {
    std::string scratch;
    const auto piece = value.at("function", "arguments");
    events_.arguments(text_in(piece, scratch));
  }

  void citation(JsonValue value) {
    const auto type = value.member("type");
    if (type && type->is_string() && type->raw_string() != "TEXT_CONTENT") return;
    if (value.is_object()) cite(value);
    for (wire::JsonElements each(value); value.is_array() && each.next();) cite(each.value());
  }
  // One that comes behind the end of its content has no place any more, and must not go to the next.
  void cite(JsonValue citation) {
    if (count_in(citation.member("content_index")).value_or(content_index_) == content_index_)
      events_.citation(citation.text());
  }

  void end(JsonValue delta) {
    end_plan();
    std::string scratch;
    if (const auto told = delta.member("error"); told && told->is_string() && !told->raw_string().empty())
      return events_.fail(ErrorKind::StreamError, told->string());
    const std::string_view word = text_in(delta.member("finish_reason"), scratch);
    if (const auto usage = delta.member("usage")) events_.usage(usage_of(*usage));
    events_.finish(finish_of(word), word);
    events_.end();
  }

  wire::SseDecoder sse_;
  PartEvents events_;
  std::int64_t call_index_ = 0;
  std::int64_t content_index_ = 0;
  bool in_plan_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed) {
  return std::make_unique<CohereStream>(id_seed);
}

}  // namespace qq::dialects::cohere
