#include "dialects/bedrock/dialect.h"

#include <algorithm>
#include <array>

#include "dialects/bedrock/sides.h"
#include "dialects/finish_words.h"
#include "dialects/provider_json.h"

namespace qq::dialects::bedrock {
namespace {

using model::Finish;

class BedrockProvider final : public ProviderDialect {
 public:
  [[nodiscard]] Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                      const model::Target& target,
                                                      Losses& losses) const override {
    return bedrock::encode_request(request, target, losses);
  }
  [[nodiscard]] Result<model::ChatAnswer> decode_answer(std::string_view body,
                                                        const model::Target& /*target*/,
                                                        std::string_view id_seed) const override {
    return bedrock::decode_answer(body, id_seed);
  }
  [[nodiscard]] std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& /*target*/,
                                                              std::string_view id_seed) const override {
    return bedrock::stream_decoder(id_seed);
  }
};

constexpr std::array<FinishWord, 9> kStopReasons{{
    {"end_turn", Finish::Stop},
    {"tool_use", Finish::ToolCalls},
    {"max_tokens", Finish::Length},
    {"model_context_window_exceeded", Finish::Length},
    {"stop_sequence", Finish::StopString},
    {"guardrail_intervened", Finish::Filtered},
    {"content_filtered", Finish::Filtered},
    {"malformed_model_output", Finish::Broken},
    {"malformed_tool_use", Finish::Broken},
}};

// A figure under the first of its two names that is there.
std::optional<model::TokenCount> figure(wire::JsonValue usage, std::string_view name,
                                        std::string_view twin) noexcept {
  const auto count = count_in(usage.member(name));
  return count ? count : count_in(usage.member(twin));
}

}  // namespace

const ProviderDialect& provider_side() noexcept {
  static const BedrockProvider side;
  return side;
}

Finish finish_of(std::string_view stop_reason) noexcept {
  return finish_of_word(kStopReasons, stop_reason).value_or(Finish::Stop);
}

model::Usage usage_of(wire::JsonValue usage) noexcept {
  model::Usage out;
  out.input_uncached = count_in(usage.member("inputTokens"));
  out.output_text = count_in(usage.member("outputTokens"));
  if (!out.input_uncached && !out.output_text) return out;
  out.source = model::UsageSource::Provider;
  out.cache_read = figure(usage, "cacheReadInputTokens", "cacheReadInputTokenCount");
  out.cache_write = figure(usage, "cacheWriteInputTokens", "cacheWriteInputTokenCount");
  const auto details = usage.member("cacheDetails");
  if (!details || !out.cache_write) return out;
  for (wire::JsonElements each(*details); each.next();) {
    const auto ttl = each.value().member("ttl");
    if (!ttl || ttl->raw_string() != "1h") continue;
    const model::TokenCount hour = count_in(each.value().member("inputTokens")).value_or(0);
    out.cache_write_1h = std::min(hour, *out.cache_write);
    *out.cache_write -= *out.cache_write_1h;
    break;
  }
  return out;
}

std::optional<std::string> error_text(wire::JsonValue document) {
  for (const std::string_view key : {"message", "Message"}) {
    if (const auto text = document.member(key); text && text->is_string()) return text->string();
  }
  return std::nullopt;
}

}  // namespace qq::dialects::bedrock
