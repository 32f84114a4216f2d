// The same as translation.h for what is no conversation: embeddings in the words of another provider, and
// counts of tokens in an envelope of another's. Nothing streams, and nothing has to be fetched for it.
#pragma once
#include <memory>
#include <string>

#include "dialects/dialect.h"
#include "dialects/embeddings/embeddings.h"
#include "relay/request.h"
#include "relay/translation.h"
#include "wire/http_head.h"

namespace qq::relay {

class PlainTranslation {
 public:
  // Errors: InvalidRequest in the client's own words. The incoming body outlives what is made.
  static Result<std::unique_ptr<PlainTranslation>> decode(const RequestState& state);

  // As Translation::encode_for.
  Result<dialects::EncodedRequest> encode_for(const model::Target& target, model::Endpoint endpoint);
  // Of the reply's head, what its body may leave out: Bedrock's count of what a model has read.
  void note_head(const wire::Fields& fields);
  // As Translation::translate_answer.
  Result<Translation::Answer> translate_answer(std::string_view body, const model::Target& target,
                                               model::Endpoint endpoint) const;
  [[nodiscard]] std::string losses_text() const { return shown_losses(losses_, nullptr); }

 private:
  explicit PlainTranslation(const RequestState& state) : state_(state) {}

  const RequestState& state_;                 // which owns this
  dialects::embeddings::Request embeddings_;  // of what embeds
  dialects::Losses losses_;                   // of the attempt that runs
  model::Usage told_in_head_;                 // of the same
};

// Whether what is translated at `endpoint` of a target is no conversation.
constexpr bool is_plain(model::Endpoint endpoint) noexcept {
  return model::is_embedding(endpoint) || endpoint == model::Endpoint::CountMessageTokens;
}

// Decodes on first use.
Result<PlainTranslation*> plain_translation_of(RequestState& state);

}  // namespace qq::relay
