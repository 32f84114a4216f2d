// What a conversation of this dialect is made of: items. Those of a request's `input` and of an answer's
// `output` are read by the same rules.
//
//   message                            one turn's text, media and refusals
//   reasoning                          ReasoningParts with the item's id, one for each summary or text; the
//                                      last has the state, a lone encrypted one is Redacted
//   function_call, custom_tool_call    ToolCallPart
//   …_call_output of these two         ToolResultPart
//   everything else                    OpaquePart with the whole item
//
// An item's `id` and `status` say nothing to a model and are not kept, but for a reasoning item, whose state
// is sealed with its id.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "dialects/carried_state.h"
#include "model/chat_request.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {

inline constexpr model::Dialect kDialect = model::Dialect::OpenAiResponses;
// Before the type of an OpaquePart that is a part of a message and no item of its own.
inline constexpr std::string_view kInMessage = "message.";

struct DecodedItem {
  enum class Kind : std::uint8_t { Message, Reasoning, Call, Result, Opaque };
  Kind kind = Kind::Opaque;
  model::Role role = model::Role::Assistant;
  bool custom = false;  // a Result of a custom tool
  std::vector<model::Part> parts;
  Carried carried;       // what the call's id brought along
  model::Json logprobs;  // of the message's text, an array, or empty
};

// Errors: InvalidRequest with `param` inside the item.
Result<DecodedItem> decode_item(wire::JsonValue item);
// The same of a provider's output, where what does not fit stays as it is. `made_call_id` is the id of a call
// that has none.
DecodedItem decode_output_item(wire::JsonValue item, std::string_view made_call_id);

// A message's or a tool result's `content`: a text or a list.
Result<std::vector<model::Part>> decode_content(wire::JsonValue content, std::string_view name,
                                                model::Json* logprobs = nullptr);

}  // namespace qq::dialects::openai_responses
