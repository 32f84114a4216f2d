#include "relay/empty_reply.h"

namespace qq::relay {
namespace {

bool names_any(const std::optional<wire::JsonValue>& stop) noexcept {
  if (!stop || stop->is_null()) return false;
  return !stop->is_array() || wire::JsonElements(*stop).next();
}

// Whether the request has stop strings. It is still there: nothing of an empty answer was delivered.
bool has_stop_strings(const RequestState& state) noexcept {
  if (state.incoming.body.empty()) return false;
  const wire::JsonValue& request = state.facts.document;
  switch (model::dialect_of(state.incoming.endpoint)) {
    case model::Dialect::Anthropic: return names_any(request.member("stop_sequences"));
    case model::Dialect::Gemini:
      return names_any(request.at("generationConfig", "stopSequences")) ||
             names_any(request.at("generation_config", "stop_sequences"));
    default: return names_any(request.member("stop"));
  }
}

}  // namespace

void note_empty_reply(RequestState& state, const Error& error, bool blank, bool finished) {
  if (error.kind != ErrorKind::EmptyReply) return;
  state.empty_asked_for = blank || (finished && has_stop_strings(state));
}

}  // namespace qq::relay
