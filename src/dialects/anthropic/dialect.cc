#include "dialects/anthropic/dialect.h"

#include <array>

#include "base/text.h"
#include "dialects/anthropic/sides.h"
#include "dialects/finish_words.h"

namespace qq::dialects::anthropic {
namespace {

using model::Finish;

class AnthropicClient final : public ClientDialect {
 public:
  [[nodiscard]] Result<model::ChatRequest> decode_request(std::string_view body,
                                                          const RequestHead& head) const override {
    return anthropic::decode_request(body, head, Purpose::Answer);
  }
  [[nodiscard]] std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                                          const AnswerHead& head, Losses& losses) const override {
    return anthropic::encode_answer(answer, request, head, losses);
  }
  [[nodiscard]] std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request,
                                                              const AnswerHead& head) const override {
    return anthropic::stream_encoder(request, head);
  }
  [[nodiscard]] EncodedError encode_error(const Error& error, std::string_view request_id) const override {
    return anthropic::encode_error(error, request_id);
  }
  void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) const override {
    anthropic::encode_stream_error(error, request_id, out);
  }
  [[nodiscard]] std::string_view heartbeat() const noexcept override { return kPing; }
};

class AnthropicProvider final : public ProviderDialect {
 public:
  [[nodiscard]] Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                      const model::Target& target,
                                                      Losses& losses) const override {
    return anthropic::encode_request(request, target, losses);
  }
  [[nodiscard]] Result<model::ChatAnswer> decode_answer(std::string_view body,
                                                        const model::Target& /*target*/,
                                                        std::string_view id_seed) const override {
    return anthropic::decode_answer(body, id_seed);
  }
  [[nodiscard]] std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target,
                                                              std::string_view id_seed) const override {
    return anthropic::stream_decoder(target, id_seed);
  }
};

constexpr std::array<FinishWord, 8> kStopReasons{{
    {"end_turn", Finish::Stop},
    {"stop_sequence", Finish::StopString},
    {"max_tokens", Finish::Length},
    {"model_context_window_exceeded", Finish::Length},
    {"tool_use", Finish::ToolCalls},
    {"pause_turn", Finish::Paused},
    {"compaction", Finish::Paused},
    {"refusal", Finish::Refusal},
}};

}  // namespace

const ClientDialect& client_side() noexcept {
  static const AnthropicClient side;
  return side;
}

const ProviderDialect& provider_side() noexcept {
  static const AnthropicProvider side;
  return side;
}

Result<model::ChatRequest> decode_count_request(std::string_view body, const RequestHead& head) {
  return decode_request(body, head, Purpose::Count);
}

std::string encode_count(model::TokenCount input_tokens) {
  std::string out = "{\"input_tokens\":";
  append_decimal(out, input_tokens);
  out += '}';
  return out;
}

Finish finish_of(std::string_view stop_reason) noexcept {
  return finish_of_word(kStopReasons, stop_reason).value_or(Finish::Stop);
}

std::string_view stop_reason_of(Finish finish) noexcept {
  if (finish == Finish::Filtered) return "refusal";
  const std::string_view word = word_of_finish(kStopReasons, finish);
  return word.empty() ? "end_turn" : word;
}

std::string answer_id(std::string_view id, const AnswerHead& head) {
  return id.starts_with("msg_") ? std::string(id) : "msg_" + std::string(head.request_id);
}

}  // namespace qq::dialects::anthropic
