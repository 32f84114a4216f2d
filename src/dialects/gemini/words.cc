#include "dialects/gemini/words.h"

#include <array>

#include "dialects/finish_words.h"

namespace qq::dialects::gemini {
namespace {

using model::Finish;

// In the order of Vertex's numbers, which is who sends them; behind NO_IMAGE: words without a known number.
constexpr std::array<FinishWord, 26> kFinishWords{{
    {"FINISH_REASON_UNSPECIFIED", Finish::Stop},
    {"STOP", Finish::Stop},
    {"MAX_TOKENS", Finish::Length},
    {"SAFETY", Finish::Filtered},
    {"RECITATION", Finish::Filtered},
    {"OTHER", Finish::Broken},
    {"BLOCKLIST", Finish::Filtered},
    {"PROHIBITED_CONTENT", Finish::Filtered},
    {"SPII", Finish::Filtered},
    {"MALFORMED_FUNCTION_CALL", Finish::Broken},
    {"MODEL_ARMOR", Finish::Filtered},
    {"IMAGE_SAFETY", Finish::Filtered},
    {"IMAGE_PROHIBITED_CONTENT", Finish::Filtered},
    {"IMAGE_RECITATION", Finish::Filtered},
    {"IMAGE_OTHER", Finish::Broken},
    {"UNEXPECTED_TOOL_CALL", Finish::Broken},
    {"NO_IMAGE", Finish::Broken},
    {"LANGUAGE", Finish::Filtered},
    {"TOO_MANY_TOOL_CALLS", Finish::Broken},
    {"MISSING_THOUGHT_SIGNATURE", Finish::Broken},
    {"MALFORMED_RESPONSE", Finish::Broken},
    {"FAILED_MODEL_OUTPUT", Finish::Broken},
    {"JAILBREAK", Finish::Filtered},
    {"SAFETY_FILTERED", Finish::Filtered},
    {"IMAGE_BLOCKED", Finish::Filtered},
    {"BLOCKED", Finish::Filtered},
}};

constexpr std::array<std::string_view, 7> kBlockWords{
    "", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "MODEL_ARMOR", "IMAGE_SAFETY"};

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

}  // namespace

Finish finish_of(std::string_view word, bool has_calls) noexcept {
  const Finish finish = finish_of_word(kFinishWords, word).value_or(Finish::Stop);
  return finish == Finish::Stop && has_calls ? Finish::ToolCalls : finish;
}

std::string_view finish_word(Finish finish, std::string_view provider_word) noexcept {
  if (finish_of_word(kFinishWords, provider_word)) return provider_word;
  switch (finish) {
    case Finish::None:
    case Finish::Stop:
    case Finish::StopString:
    case Finish::ToolCalls:
    case Finish::Paused: return "STOP";
    case Finish::Length: return "MAX_TOKENS";
    case Finish::Filtered:
    case Finish::Refusal: return "SAFETY";
    case Finish::Broken: return "OTHER";
  }
  return "OTHER";
}

std::string_view finish_reason(wire::JsonValue value) noexcept {
  if (const auto number = value.integer()) {
    // UNSPECIFIED, too, says that it ended.
    return *number >= 0 && *number <= 16 ? kFinishWords[static_cast<std::size_t>(*number)].word : "STOP";
  }
  return value.raw_string();
}

std::string_view block_reason(wire::JsonValue value) noexcept {
  if (const auto number = value.integer()) {
    if (*number == 0) return {};
    return *number > 0 && *number < std::ssize(kBlockWords) ? kBlockWords[static_cast<std::size_t>(*number)]
                                                            : "OTHER";
  }
  const std::string_view word = value.raw_string();
  return word == "BLOCK_REASON_UNSPECIFIED" || word == "BLOCKED_REASON_UNSPECIFIED" ? std::string_view()
                                                                                    : word;
}

Modality modality_of(wire::JsonValue value) noexcept {
  const std::string_view text = value.text();
  if (text == "\"TEXT\"" || text == "1") return Modality::Text;
  if (text == "\"IMAGE\"" || text == "2") return Modality::Image;
  if (text == "\"AUDIO\"" || text == "4") return Modality::Audio;
  return Modality::Other;
}

ModelTraits traits_of(std::string_view model) noexcept {
  ModelTraits traits;
  constexpr std::string_view kFamily = "gemini-";
  const std::size_t at = model.find(kFamily);
  if (at == std::string_view::npos) return traits;
  std::string_view rest = model.substr(at + kFamily.size());
  traits.pro = rest.find("pro") != std::string_view::npos;
  traits.lite = rest.find("lite") != std::string_view::npos;
  constexpr std::uint16_t kNewest = 30;
  if (rest.empty() || !is_digit(rest[0])) {
    traits.generation = kNewest;
    return traits;
  }
  std::uint16_t number = 0;
  for (; !rest.empty() && is_digit(rest[0]) && number < 100; rest.remove_prefix(1)) {
    number = static_cast<std::uint16_t>(number * 10 + (rest[0] - '0'));
  }
  number = static_cast<std::uint16_t>(number * 10);
  if (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1])) {
    number = static_cast<std::uint16_t>(number + (rest[1] - '0'));
  }
  traits.generation = number;
  return traits;
}

bool is_vertex(const model::Target& target) noexcept {
  return target.kind.starts_with("vertex") || target.origin.host.ends_with("aiplatform.googleapis.com");
}

}  // namespace qq::dialects::gemini
