// GET /v1/models in the shape of whoever asks: OpenAI's; Anthropic's, for clients that say their
// anthropic-version; Gemini's, under /v1beta and for clients that send their key as Google's do. Each tells
// the context that fits into all targets of a name and what all of them can, as far as the operator has said
// it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "admission/key_ring.h"
#include "model/part.h"
#include "relay/snapshot.h"
#include "wire/http_head.h"

namespace qq::downstream {

// What a path and its head ask for: the list, or one model by name.
struct ModelsAsked {
  model::Dialect dialect = model::Dialect::OpenAiChat;
  bool all = false;
  std::string name;  // decoded; of the path as it is where that cannot be
};
// Nothing for other paths.
std::optional<ModelsAsked> models_asked(const wire::RequestHead& head);

// The public names that `key` may use. Nothing if one was asked for that does not exist for this key.
std::optional<std::string> models_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key,
                                       const ModelsAsked& asked);

}  // namespace qq::downstream
