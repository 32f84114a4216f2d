#include "relay/plain_translation.h"

#include <charconv>

#include "dialects/anthropic/count_envelope.h"
#include "dialects/anthropic/dialect.h"

namespace qq::relay {

Result<std::unique_ptr<PlainTranslation>> PlainTranslation::decode(const RequestState& state) {
  std::unique_ptr<PlainTranslation> out(new PlainTranslation(state));
  if (model::is_embedding(state.incoming.endpoint)) {
    QQ_TRY(out->embeddings_,
           dialects::embeddings::decode_request(state.incoming.endpoint, state.incoming.body));
  }
  return out;
}

Result<dialects::EncodedRequest> PlainTranslation::encode_for(const model::Target& target,
                                                              model::Endpoint endpoint) {
  losses_.clear();
  told_in_head_ = {};
  if (!model::is_embedding(endpoint)) {
    const NativeHead* const native = state_.incoming.native.get();
    return dialects::anthropic::encode_enveloped_count(
        state_.incoming.body, native != nullptr ? std::string_view(native->beta) : std::string_view(),
        target);
  }
  dialects::EncodedRequest out;
  QQ_TRY(out.body, dialects::embeddings::encode_request(embeddings_, target, endpoint, losses_));
  return out;
}

void PlainTranslation::note_head(const wire::Fields& fields) {
  const auto said = fields.find("x-amzn-bedrock-input-token-count");
  model::TokenCount count = 0;
  if (!said) return;
  const auto [end, error] = std::from_chars(said->data(), said->data() + said->size(), count);
  if (error != std::errc{} || end != said->data() + said->size() || count < 0) return;
  told_in_head_.input_uncached = count;
  told_in_head_.source = model::UsageSource::Provider;
}

Result<Translation::Answer> PlainTranslation::translate_answer(std::string_view body,
                                                               const model::Target& target,
                                                               model::Endpoint endpoint) const {
  Translation::Answer out;
  if (!model::is_embedding(endpoint)) {
    const auto tokens = dialects::anthropic::decode_enveloped_count(body);
    if (!tokens) {
      return fail(Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun,
                                  "the provider's answer holds no count of tokens"));
    }
    out.body = dialects::anthropic::encode_count(*tokens);
    return out;
  }
  std::string room;
  QQ_TRY(auto answer, dialects::embeddings::decode_answer(body, embeddings_, target, endpoint, room));
  if (answer.usage.source == model::UsageSource::None) answer.usage = told_in_head_;
  out.usage = answer.usage;
  out.body = dialects::embeddings::encode_answer(answer, embeddings_, state_.facts.model);
  return out;
}

Result<PlainTranslation*> plain_translation_of(RequestState& state) {
  if (!state.plain_translation) {
    QQ_TRY(state.plain_translation, PlainTranslation::decode(state));
  }
  return state.plain_translation.get();
}

}  // namespace qq::relay
