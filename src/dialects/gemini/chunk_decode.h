// What one GenerateContentResponse says, as events: a stream's chunk or a whole answer, which is a stream of
// one. Keeps the grammar of model/stream_event.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"
#include "dialects/gemini/partial_args.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

class ChunkDecoder {
 public:
  explicit ChunkDecoder(std::string_view id_seed);

  // `document` is checked. The error that it is, if it is one.
  std::optional<Error> take(wire::JsonValue document, EventSink& sink);
  // How many candidates were asked for: none is missing at the end, unless the prompt was blocked.
  void expect_choices(std::size_t count) noexcept { choices_expected_ = count; }
  // Finishes what is open, and says why each choice ended and that the stream did. False, and nothing said,
  // if a choice has no reason yet, or has not begun: the stream was cut.
  bool finish(EventSink& sink);

  // What an answer says that events do not carry: where to, if anybody wants it. Keys are paths:
  // "promptFeedback", "candidates[0].finishMessage", "usageMetadata.serviceTier".
  void keep_extra(model::ExtraFields* extra) noexcept { extra_ = extra; }

 private:
  enum class Open : std::uint8_t { Nothing, Text, Thought, Call };
  struct ChoiceState {
    std::uint32_t index = 0;
    Open open = Open::Nothing;
    bool sealed = false;     // the open part has its signature: more text is another part's
    bool blocked = false;    // the prompt was
    std::uint32_t part = 0;  // the open one
    bool has_calls = false;
    std::string finish;      // Google's word
    PartialArgs args;        // of an open call
    bool args_came = false;  // whole
  };
  using Kind = model::StreamEvent::Kind;

  ChoiceState& choice(std::uint32_t index);
  void begin(wire::JsonValue document, EventSink& sink);
  void take_candidate(wire::JsonValue candidate, std::uint32_t position, EventSink& sink);
  void take_part(wire::JsonValue part, ChoiceState& state, EventSink& sink);
  void take_text(std::string_view text, bool thought, std::string_view signature, ChoiceState& state,
                 EventSink& sink);
  void take_call(wire::JsonValue call, std::string_view signature, ChoiceState& state, EventSink& sink);
  void take_call_pieces(wire::JsonValue partial_args, ChoiceState& state, EventSink& sink);
  void take_media(wire::JsonValue media, ChoiceState& state, EventSink& sink);
  void take_opaque(std::string_view type, wire::JsonValue part, ChoiceState& state, EventSink& sink);
  void take_citation(std::string_view type, wire::JsonValue value, ChoiceState& state, EventSink& sink);
  void take_blocked(wire::JsonValue feedback);

  // Gives out the event for the open part of `state`.
  void say(model::StreamEvent event, const ChoiceState& state, EventSink& sink) const;
  void open(model::PartKind kind, ChoiceState& state, EventSink& sink, model::StreamEvent event = {});
  void close(ChoiceState& state, EventSink& sink);
  void say_state(std::string_view signature, ChoiceState& state, EventSink& sink);

  std::vector<ChoiceState> choices_;
  std::size_t choices_expected_ = 1;
  std::string seed_;
  std::uint32_t calls_ = 0;
  std::uint32_t parts_ = 0;
  bool started_ = false;
  model::Usage usage_;
  model::ExtraFields* extra_ = nullptr;
  // Of the event that is being given out.
  std::string text_;
  std::string signature_;
  std::string pieces_;
};

}  // namespace qq::dialects::gemini
