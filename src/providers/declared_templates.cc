#include "providers/declared_templates.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "wire/json.h"
#include "wire/json_text.h"

namespace qq::providers {
namespace {

using model::JsonTemplate;
using model::Placeholder;
using model::TextTemplate;
using wire::JsonValue;

constexpr std::uint32_t bit(TemplateUse use) noexcept {
  return 1U << std::to_underlying(use);
}
template <typename... Uses>
constexpr std::uint32_t in(Uses... uses) noexcept {
  return (bit(uses) | ...);
}

enum class Form : std::uint8_t {
  Scalar,     // may stand among other text
  Structure,  // an array or an object
};
struct Word {
  std::string_view word;
  Placeholder placeholder;
  std::uint32_t uses;
  Form form = Form::Scalar;
};

using enum TemplateUse;
constexpr std::uint32_t kSigned = in(StringToSign, SignedHeader);
constexpr std::array kWords = {
    Word{"model", Placeholder::Model, in(Body, Header, UrlPath, PollPath)},
    Word{"messages", Placeholder::Messages, in(Body), Form::Structure},
    Word{"system", Placeholder::System, in(Body)},
    Word{"temperature", Placeholder::Temperature, in(Body)},
    Word{"top_p", Placeholder::TopP, in(Body)},
    Word{"top_k", Placeholder::TopK, in(Body)},
    Word{"presence_penalty", Placeholder::PresencePenalty, in(Body)},
    Word{"frequency_penalty", Placeholder::FrequencyPenalty, in(Body)},
    Word{"seed", Placeholder::Seed, in(Body)},
    Word{"stop", Placeholder::Stop, in(Body), Form::Structure},
    Word{"max_output_tokens", Placeholder::MaxOutputTokens, in(Body)},
    Word{"stream", Placeholder::Stream, in(Body)},
    Word{"tools", Placeholder::Tools, in(Body), Form::Structure},
    Word{"tool_choice", Placeholder::ToolChoice, in(Body)},
    Word{"tool_name", Placeholder::ToolName, in(Body)},
    Word{"parallel_tool_calls", Placeholder::ParallelToolCalls, in(Body)},
    Word{"json_schema", Placeholder::JsonSchema, in(Body), Form::Structure},
    Word{"reasoning_effort", Placeholder::ReasoningEffort, in(Body)},
    Word{"reasoning_budget", Placeholder::ReasoningBudget, in(Body)},
    Word{"user", Placeholder::User, in(Body, Header)},
    Word{"metadata", Placeholder::Metadata, in(Body), Form::Structure},
    Word{"role", Placeholder::Role, in(Message)},
    Word{"text", Placeholder::Text, in(Message, TextPart, ToolResult)},
    Word{"parts", Placeholder::Parts, in(Message), Form::Structure},
    Word{"tool_calls", Placeholder::ToolCalls, in(Message), Form::Structure},
    Word{"reasoning", Placeholder::Reasoning, in(Message)},
    Word{"url", Placeholder::Url, in(Image)},
    Word{"base64", Placeholder::Base64, in(Image)},
    Word{"media_type", Placeholder::MediaType, in(Image)},
    Word{"id", Placeholder::Id, in(ToolCall, ToolResult)},
    Word{"name", Placeholder::Name, in(Message, Tool, ToolCall, ToolResult)},
    Word{"description", Placeholder::Description, in(Tool)},
    Word{"schema", Placeholder::Schema, in(Tool), Form::Structure},
    Word{"arguments", Placeholder::Arguments, in(ToolCall), Form::Structure},
    Word{"arguments_text", Placeholder::ArgumentsText, in(ToolCall)},
    Word{"is_error", Placeholder::IsError, in(ToolResult)},
    Word{"operation", Placeholder::Operation, in(PollPath)},
    Word{"timestamp", Placeholder::Timestamp, kSigned},
    Word{"nonce", Placeholder::Nonce, kSigned},
    Word{"method", Placeholder::Method, kSigned},
    Word{"host", Placeholder::Host, kSigned},
    Word{"path", Placeholder::Path, kSigned},
    Word{"query", Placeholder::Query, kSigned},
    Word{"body", Placeholder::Body, in(StringToSign)},
    Word{"body_sha256", Placeholder::BodySha256, kSigned},
    Word{"key_id", Placeholder::KeyId, kSigned},
    Word{"signature", Placeholder::Signature, in(SignedHeader)},
};
static_assert(kWords.size() == model::kPlaceholderCount);

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";

// What stands between the braces, taken apart.
struct Hole {
  const Word* word = nullptr;
  bool takes_along = false;
  std::string fallback;
};

ReadTemplate<Hole> read_hole(std::string_view inside, TemplateUse use) {
  Hole hole;
  std::string_view name = inside;
  if (const std::size_t bar = inside.find('|'); bar != std::string_view::npos) {
    name = inside.substr(0, bar);
    hole.fallback = trimmed(inside.substr(bar + 1));
    if (wire::check_json(hole.fallback))
      return std::unexpected("what stands behind '|' in a placeholder must be JSON");
  } else if (inside.ends_with('!')) {
    name.remove_suffix(1);
    hole.takes_along = true;
  }
  name = trimmed(name);
  const auto* const found = std::ranges::find(kWords, name, &Word::word);
  const bool known = found != kWords.end();
  if (!known || (found->uses & bit(use)) == 0) {
    std::string list;
    for (const std::string_view word : placeholder_words(use)) {
      if (!list.empty()) list += ", ";
      list += word;
    }
    std::string message = known ? "the placeholder {{" + std::string(name) + "}} has no meaning here"
                                : std::string("there is no placeholder of that name");
    if (!known && name.size() <= 32) message = "unknown placeholder {{" + std::string(name) + "}}";
    return std::unexpected(std::move(message) + ": known here are " + list);
  }
  hole.word = found;
  return hole;
}

// The place in a text of several lines, for people: "line 2, column 7".
std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::string column = "column " + std::to_string(before.size() - line_start + 1);
  return lines == 0 ? column : "line " + std::to_string(lines + 1) + ", " + column;
}

ReadTemplate<JsonTemplate> read_node(JsonValue value, TemplateUse use);

ReadTemplate<JsonTemplate> read_string(JsonValue value, TemplateUse use) {
  JsonTemplate out;
  const std::string text = value.string();
  if (!text.contains(kOpen)) {
    out.json = value.text();
    return out;
  }
  // JSON behind a '|' may end in braces of its own.
  const bool alone = text.starts_with(kOpen) && text.ends_with(kClose) &&
                     text.find(kOpen, 1) == std::string::npos &&
                     (text.find(kClose) == text.size() - kClose.size() || text.contains('|'));
  if (!alone) {
    auto read = read_text_template(text, use);
    if (!read) return std::unexpected(std::move(read).error());
    out.kind = JsonTemplate::Kind::Text;
    out.text = *std::move(read);
    return out;
  }
  auto hole = read_hole(std::string_view(text).substr(kOpen.size(), text.size() - 4), use);
  if (!hole) return std::unexpected(std::move(hole).error());
  out.kind = JsonTemplate::Kind::Placeholder;
  out.placeholder = hole->word->placeholder;
  out.takes_along = hole->takes_along;
  out.json = std::move(hole->fallback);
  return out;
}

ReadTemplate<JsonTemplate> read_node(JsonValue value, TemplateUse use) {
  if (value.is_string()) return read_string(value, use);
  JsonTemplate out;
  if (value.is_object()) {
    out.kind = JsonTemplate::Kind::Object;
    for (wire::JsonMembers members(value); members.next();) {
      auto inside = read_node(members.value(), use);
      if (!inside) return inside;
      out.keys.push_back(JsonValue("\"" + std::string(members.raw_key()) + "\"").string());
      out.inside.push_back(*std::move(inside));
    }
  } else if (value.is_array()) {
    out.kind = JsonTemplate::Kind::Array;
    for (wire::JsonElements each(value); each.next();) {
      auto inside = read_node(each.value(), use);
      if (!inside) return inside;
      out.inside.push_back(*std::move(inside));
    }
  } else {
    out.json = value.text();
  }
  return out;
}

}  // namespace

