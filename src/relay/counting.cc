#include "relay/counting.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/anthropic/dialect.h"
#include "dialects/gemini/count_tokens.h"
#include "relay/token_estimate.h"

namespace qq::relay {

std::optional<model::Endpoint> counted_at(model::Endpoint endpoint) noexcept {
  switch (endpoint) {
    case model::Endpoint::CountInputTokens: return model::Endpoint::Responses;
    case model::Endpoint::CountMessageTokens: return model::Endpoint::Messages;
    case model::Endpoint::CountContentTokens: return model::Endpoint::GenerateContent;
    default: return std::nullopt;
  }
}

bool is_for_estimate(const RequestState& state) {
  if (!counted_at(state.incoming.endpoint) || state.client.gone().cancelled()) return false;
  const auto tried =
      std::ranges::find_if(state.attempts.rbegin(), state.attempts.rend(),
                           [](const auto& each) { return each.outcome != model::Outcome::Refused; });
  if (tried == state.attempts.rend() || !tried->translated || !tried->error) return false;
  const ErrorKind kind = tried->error->kind;
  return kind == ErrorKind::Refused || kind == ErrorKind::ModelMissing || kind == ErrorKind::Forbidden ||
         kind == ErrorKind::EmptyReply;
}

Result<std::string> estimated_count(const RequestState& state) {
  const std::string_view body = state.incoming.body;
  switch (model::dialect_of(state.incoming.endpoint)) {
    case model::Dialect::Anthropic: {
      QQ_TRY(const model::ChatRequest request, dialects::anthropic::decode_count_request(body, {}));
      return dialects::anthropic::encode_count(estimated_tokens(request));
    }
    case model::Dialect::Gemini: {
      dialects::RequestHead head;
      head.path_model = state.facts.model;
      QQ_TRY(const model::ChatRequest request, dialects::gemini::decode_count_request(body, head));
      return dialects::gemini::encode_count_answer(estimated_tokens(request));
    }
    default: {
      const auto* client = dialects::client_dialect(model::Dialect::OpenAiResponses);
      QQ_TRY(const model::ChatRequest request, client->decode_request(body, {}));
      return fmt::format(R"({{"object":"response.input_tokens","input_tokens":{}}})",
                         estimated_tokens(request));
    }
  }
}

}  // namespace qq::relay
