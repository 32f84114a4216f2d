// Requests of the responses API to a provider that keeps nothing of them (`store` false), because the gateway
// does (history.h). What OpenAI refuses of such a request, and what is done about it:
//
//   404 "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false."
//       a thought of which only the id is there: it goes
//   400 "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'."
//       an item that the provider knows by its id, without the thought before it: with a thought go the ids
//       of all that its turn said, for a call pairs with its output by `call_id`
//   400 "Item 'rs_…' of type 'reasoning' was provided without its required following item."
//       the reverse: so the whole turn loses its ids, the thoughts that stay as well
//   400 "The encrypted content … could not be verified." (invalid_encrypted_content)
//       thoughts that another dialect's provider sealed: they go
//   400 "Encrypted content is not supported with this model."
//       `include: reasoning.encrypted_content` of a model that does not think: it is asked of the others only
//
// A turn whose thoughts are all sealed by the provider goes back as it came, which is the documented way
// (platform.openai.com/docs/guides/reasoning, "Encrypted reasoning items"). Seen in openai-agents-python#919,
// vercel/ai#7543 and #7099, 0xPlaygrounds/rig#751, pydantic-ai#3326; that items go without ids is how Codex
// sends all of them and laravel/ai#1052 those without their thought.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/target.h"
#include "wire/json.h"
#include "wire/json_patch.h"

namespace qq::dialects::openai_responses {

// What a request says of the provider's store and of what it thought; absent ones have an empty text.
struct StateMembers {
  wire::JsonValue input;
  wire::JsonValue include;
  wire::JsonValue store;
  wire::JsonValue background;
  wire::JsonValue reasoning;
  wire::JsonValue previous_response_id;
  wire::JsonValue conversation;
};

// What becomes of an item.
enum class Fate : std::uint8_t { Stays, LosesId, Goes };
// Which thoughts go.
enum class Thoughts : std::uint8_t {
  Hollow,    // those with nothing but an id
  Unsealed,  // those that this dialect's provider has not sealed, too
};
// Of each element of `items`, an array. A turn is what an answer gave: the items in a row that are no
// client's.
std::vector<Fate> fates_of(wire::JsonValue items, Thoughts go);

// Whether a value holds something: a text or an array that is not empty.
bool is_filled(std::optional<wire::JsonValue> value) noexcept;
// A thought of which nothing but its id is said.
bool is_hollow(wire::JsonValue thought) noexcept;
// Whether an item of this type is taken without its id, which says nothing that is needed. Of others it is
// part of what they are: an approval names its request's.
bool is_id_to_spare(std::string_view type) noexcept;
// Whether a client says such an item, or a model.
bool is_clients_item(wire::JsonValue item) noexcept;

// `request`, whose members these are, as one of which the target keeps nothing: `store` is false, it is not
// answered in the background, and its input is in order as said above. `asks_thoughts`: what the model thinks
// is wanted sealed, so that it can be sent again.
void make_stateless(const StateMembers& members, wire::JsonValue request, const model::Target& target,
                    bool asks_thoughts, wire::JsonPatch& patch);
// Its input alone: of requests that have no such members.
void tidy_input(wire::JsonValue input, const model::Target& target, wire::JsonPatch& patch);

}  // namespace qq::dialects::openai_responses
