#include "dialects/cohere/dialect.h"

#include <algorithm>
#include <array>

#include "dialects/cohere/sides.h"
#include "dialects/finish_words.h"
#include "dialects/provider_json.h"

namespace qq::dialects::cohere {
namespace {

using model::Finish;

class CohereProvider final : public ProviderDialect {
 public:
  [[nodiscard]] Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                      const model::Target& target,
                                                      Losses& losses) const override {
    return cohere::encode_request(request, target, losses);
  }
  [[nodiscard]] Result<model::ChatAnswer> decode_answer(std::string_view body,
                                                        const model::Target& /*target*/,
                                                        std::string_view id_seed) const override {
    return cohere::decode_answer(body, id_seed);
  }
  [[nodiscard]] std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& /*target*/,
                                                              std::string_view id_seed) const override {
    return cohere::stream_decoder(id_seed);
  }
};

constexpr std::array<FinishWord, 7> kFinishReasons{{
    {"COMPLETE", Finish::Stop},
    {"STOP_SEQUENCE", Finish::StopString},
    {"MAX_TOKENS", Finish::Length},
    {"TOOL_CALL", Finish::ToolCalls},
    {"ERROR_TOXIC", Finish::Filtered},
    {"ERROR", Finish::Broken},
    {"TIMEOUT", Finish::Broken},
}};

}  // namespace

const ProviderDialect& provider_side() noexcept {
  static const CohereProvider side;
  return side;
}

Finish finish_of(std::string_view finish_reason) noexcept {
  return finish_of_word(kFinishReasons, finish_reason).value_or(Finish::Stop);
}

model::Usage usage_of(wire::JsonValue usage) noexcept {
  const wire::JsonValue tokens = usage.member("tokens").value_or(wire::JsonValue());
  const wire::JsonValue billed = usage.member("billed_units").value_or(wire::JsonValue());
  const auto figure = [&](std::string_view name) {
    const auto counted = count_in(tokens.member(name));
    return counted ? counted : count_in(billed.member(name));
  };
  model::Usage out;
  out.input_uncached = figure("input_tokens");
  out.output_text = figure("output_tokens");
  if (!out.input_uncached && !out.output_text) return out;
  out.source = model::UsageSource::Provider;
  out.image_input = count_in(tokens.member("image_tokens"));
  if (const auto cached = count_in(usage.member("cached_tokens")); cached && out.input_uncached) {
    out.cache_read = std::min(*cached, *out.input_uncached);
    *out.input_uncached -= *out.cache_read;
  }
  if (const auto thought = count_in(tokens.member("reasoning_tokens")); thought && out.output_text) {
    out.reasoning = std::min(*thought, *out.output_text);
    *out.output_text -= *out.reasoning;
  }
  return out;
}

std::optional<Error> find_error(wire::JsonValue document) {
  // {"id","message": TEXT}, perhaps with "error_type"; an answer's `message` is an object.
  const auto message = document.member("message");
  const auto told = document.member("error");
  const auto& text = message && message->is_string() ? message : told;
  if (!text || !text->is_string()) return std::nullopt;
  Error error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, text->string());
  if (error.message.empty()) error.message = "the provider sent an error without a message";
  if (const auto type = document.member("error_type"); type && type->is_string()) error.type = type->string();
  return error;
}

}  // namespace qq::dialects::cohere
