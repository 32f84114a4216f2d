// One thing that happens in a streamed answer, in no dialect's words. All dialects' streams decode to a
// sequence of these and encode from it; the grammar below is kept by every decoder, whatever its provider
// sends, so that no encoder has to repair it.
//
//   stream  := Started (part | Logprobs | UsageSoFar | Ping)* Finished* [End] | … Failed
//   part    := PartStarted Delta* PartFinished          parts of one choice never overlap, except parallel
//   tool
//                                                       calls; parts of different choices may
//   Finished once per choice, behind its last PartFinished. Nothing but UsageSoFar and End comes after the
//   last one. Failed is the last of all. A stream that stops without End or Failed was cut.
//
// A Ping may come anywhere before the end. Every event of a part names the part's choice. A call's StateDelta
// comes before its arguments, where it can still go into the call's id for a client whose dialect has no
// other place for it, unless its provider says it later. A call has a name and an id, which is made where the
// provider gives none. All texts are UTF-8 and all `json` is JSON, whatever the provider sent.
//
// `dialect` says whose words an event holds, and is set wherever it holds any: on Started, on Finished (its
// `word`), on CitationDelta and OpaqueDelta (their `json`) and on PartStarted of an Opaque part (its `word`).
// Only an encoder of that dialect hands such words on as they are. tests/fakes/stream_grammar.h checks all of
// this.
//
// Views are valid until the decoder is fed again.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "model/finish.h"
#include "model/part.h"
#include "model/usage.h"

namespace qq::model {

enum class PartKind : std::uint8_t { Text, Reasoning, ToolCall, Refusal, Media, Opaque };

struct StreamEvent {
  enum class Kind : std::uint8_t {
    Started,         // id, model, created, dialect; exactly once, first
    PartStarted,     // part, part_kind; ToolCall: id, name, custom
    TextDelta,       // text: of a Text, Reasoning or Refusal part; never empty
    ArgumentsDelta,  // text: the next piece of a tool call's arguments; never empty
    StateDelta,      // state: of the part that is open (a signature); whole, once
    CitationDelta,   // json: in the provider's dialect
    MediaDelta,      // text: base64 of the next bytes; media_type on the first
    OpaqueDelta,     // json: the provider's own event
    PartFinished,    // part
    Logprobs,        // json: an array in OpenAI chat's form (`logprobs.content`), of the text since the last
    UsageSoFar,      // usage: replaces what was said before, never adds
    Finished,        // finish, word; StopString: text is the one that came, if the provider says so
    End,             // the provider's own end of the stream
    Ping,
    Failed,  // error
  };
  Kind kind = Kind::Ping;
  PartKind part_kind = PartKind::Text;
  Finish finish = Finish::None;
  std::uint32_t choice = 0;
  std::uint32_t part = 0;  // counts the stream's parts from 0, all choices together
  std::string_view text;
  std::string_view id;
  std::string_view name;
  std::string_view word;  // Finished: the provider's own; Opaque parts: its type
  std::string_view model;
  std::string_view json;
  std::string_view media_type;
  std::int64_t created = 0;
  Dialect dialect = Dialect::OpenAiChat;
  bool custom = false;  // ToolCall: a custom tool's
  ReasoningPart::Kind reasoning = ReasoningPart::Kind::Full;
  const OpaqueState* state = nullptr;
  const Usage* usage = nullptr;
  const Error* error = nullptr;
};

}  // namespace qq::model
