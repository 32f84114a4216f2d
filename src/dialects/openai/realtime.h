// Messages of OpenAI's Realtime: one JSON object each, with a `type`. What the gateway must know of them, and
// the one thing that it owns in them: the model's name, in `session` and `response` of either side.
//
// Usage comes once a response, in `response.done`, and once a transcript of what the user said, in
// `conversation.item.input_audio_transcription.completed` (transcripts that are billed by the second have
// none). Of the figures for text, sound and pictures those for what was cached are parts: see usage.cc.
//
// Pure; views point into the message that was given. Source: OpenAI's API reference, "Realtime", November
// 2026, and its SDKs' types.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "model/target.h"
#include "model/usage.h"
#include "wire/json.h"

namespace qq::dialects::openai {

// A message of the provider's. What is no JSON object is Other: it passes like all that nobody here knows.
struct RealtimeEvent {
  enum class Kind : std::uint8_t {
    Other,
    Delta,            // text, sound or arguments of a response
    ResponseCreated,  // one begins
    ResponseDone,     // one has ended, whatever way; `usage` if it says so
    Transcribed,      // what the user said; `usage` if it says so
    Error,            // of something that the client said; the connection goes on
  };
  Kind kind = Kind::Other;
  std::string_view id{};        // of the response; Transcribed: of the item
  std::string_view content{};   // Transcribed: which part of the item, raw; empty if it is not said
  std::string_view event_id{};  // Error: raw, of the message that it answers; empty if it names none
  std::string_view status{};    // ResponseDone: "completed", "cancelled", "failed", "incomplete"
  model::Usage usage{};
  // To be shown in the place of the provider's name.
  wire::JsonValue model{};
};
RealtimeEvent read_realtime_event(std::string_view message, const wire::JsonLimits& limits,
                                  const model::Quirks& quirks);

// The same with `name` as its model; `event` is what was read of `message`.
std::string with_model(std::string_view message, const RealtimeEvent& event, std::string_view name);

// A message of the client's, as it may go to the provider.
struct RealtimeRequest {
  bool asks_response = false;  // response.create
  bool changed = false;        // `text` is to be sent instead
  std::string text{};
  std::string_view event_id{};  // raw, for an error that answers it
};
// `asked` is the model's name here, `upstream_model` the provider's. Errors: InvalidRequest for what is no
// JSON object, and for a session or response of another model, which is another connection's.
Result<RealtimeRequest> read_realtime_request(std::string_view message, const wire::JsonLimits& limits,
                                              std::string_view asked, std::string_view upstream_model);

// An error as an event. `event_id`: raw, of the message that it answers; empty: of none.
std::string encode_realtime_error(const Error& error, std::string_view request_id, std::string_view event_id);
// The `event_id` of a client's message that could not be read further; empty if it has none.
std::string realtime_event_id(std::string_view message, const wire::JsonLimits& limits);

}  // namespace qq::dialects::openai
