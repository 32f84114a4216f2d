// Embeddings, moderations, images and the model list in OpenAI's spelling. Vectors, scores and pictures
// depend only on their input.
#pragma once
#include "simulator/provider/answer.h"
#include "simulator/provider/reply.h"

namespace qq::simulator {

// A conversation, compacted: the last thing that was said, and a seal.
Reply compact_reply(const Asked& asked);
Reply embeddings_reply(const Asked& asked, const Script& script);
Reply moderations_reply(const Asked& asked);
Reply images_reply(const Asked& asked);

// Whose list of models it is.
enum class ListForm : std::uint8_t { OpenAi, Anthropic, Google, Ollama };
// The names that GET /models lists. Any other name is answered too: the list is what to show.
Reply models_reply(ListForm form);
// GET /models/{id}: 404 for a name that is neither listed nor starts with "sim-" or "rec:".
Reply model_reply(std::string_view id, ListForm form);

}  // namespace qq::simulator
