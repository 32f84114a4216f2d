// Streams of the OpenAI dialects: reads the provider's events for what the relay must know (is this
// content? has it ended? usage? an error?) while the bytes pass through.
//
// Stateful, one per attempt; pure: no clock, no I/O.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dialects/openai/choice_set.h"
#include "dialects/openai/chunk_shape.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "model/usage.h"
#include "wire/json.h"
#include "wire/sse.h"

namespace qq::dialects::openai {

struct EventFacts : DeltaFacts {
  bool done_marker = false;  // "data: [DONE]"
  bool terminal = false;     // finish_reason seen (chat), response.completed/incomplete/failed
  bool usage_only = false;   // choices:[] with usage: the chunk that include_usage adds
  // The `usage` object of a chunk that says more than that, empty text if absent.
  wire::JsonValue usage_beside;
  bool keep_alive = false;     // no data, or nothing of meaning
  std::optional<Error> error;  // an error object or error event in the stream
};

class StreamJudge {
 public:
  StreamJudge(model::Endpoint endpoint, const model::Target& target) noexcept;

  // `event.data` must stay valid while the facts are used. One walk over the event's members, or none where
  // it is shaped like the one before. `raw`: the event's bytes on the wire, if they are at hand.
  EventFacts judge(const wire::SseEvent& event, std::string_view raw = {});
  // Of bytes that begin where an event may: whether they start with one that is shaped like one before, which
  // then needs no decoding. Its bytes, 0 if not; `data` becomes its data. Only if so do `facts` mean
  // something and is the event judged.
  std::size_t judge_alike(std::string_view bytes, std::string_view& data, DeltaFacts& facts) noexcept {
    const std::size_t size = shape_.match_framed(bytes, data, facts);
    if (size != 0 && facts.content) content_seen_ = true;
    return size;
  }
  // The same for an event without any data line, of which `raw` are the bytes: Google sends a bare JSON error
  // in the middle of a stream, with no `data:` before it.
  EventFacts judge_raw(std::string_view raw);

  // Of a last event whose end the stream did not live to say: its usage counts, the rest was not said.
  void take_usage_of(const wire::SseEvent& event);

  // After the end of the body: nothing if the stream ended properly ([DONE], a finish reason, or a terminal
  // responses event), else StreamCut. EmptyReply is judged by the relay with `content_seen()`.
  [[nodiscard]] std::optional<ErrorKind> fault_at_end() const noexcept;
  [[nodiscard]] bool ended() const noexcept { return terminal_seen_ || done_seen_; }
  // How many choices were asked for (chat, completions): the stream has not ended before each has, though it
  // may not have begun. Not needed where the provider says [DONE].
  void expect_choices(std::uint32_t count) noexcept { choices_expected_ = count; }
  [[nodiscard]] bool content_seen() const noexcept { return content_seen_; }
  // An end without content that is still an answer: content_filter, length, refusal, stop string...
  [[nodiscard]] bool empty_is_legitimate() const noexcept { return empty_legitimate_; }
  // White space was said, and nothing else before it.
  [[nodiscard]] bool blank_seen() const noexcept { return blank_seen_; }
  [[nodiscard]] const model::Usage& usage() const noexcept { return usage_; }
  [[nodiscard]] std::string_view finish_reason() const noexcept { return finish_reason_; }

 private:
  EventFacts judge_document(std::string_view name, std::string_view data, const Framing& framing);
  EventFacts judge_json(std::string_view data);
  void learn(std::string_view data, const Framing& framing, const EventFacts& facts);
  EventFacts judge_chat(wire::JsonValue chunk);
  void judge_choice(wire::JsonValue choice, EventFacts& facts);
  EventFacts judge_responses(wire::JsonValue event);
  void judge_response_object(wire::JsonValue response, EventFacts& facts);
  void take_usage(wire::JsonValue usage);
  void take_finish(std::string_view reason, bool first_choice);

  // What each event needs comes first.
  ChunkShape shape_;
  bool content_seen_ = false;
  bool terminal_seen_ = false;
  bool done_seen_ = false;
  bool empty_legitimate_ = false;
  bool blank_seen_ = false;
  model::Endpoint endpoint_;
  model::Quirks quirks_;
  // With n > 1 a stream has ended when every choice has that was seen or asked for.
  std::uint32_t choices_expected_ = 1;
  ChoiceSet choices_seen_;
  ChoiceSet choices_finished_;
  model::Usage usage_;
  std::string finish_reason_;
};

}  // namespace qq::dialects::openai
