#include "simulator/provider/voices/voice.h"

#include <algorithm>
#include <array>

#include "wire/json.h"

namespace qq::simulator {
namespace {

template <model::Dialect Which>
Result<model::ChatRequest> read_by_client_side(std::string_view body, const dialects::RequestHead& head) {
  return dialects::client_dialect(Which)->decode_request(body, head);
}

template <model::Dialect Which>
std::string tell_by_client_side(const model::ChatAnswer& answer, const model::ChatRequest& request,
                                const dialects::AnswerHead& head) {
  dialects::Losses losses;
  return dialects::client_dialect(Which)->encode_answer(answer, request, head, losses);
}

template <model::Dialect Which>
std::unique_ptr<dialects::StreamEncoder> stream_by_client_side(const model::ChatRequest& request,
                                                               const dialects::AnswerHead& head) {
  return dialects::client_dialect(Which)->stream_encoder(request, head);
}

constexpr Voice kMessagesVoice{.dialect = model::Dialect::Anthropic,
                               .name = "messages",
                               .call_id_prefix = "toolu_01",
                               .call_id_length = 22,
                               .signs = Voice::Signs::Thoughts,
                               .stream_type = "text/event-stream; charset=utf-8",
                               .read = read_by_client_side<model::Dialect::Anthropic>,
                               .whole = tell_by_client_side<model::Dialect::Anthropic>,
                               .stream = stream_by_client_side<model::Dialect::Anthropic>,
                               .form = StreamForm::Events};

constexpr Voice kGeminiVoice{.dialect = model::Dialect::Gemini,
                             .name = "generate content",
                             .call_id_prefix = "",
                             .call_id_length = 0,
                             .signs = Voice::Signs::Calls,
                             .stream_type = "text/event-stream",
                             .read = read_by_client_side<model::Dialect::Gemini>,
                             .whole = tell_by_client_side<model::Dialect::Gemini>,
                             .stream = stream_by_client_side<model::Dialect::Gemini>,
                             .form = StreamForm::Events};

// Members that are the prompt, in any dialect.
constexpr std::array<std::string_view, 6> kPromptMembers{
    "messages", "contents", "system", "systemInstruction", "system_instruction", "generateContentRequest"};

}  // namespace

const Voice* voice_of(Route route) noexcept {
  switch (route) {
    case Route::Messages:
    case Route::CountMessages: return &kMessagesVoice;
    case Route::GenerateContent:
    case Route::CountContent: return &kGeminiVoice;
    case Route::Converse: return &kConverseVoice;
    case Route::CohereChat: return &kCohereVoice;
    case Route::OllamaChat: return &kOllamaVoice;
    default: return nullptr;
  }
}

std::string prompt_of(std::string_view body) {
  std::string prompt;
  for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
    const auto* const found =
        std::ranges::find_if(kPromptMembers, [&](std::string_view name) { return members.key_is(name); });
    if (found != kPromptMembers.end()) prompt += members.value().text();
  }
  return prompt;
}

}  // namespace qq::simulator