ReadTemplate<JsonTemplate> read_json_template(std::string_view text, TemplateUse use) {
  constexpr std::size_t kDepthMax = 32;
  if (const auto error = wire::check_json(text, {.depth_max = kDepthMax})) {
    return std::unexpected("is not JSON in " + place_of(text, error->offset) + ": " + error->reason);
  }
  const JsonValue value(text);
  if (!value.is_object()) return std::unexpected("must be a JSON object");
  return read_node(value, use);
}

ReadTemplate<TextTemplate> read_text_template(std::string_view text, TemplateUse use) {
  TextTemplate out;
  while (!text.empty()) {
    const std::size_t open = text.find(kOpen);
    TextTemplate::Piece piece{.text = std::string(text.substr(0, open)), .placeholder = std::nullopt};
    if (open != std::string_view::npos) {
      const std::size_t close = text.find(kClose, open);
      if (close == std::string_view::npos)
        return std::unexpected("opens a placeholder with {{ and no }} follows");
      auto hole = read_hole(text.substr(open + kOpen.size(), close - open - kOpen.size()), use);
      if (!hole) return std::unexpected(std::move(hole).error());
      if (hole->word->form == Form::Structure) {
        return std::unexpected("{{" + std::string(hole->word->word) +
                               "}} is no text: it must be all that its string holds");
      }
      if (hole->takes_along || !hole->fallback.empty())
        return std::unexpected(
            "'!' and '|' belong to placeholders that are all that their JSON string holds");
      piece.placeholder = hole->word->placeholder;
      text.remove_prefix(close + kClose.size());
    } else {
      text = {};
    }
    out.pieces.push_back(std::move(piece));
  }
  return out;
}

std::vector<std::string_view> placeholder_words(TemplateUse use) {
  std::vector<std::string_view> words;
  for (const Word& word : kWords) {
    if ((word.uses & bit(use)) != 0) words.push_back(word.word);
  }
  return words;
}

}  // namespace qq::providers
