// Requests that pass through (OpenAI's, Anthropic's, Gemini's): what the gateway must know of a body, and the
// few fields it owns in it. Everything else passes through byte for byte.
//
// Pure; views point into the body that was given, which must outlive them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialects/openai_responses/stateless.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "wire/json.h"
#include "wire/json_patch.h"

namespace qq::dialects::openai {

struct RequestFacts {
  wire::JsonValue document;
  wire::JsonValue
      model_value;      // its exact bytes in the body; null value if absent (allowed nowhere but moderations)
  std::string model;    // decoded
  bool stream = false;  // never where an endpoint has no streams, whatever the body says
  bool usage_in_stream_asked = false;    // chat, completions: stream_options.include_usage is true
  std::uint32_t choices = 1;             // chat, completions: how many the answer has to have (`n`)
  wire::JsonValue stream_options;        // empty text if absent
  openai_responses::StateMembers state;  // responses, and counting what they are given
  // Set by the relay: the provider is to keep nothing of this request (see stateless.h), and whether its
  // model's thoughts are wanted sealed.
  bool keeps_nothing = false;
  bool asks_thoughts = false;
  bool holds_carried = false;  // conversations and counts: carried_state.h; the body is no provider's to read
};

// Checks the whole body (JSON, an object, no duplicate or escaped spelling of a key we own: `model`,
// `stream`, `stream_options`, of responses those of StateMembers) and the types of the fields above. Errors:
// InvalidRequest with `param` and a message that says what to change. An escaped spelling of an owned key
// ("mod\u0065l") is refused, and so is one in capital letters ("MODEL"). Gemini's bodies have none of these:
// their model is in the path, and for the caller of this to fill in.
Result<RequestFacts> inspect_request(model::Endpoint endpoint, std::string_view body,
                                     const wire::JsonLimits& limits);

// The body for one target: `model` replaced by the target's name (left out when the provider takes it from
// the URL), and for streams of chat and completions `stream_options.include_usage` forced on where the
// target's quirks say so, or taken out where they say that it is refused; of responses the provider's own
// store is kept out of it (stateless.h) where the facts say so. As pieces for a gathered write:
// views into `body`, into `target` and into what the struct owns.
struct TargetBody {
  std::span<const std::string_view> pieces;
  std::size_t bytes = 0;  // the Content-Length
  // These own what `pieces` shows beside the body and the target; don't move the struct once filled.
  std::array<std::string_view, 3> few;  // the usual: at most one value is replaced
  std::vector<std::string_view> many;
  std::string model_json;
  std::optional<wire::JsonPatch> patch;
};
void encode_for_target(const RequestFacts& facts, std::string_view body, model::Endpoint endpoint,
                       const model::Target& target, TargetBody& out);

// Whether usage was added by us and must be taken out of the stream again.
bool usage_was_forced(const RequestFacts& facts, model::Endpoint endpoint,
                      const model::Target& target) noexcept;

}  // namespace qq::dialects::openai
