#include "dialects/openai_chat/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dialects/finish_words.h"
#include "dialects/openai/content.h"

namespace qq::dialects::openai_chat {
namespace {

using model::Finish;

// What is not here ends as "stop" does, or by openai::meaning_of_finish.
constexpr std::array kFinishWords{
    FinishWord{"stop", Finish::Stop},
    FinishWord{"tool_calls", Finish::ToolCalls},
    FinishWord{"length", Finish::Length},
    FinishWord{"content_filter", Finish::Filtered},
    FinishWord{"function_call", Finish::ToolCalls},
    FinishWord{"tool_use", Finish::ToolCalls},
    FinishWord{"stop_sequence", Finish::StopString},
    FinishWord{"max_tokens", Finish::Length},
    FinishWord{"model_length", Finish::Length},
    FinishWord{"max_output_tokens", Finish::Length},
    FinishWord{"MAX_TOKENS", Finish::Length},
    FinishWord{"refusal", Finish::Refusal},
};

std::string_view text_member(wire::JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && found->is_string() ? found->text() : std::string_view();
}

}  // namespace

Said::Said(wire::JsonValue message) noexcept {
  for (wire::JsonMembers members(message); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (value.text().size() <= 2 || value.is_null()) continue;
    if (key == "content") content = value;
    if (key == "refusal") refusal = value;
    if (key == "reasoning_content") thoughts = value;
    if (key == "reasoning" && thoughts.text().empty()) thoughts = value;
    if (key == "reasoning_details") details = value;
    if (key == "tool_calls") calls = value;
    if (key == "function_call") old_call = value;
    if (key == "audio") audio = value;
    if (key == "annotations") annotations = value;
    if (key == "images") images = value;
  }
}

Finish finish_of(std::string_view word) noexcept {
  if (word.empty()) return Finish::None;
  if (const auto known = finish_of_word(kFinishWords, word)) return *known;
  switch (openai::meaning_of_finish(word)) {
    case openai::FinishMeaning::Normal: return Finish::Stop;
    case openai::FinishMeaning::EmptyIsFine: return Finish::Filtered;
    case openai::FinishMeaning::Broken: return Finish::Broken;
  }
  return Finish::Stop;
}

Finish finish_with(Finish told, bool has_calls, bool cut, std::string_view stop_string) noexcept {
  if (told != Finish::None && told != Finish::Stop) return told;
  if (has_calls) return cut && told == Finish::Stop ? Finish::StopString : Finish::ToolCalls;
  return stop_string.empty() ? Finish::Stop : Finish::StopString;
}

Error broken_off_call() {
  return Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                         "the provider's answer ended in the middle of a tool call's arguments");
}

std::string_view finish_word(Finish finish) noexcept {
  switch (finish) {
    case Finish::None: return {};
    case Finish::Stop:
    case Finish::StopString:
    case Finish::Paused: return "stop";
    case Finish::Length: return "length";
    case Finish::ToolCalls: return "tool_calls";
    case Finish::Filtered:
    case Finish::Refusal: return "content_filter";
    case Finish::Broken: return "error";
  }
  return "stop";
}

std::string answer_id(std::string_view given, const AnswerHead& head) {
  if (given.starts_with("chatcmpl-")) return std::string(given);
  return std::string("chatcmpl-").append(head.request_id);
}

void write_usage(wire::JsonWriter& json, const model::Usage& usage) {
  json.begin_object();
  json.member("prompt_tokens", usage.input_total());
  json.member("completion_tokens", usage.output_total());
  json.member("total_tokens", usage.input_total() + usage.output_total());
  const auto count = [&json](std::string_view name, const std::optional<model::TokenCount>& tokens) {
    if (tokens) json.member(name, *tokens);
  };
  if (usage.cache_read || usage.cache_write || usage.cache_write_1h || usage.audio_input) {
    json.key("prompt_tokens_details").begin_object();
    count("cached_tokens", usage.cache_read);
    if (usage.cache_write || usage.cache_write_1h) {
      json.member("cache_write_tokens", usage.cache_write.value_or(0) + usage.cache_write_1h.value_or(0));
    }
    count("audio_tokens", usage.audio_input);
    json.end_object();
  }
  if (usage.reasoning || usage.audio_output) {
    json.key("completion_tokens_details").begin_object();
    count("reasoning_tokens", usage.reasoning);
    count("audio_tokens", usage.audio_output);
    json.end_object();
  }
  json.end_object();
}

bool write_annotation(wire::JsonWriter& json, std::string_view citation, std::size_t begin, std::size_t end) {
  const wire::JsonValue value(citation);
  if (value.member("url_citation") || value.member("file_citation")) {  // this dialect's own
    json.raw(citation);
    return true;
  }
  // OpenAI responses, Anthropic's search results; Gemini's chunks hold theirs one level down.
  wire::JsonValue source = value;
  if (const auto web = value.member("web")) source = *web;
  std::string_view url = text_member(source, "url");
  if (url.empty()) url = text_member(source, "uri");
  if (url.empty()) return false;
  const auto number = [&](std::string_view key, std::size_t other) {
    const auto found = value.member(key);
    return found ? found->integer().value_or(static_cast<std::int64_t>(other))
                 : static_cast<std::int64_t>(other);
  };
  json.begin_object().member("type", "url_citation").key("url_citation").begin_object();
  json.raw_member("url", url);
  const std::string_view title = text_member(source, "title");
  json.raw_member("title", title.empty() ? std::string_view(R"("")") : title);
  json.member("start_index", number("start_index", begin));
  json.member("end_index", number("end_index", end));
  json.end_object().end_object();
  return true;
}

std::size_t characters_in(std::string_view utf8) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string arguments_of(wire::JsonValue value) {
  // Some send an object where a text of one is due.
  std::string text = value.is_string() ? value.string() : std::string(value.text());
  if (is_no_arguments(text)) text = "{}";
  return text;
}

std::string fingerprint(std::string_view text) {
  // FNV-1a from two starts: no secret, it only has to be the same every time.
  std::uint64_t first = 14695981039346656037ULL;
  std::uint64_t second = 0x9ae16a3b2f90404fULL;
  for (const char c : text) {
    first = (first ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    second = (second ^ static_cast<unsigned char>(c)) * 0xc2b2ae3d27d4eb4fULL;
    second ^= second >> 29U;
  }
  return fmt::format("{:016x}{:016x}", first, second);
}

std::string_view sound_type(std::string_view base64) noexcept {
  if (base64.starts_with("UklGR")) return "audio/wav";
  if (base64.starts_with("T2dn")) return "audio/ogg";
  if (base64.starts_with("ZkxhQ")) return "audio/flac";
  if (base64.starts_with("SUQz") || base64.starts_with("//")) return "audio/mpeg";
  return "audio/pcm";
}

}  // namespace qq::dialects::openai_chat
