// Embeddings in the words of Google, Cohere and Amazon: the same vectors as at /v1/embeddings. What the real
// ones refuse is refused here: more texts than one call takes, a batch whose requests name another model, a
// text of Cohere's without what it is for.
#pragma once
#include <string_view>

#include "base/result.h"
#include "simulator/provider/asked.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

bool is_native_embedding(Route route) noexcept;
// Fills the inputs from the body. Errors: InvalidRequest in the provider's words.
Result<> read_native_embeddings(std::string_view path_model, Asked& asked);
Reply native_embeddings_reply(const Asked& asked, const Script& script);

}  // namespace qq::simulator
