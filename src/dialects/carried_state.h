// State that must travel: what a provider wants back with its next request (signatures, the thoughts before a
// tool call) goes through clients whose dialect has no place for it, and comes back with the conversation.
// Nothing is kept by the gateway, so it survives restarts, other replicas and fail-over.
//
// Two vehicles, which every client sends back unchanged:
//   - a tool call's id:  "call_7fk2" "_qq1" base64url(items) crc     letters, digits, '-' and '_' only
//   - a field that is nothing but state (an Anthropic thinking block's `signature`, a Gemini
//     thoughtSignature, an OpenAI encrypted_content), when its maker is another dialect:
//       "qq1A" base64(items) crc                     base64 text as a whole: Google's SDKs decode it
// An item is: one letter for what it is (c: the call's state, t: a thought's text, s: its state, r: a
// redacted thought's state), one for the dialect that made it, its length as LEB128, its bytes. `crc` are the
// 8 hex digits of the CRC-32 of the base64 text: what does not end in a right one was never ours and stays as
// it is.
//
// Only a target of the maker's dialect is given a state; others get the id without it. So a body that holds
// one of these does not pass through, not even to a target of the client's own dialect: see `holds_carried`.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/part.h"

namespace qq::dialects {

// More than this is not put into an id: clients and proxies between have limits.
inline constexpr std::size_t kCarriedMax = 16 * 1024;

// What one tool call carries beyond its own fields.
struct Carried {
  model::OpaqueState call;             // of the call itself (Gemini)
  std::vector<model::Part> reasoning;  // the ReasoningParts that came before it and have a state
  [[nodiscard]] bool empty() const noexcept { return call.empty() && reasoning.empty(); }
};
struct CarriedId {
  std::string id;
  Carried carried;
};

// The id alone if there is nothing to carry. Nothing if it is too much: the caller reports the loss.
std::optional<std::string> with_carried(std::string_view id, const Carried& carried);
CarriedId take_carried(std::string_view id);

// The same for a field that is nothing but a state. A state of `native`'s own making goes as it is.
std::string state_field(const model::OpaqueState& state, model::Dialect native);
model::OpaqueState state_of_field(std::string_view field, model::Dialect native);
// For a part of another dialect's that has no state, where `native`'s own parts always have one: a provider
// that gets the field as it is would refuse it. `state_of_field` makes an empty state of `maker`'s of it.
std::string no_state_field(model::Dialect maker);

// Whether a request's JSON holds an id or a field that carries something. Of their letters only the slash may
// be written with an escape, so the bytes can be searched: about 0.1 ms for 1 MiB, whatever it holds at most
// twice as much. Rarely true of a body that holds none, if it has very many ids that look like ours.
bool holds_carried(std::string_view json);

}  // namespace qq::dialects
