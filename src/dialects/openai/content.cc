#include "dialects/openai/content.h"

#include <algorithm>
#include <array>

namespace qq::dialects::openai {
namespace {

bool is_filled_string(wire::JsonValue value) noexcept {
  return value.is_string() && value.text().size() > 2;
}

bool part_has_content(wire::JsonValue part) noexcept {
  if (part.is_string()) return !part.is_blank_string();
  if (!part.is_object()) return false;
  bool is_text = true;
  for (wire::JsonMembers members(part); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "text" || key == "thinking" || key == "refusal" || key == "summary") {
      if (has_text(members.value())) return true;
    } else if (key == "type") {
      // Images, audio, references and what is still to come count by being there.
      const std::string_view type = members.value().raw_string();
      is_text = type == "text" || type == "thinking" || type == "refusal" || type == "output_text" ||
                type == "summary_text" || type == "reasoning_text" || type.starts_with("reasoning.");
    }
  }
  return !is_text;
}

bool any_part_has_content(wire::JsonValue parts) noexcept {
  for (wire::JsonElements elements(parts); elements.next();) {
    if (part_has_content(elements.value())) return true;
  }
  return false;
}

bool call_has_content(wire::JsonValue call) noexcept {
  for (wire::JsonMembers members(call); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "id" || key == "name" || key == "arguments" || key == "input") {
      if (is_filled_string(members.value()) || members.value().is_object()) return true;
    } else if (key == "function" || key == "custom") {
      if (call_has_content(members.value())) return true;
    }
  }
  return false;
}

bool any_call_has_content(wire::JsonValue calls) noexcept {
  for (wire::JsonElements elements(calls); elements.next();) {
    if (call_has_content(elements.value())) return true;
  }
  return false;
}

bool audio_has_content(wire::JsonValue audio) noexcept {
  for (wire::JsonMembers members(audio); members.next();) {
    const std::string_view key = members.raw_key();
    if ((key == "data" || key == "transcript") && is_filled_string(members.value())) return true;
  }
  return false;
}

}  // namespace

bool has_text(wire::JsonValue content) noexcept {
  if (content.is_string()) return !content.is_blank_string();
  return content.is_array() && any_part_has_content(content);
}

bool message_has_content(wire::JsonValue message) noexcept {
  wire::JsonMembers members(message);
  return any_content(members);
}

bool any_content(wire::JsonMembers& members) noexcept {
  bool filled = false;
  // To the end in any case, so that a walk around this one need not pass over the members again.
  while (members.next()) {
    if (filled) continue;
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (value.text().size() <= 2) continue;  // "", [], {}
    switch (key.size()) {
      case 5: filled = key == "audio" && audio_has_content(value); break;
      case 6: filled = key == "images" && value.is_array(); break;
      case 7: filled = (key == "content" || key == "refusal") && has_text(value); break;
      case 9: filled = key == "reasoning" && has_text(value); break;
      case 10: filled = key == "tool_calls" && any_call_has_content(value); break;
      case 13: filled = key == "function_call" && call_has_content(value); break;
      case 17:
        filled = (key == "reasoning_content" && has_text(value)) ||
                 (key == "reasoning_details" && any_part_has_content(value));
        break;
      default: break;
    }
  }
  return filled;
}

namespace {

// From an answer down to the texts of its parts, in OpenAI's, Anthropic's and Gemini's words.
bool leads_to_text(std::string_view key) noexcept {
  static constexpr std::array kKeys = {
      std::string_view("choices"),    std::string_view("message"),  std::string_view("delta"),
      std::string_view("output"),     std::string_view("content"),  std::string_view("text"),
      std::string_view("refusal"),    std::string_view("thinking"), std::string_view("reasoning"),
      std::string_view("candidates"), std::string_view("parts"),    std::string_view("reasoning_content")};
  return std::ranges::find(kKeys, key) != kKeys.end();
}
// An answer, its choices, one of them, its message, the content, a part, the text.
constexpr int kLevelsToText = 8;

bool says_something(wire::JsonValue value, int levels) noexcept {
  if (value.is_string()) return value.text().size() > 2;
  if (levels == 0) return false;
  if (value.is_array()) {
    for (wire::JsonElements elements(value); elements.next();) {
      if (says_something(elements.value(), levels - 1)) return true;
    }
    return false;
  }
  for (wire::JsonMembers members(value); members.next();) {
    if (leads_to_text(members.raw_key()) && says_something(members.value(), levels - 1)) return true;
  }
  return false;
}

}  // namespace

bool says_white_space(wire::JsonValue value) noexcept {
  return says_something(value, kLevelsToText);
}

bool output_item_has_content(wire::JsonValue item) noexcept {
  if (!item.is_object()) return false;
  std::string_view type;
  bool filled = false;
  for (wire::JsonMembers members(item); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "type") {
      type = members.value().raw_string();
    } else if (key == "content" || key == "summary") {
      filled = filled || has_text(members.value());
    }
  }
  if (type == "message" || type == "reasoning") return filled;
  return type != "mcp_list_tools";
}

bool is_prose_delta(std::string_view type) noexcept {
  return type == "response.output_text.delta" || type == "response.refusal.delta" ||
         type.starts_with("response.reasoning");
}

FinishMeaning meaning_of_finish(std::string_view reason) noexcept {
  // Zhipu: sensitive, network_error. DeepSeek: insufficient_system_resource. OpenRouter: error. Mistral:
  // model_length. The upper-case words come through gateways in front of Google.
  static constexpr std::array kEmptyIsFine = {
      std::string_view("length"),        std::string_view("content_filter"),
      std::string_view("sensitive"),     std::string_view("max_tokens"),
      std::string_view("model_length"),  std::string_view("max_output_tokens"),
      std::string_view("stop_sequence"), std::string_view("refusal"),
      std::string_view("safety"),        std::string_view("SAFETY"),
      std::string_view("RECITATION"),    std::string_view("PROHIBITED_CONTENT"),
      std::string_view("BLOCKLIST"),     std::string_view("MAX_TOKENS"),
      std::string_view("incomplete"),    std::string_view("queued"),
      std::string_view("in_progress"),   std::string_view("cancelled")};
  static constexpr std::array kBroken = {std::string_view("error"), std::string_view("network_error"),
                                         std::string_view("insufficient_system_resource"),
                                         std::string_view("failed")};
  if (reason == "stop" || reason == "tool_calls") return FinishMeaning::Normal;
  if (std::find(kEmptyIsFine.begin(), kEmptyIsFine.end(), reason) != kEmptyIsFine.end()) {
    return FinishMeaning::EmptyIsFine;
  }
  if (std::find(kBroken.begin(), kBroken.end(), reason) != kBroken.end()) return FinishMeaning::Broken;
  return FinishMeaning::Normal;
}

bool is_stop_string_mark(std::string_view key, wire::JsonValue value) noexcept {
  if (key == "stop_reason") return !value.is_null();
  return key == "matched_stop" && value.is_string();
}

}  // namespace qq::dialects::openai
