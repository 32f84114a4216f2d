#include "relay/translation.h"

#include <algorithm>

#include "base/assert.h"
#include "dialects/fields.h"
#include "dialects/media_urls.h"
#include "dialects/openai/answer.h"
#include "relay/neutral_facts.h"
#include "relay/plain_translation.h"
#include "wire/http_head.h"

namespace qq::relay {
namespace {

// A header that names a hundred lost fields helps nobody.
constexpr std::size_t kLossesShown = 16;

dialects::RequestHead request_head(const IncomingRequest& incoming) {
  dialects::RequestHead head;
  if (!incoming.native) return head;
  head.path_model = incoming.native->path_model;
  head.path_stream = incoming.native->path_stream;
  head.array_stream = incoming.native->array_stream;
  head.beta = incoming.native->beta;
  head.version = incoming.native->version;
  return head;
}

// What is put into a header must be one line of it.
void append_safe(std::string& out, std::string_view text) {
  for (const char c : text.substr(0, 120)) {
    out.push_back(c > ' ' && c <= '~' && c != ';' ? c : '_');
  }
}

bool is_told_by_openai(model::Endpoint endpoint) noexcept {
  return endpoint == model::Endpoint::ChatCompletions || endpoint == model::Endpoint::Responses;
}

// The decoders of the other dialects say nothing of an answer that is none.
void read_failed_answer(model::Endpoint endpoint, std::string_view body, const model::Target& target,
                        model::Usage& used, bool& blank) {
  const auto facts = dialects::openai::judge_answer(endpoint, body, target);
  used = facts.usage;
  blank = facts.blank;
}

}  // namespace

Translation::Translation(const RequestState& state, const dialects::ClientDialect& client,
                         model::ChatRequest request)
    : client_(client), request_(std::move(request)), id_seed_(state.incoming.id.text()) {
  head_.model = state.facts.model;
  head_.request_id = id_seed_;
  head_.now = std::chrono::duration_cast<std::chrono::seconds>(state.incoming.wall_started.time_since_epoch())
                  .count();
  head_.array_stream = state.incoming.native && state.incoming.native->array_stream;
}

Result<std::unique_ptr<Translation>> Translation::decode(const RequestState& state) {
  const auto* client = dialects::client_dialect(model::dialect_of(state.incoming.endpoint));
  QQ_ASSERT(client != nullptr);  // every client's endpoint has one
  QQ_TRY(model::ChatRequest request,
         client->decode_request(state.incoming.body, request_head(state.incoming)));
  request.stream = state.facts.stream;
  dialects::tidy_media_urls(request);
  return std::unique_ptr<Translation>(new Translation(state, *client, std::move(request)));
}

Result<dialects::EncodedRequest> Translation::encode_for(const model::Target& target,
                                                         model::Endpoint endpoint) {
  losses_.clear();
  encoder_.reset();  // of an attempt before, of which nothing went out
  const model::Dialect target_dialect = *model::conversation_at(endpoint);
  const auto* provider = dialects::provider_dialect(target_dialect);
  QQ_ASSERT(provider != nullptr);
  // What a client says in its provider's own words is between the two.
  if (target_dialect != request_.dialect) QQ_CHECK(dialects::check_media_urls(request_));
  const auto renamed = names_.fit(request_, target_dialect);
  auto encoded = provider->encode_request(renamed ? *renamed : request_, target, losses_);
  dialects::use_callers_words(request_.dialect, losses_);
  return encoded;
}

Result<Translation::Answer> Translation::translate_answer(std::string_view body, const model::Target& target,
                                                          model::Endpoint endpoint, model::Usage& used,
                                                          bool& blank) {
  const auto* provider = dialects::provider_dialect(*model::conversation_at(endpoint));
  Result<model::ChatAnswer> decoded = provider->decode_answer(body, target, id_seed_);
  if (!decoded) {
    if (is_told_by_openai(endpoint)) read_failed_answer(endpoint, body, target, used, blank);
    return fail(std::move(decoded).error());
  }
  model::ChatAnswer& answer = *decoded;
  const auto broken = std::ranges::find(answer.choices, model::Finish::Broken, &model::Choice::finish);
  if (broken != answer.choices.end()) {
    used = answer.usage;
    return fail(broken_generation(broken->finish_word));
  }
  if (!has_content(answer)) {
    used = answer.usage;
    blank = says_white_space(answer);
    return fail(Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun,
                                "the provider's answer has nothing in it"));
  }
  names_.restore(answer);
  Answer translated;
  translated.usage = answer.usage;
  const model::Choice& first = answer.choices.front();
  translated.finish_reason =
      first.finish_word.empty() ? std::string(model::to_string(first.finish)) : first.finish_word;
  translated.body = client_.encode_answer(answer, request_, head_, losses_);
  return translated;
}

dialects::StreamEncoder& Translation::new_encoder() {
  encoder_ = client_.stream_encoder(request_, head_);
  if (!names_.empty()) encoder_ = dialects::with_original_names(std::move(encoder_), names_);
  return *encoder_;
}

std::uint32_t Translation::choices_asked() const noexcept {
  constexpr std::int64_t kMost = 1024;  // more than any provider gives
  return static_cast<std::uint32_t>(
      std::clamp(request_.sampling.choices.value_or(1), std::int64_t{1}, kMost));
}

bool Translation::encode_stream_error(const Error& error, std::string& out) {
  if (!encoder_) return false;
  const std::size_t before = out.size();
  model::StreamEvent failed;
  failed.kind = model::StreamEvent::Kind::Failed;
  failed.error = &error;
  encoder_->encode(failed, out);
  return out.size() > before;
}

std::string Translation::losses_text() const {
  return shown_losses(losses_, encoder_ ? &encoder_->losses() : nullptr);
}

std::string losses_text_of(const RequestState& state) {
  if (state.plain_translation) return state.plain_translation->losses_text();
  return state.translation ? state.translation->losses_text() : std::string();
}

std::string shown_losses(const dialects::Losses& losses, const dialects::Losses* more) {
  std::string out;
  std::size_t shown = 0;
  const auto tell = [&](const dialects::Losses& some) {
    for (const dialects::Loss& loss : some) {
      if (shown > kLossesShown) return;
      if (shown > 0) out.append("; ");
      if (shown++ == kLossesShown) {
        out.append("...");
      } else {
        append_safe(out, loss.field);
      }
    }
  };
  tell(losses);
  if (more != nullptr) tell(*more);
  return out;
}

bool is_translated(const RequestState& state, const model::Target& target, model::Endpoint asked_there) {
  if (asked_there != state.incoming.endpoint) return true;
  // What another provider's answer left in the conversation is not for this one.
  if (state.facts.holds_carried && model::conversation_at(asked_there)) return true;
  // A batch of Google's names its model in each request of it.
  if (asked_there == model::Endpoint::EmbedContent || asked_there == model::Endpoint::BatchEmbedContents) {
    return true;
  }
  // Claude inside Vertex and Bedrock has an envelope of its own.
  if (asked_there == model::Endpoint::Messages || asked_there == model::Endpoint::CountMessageTokens) {
    return target.quirks.messages_form != model::MessagesForm::Direct;
  }
  // Providers are asked for events, whatever the client wants to have.
  return state.incoming.native && state.incoming.native->array_stream && state.facts.stream;
}

Result<Translation*> translation_of(RequestState& state) {
  if (!state.translation) {
    QQ_TRY(state.translation, Translation::decode(state));
  }
  return state.translation.get();
}

}  // namespace qq::relay
