#include "dialects/bedrock/block_writer.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/text.h"
#include "dialects/calls.h"
#include "dialects/plain_messages.h"

namespace qq::dialects::bedrock {
namespace {

using model::MediaPart;
using model::Part;
using Source = MediaPart::Source;

constexpr std::size_t kMarksMost = 4;

struct Format {
  std::string_view media_type;
  std::string_view word;
};
// ImageBlock, VideoBlock and DocumentBlock, by media type; what is not named goes by what follows the slash.
constexpr std::array<Format, 14> kFormats{{
    {"image/jpg", "jpeg"},
    {"video/quicktime", "mov"},
    {"video/x-matroska", "mkv"},
    {"video/x-flv", "flv"},
    {"video/x-ms-wmv", "wmv"},
    {"video/3gpp", "three_gp"},
    {"text/plain", "txt"},
    {"text/markdown", "md"},
    {"text/x-markdown", "md"},
    {"application/msword", "doc"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"},
    {"application/vnd.ms-excel", "xls"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
    {"application/csv", "csv"},
}};
constexpr std::array<std::string_view, 4> kImages{"png", "jpeg", "gif", "webp"};
constexpr std::array<std::string_view, 9> kVideos{"mkv",  "mov", "mp4", "webm",    "flv",
                                                  "mpeg", "mpg", "wmv", "three_gp"};
constexpr std::array<std::string_view, 9> kDocuments{"pdf",  "csv",  "doc", "docx", "xls",
                                                     "xlsx", "html", "txt", "md"};

bool is_one_of(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The word for what `media` is; empty if Converse has none.
std::string_view format_of(const MediaPart& media) noexcept {
  const std::string_view type = media.media_type;
  const auto named = std::ranges::find(kFormats, type, &Format::media_type);
  const std::string_view rest = type.substr(std::min(type.find('/') + 1, type.size()));
  const std::string_view word = named != kFormats.end() ? named->word : rest;
  switch (media.kind) {
    case MediaPart::Kind::Image: return type.empty() ? "png" : is_one_of(kImages, word) ? word : "";
    case MediaPart::Kind::Video: return type.empty() ? "mp4" : is_one_of(kVideos, word) ? word : "";
    case MediaPart::Kind::Audio: return "";
    case MediaPart::Kind::File: break;
  }
  if (is_one_of(kDocuments, word)) return word;
  const std::string_view name = media.name;
  const std::string_view ending = name.substr(std::min(name.rfind('.') + 1, name.size()));
  if (is_one_of(kDocuments, ending)) return ending;
  if (media.source == Source::Text || type.starts_with("text/")) return "txt";
  return type.empty() ? "pdf" : "";
}

// A thought has no place for a mark behind it.
bool is_marked(const Part& part) noexcept {
  if (part.as<model::ReasoningPart>() != nullptr) return false;
  if (part.cache) return true;
  const auto* result = part.as<model::ToolResultPart>();
  return result != nullptr && std::ranges::any_of(result->content, is_marked);
}

std::optional<model::CacheMark> mark_of(const Part& part) noexcept {
  if (!is_marked(part)) return std::nullopt;
  if (part.cache) return part.cache;
  return model::CacheMark{};
}

bool is_document(const Part& part) noexcept {
  const auto* media = part.as<MediaPart>();
  return media != nullptr && media->kind == MediaPart::Kind::File;
}

std::unexpected<Error> refused(std::string text, std::string_view field) {
  return fail(Error::client(ErrorKind::InvalidRequest, std::move(text), std::string(field)));
}

}  // namespace

void BlockWriter::lose(Field field, std::string_view why) {
  losses_.push_back({std::string(name_of(field, request_.dialect)), why});
}

// ---- Cache marks

void BlockWriter::choose_marks(const anthropic::History& history, std::size_t on_tools) {
  // Only what will be written counts: see message().
  const Part& end = *history.messages.back().parts.back();
  std::size_t marks = on_tools + (request_.cache && !is_marked(end) && !is_document(end) ? 1 : 0);
  for (const Part* part : history.system) marks += is_marked(*part) ? 1 : 0;
  for (const anthropic::Message& message : history.messages) {
    for (const Part* part : message.parts) {
      const bool first_document = part == message.parts.front() && is_document(*part);
      marks += is_marked(*part) && !first_document ? 1 : 0;
    }
  }
  if (marks <= kMarksMost || !family_.caches) return;
  marks_to_skip_ = marks - kMarksMost;
  lose(Field::CacheMarks, loss::kTooMany);
}

void BlockWriter::cache_point(const std::optional<model::CacheMark>& mark, bool allowed) {
  if (!mark) return;
  if (!allowed) {
    if (!std::exchange(marks_lost_, true)) lose(Field::CacheMarks, loss::kNoSuchField);
    return;
  }
  if (marks_to_skip_ > 0) {
    --marks_to_skip_;
    return;
  }
  using Ttl = model::CacheMark::Ttl;
  json_.begin_object().key("cachePoint").begin_object().member("type", "default");
  if (mark->ttl == Ttl::OneHour) json_.member("ttl", "1h");
  json_.end_object().end_object();
}

// ---- Blocks

Result<> BlockWriter::message(const anthropic::Message& message, bool last) {
  const bool assistant = message.role == model::Role::Assistant;
  json_.begin_object().member("role", assistant ? "assistant" : "user");
  json_.key("content").begin_array();
  bool has_document = false;
  bool has_text = false;
  for (const Part* part : message.parts) {
    has_text |= part->as<model::TextPart>() != nullptr;
    has_document |= is_document(*part);
    // A cachePoint behind a document is refused, and one that stands first.
    if (is_document(*part)) cache_point(mark_of(*part), family_.caches && part != message.parts.front());
    if (assistant && last && part == message.parts.back()) {
      prefill(*part);
    } else {
      QQ_CHECK(write_part(*part));
    }
    if (!is_document(*part)) cache_point(mark_of(*part), family_.caches);
  }
  // A document needs a text beside it.
  if (has_document && !has_text) json_.begin_object().member("text", ".").end_object();
  // Two cachePoints in a row say no more than one.
  const Part& end = *message.parts.back();
  if (last && !is_marked(end)) cache_point(request_.cache, family_.caches && !is_document(end));
  json_.end_array().end_object();
  return {};
}

// The beginning of an answer must not end with white space.
void BlockWriter::prefill(const Part& part) {
  const auto* text = part.as<model::TextPart>();
  if (text == nullptr || !is_space(text->text.back())) {
    (void)write_part(part);  // no media: an assistant has none
    return;
  }
  losses_.push_back({"messages", loss::kOutOfRange});
  std::string_view cut = text->text;
  while (is_space(cut.back())) cut.remove_suffix(1);
  json_.begin_object().member("text", cut).end_object();
}

void BlockWriter::text(const Part& part) {
  const auto* text = part.as<model::TextPart>();
  const auto* refusal = part.as<model::RefusalPart>();
  if (text == nullptr && refusal == nullptr) return;
  json_.begin_object().member("text", text != nullptr ? text->text : refusal->text).end_object();
}

Result<> BlockWriter::write_part(const Part& part) {
  if (const auto* medium = part.as<MediaPart>()) return media(*medium);
  if (const auto* answered = part.as<model::ToolResultPart>()) return result(*answered);
  if (const auto* call = part.as<model::ToolCallPart>()) {
    bool wrapped = false;
    json_.begin_object().key("toolUse").begin_object();
    json_.member("toolUseId", ids_.of_call(*call)).member("name", call->name);
    json_.raw_member("input", input_of(*call, wrapped)).end_object().end_object();
    if (wrapped) losses_.push_back({"messages[].tool_calls", loss::kNotJson});
  } else if (const auto* thinking = part.as<model::ReasoningPart>()) {
    thought(*thinking, part);
  } else if (const auto* opaque = part.as<model::OpaquePart>()) {
    json_.raw(opaque->value);
  } else {
    text(part);
  }
  return {};
}

void BlockWriter::thought(const model::ReasoningPart& thought, const Part& part) {
  json_.begin_object().key("reasoningContent").begin_object();
  if (thought.kind == model::ReasoningPart::Kind::Redacted) {
    json_.member("redactedContent", part.state.data);
  } else {
    json_.key("reasoningText").begin_object().member("text", thought.text);
    json_.member("signature", part.state.data).end_object();
  }
  json_.end_object().end_object();
}

Result<> BlockWriter::result(const model::ToolResultPart& result) {
  json_.begin_object().key("toolResult").begin_object();
  json_.member("toolUseId", ids_.of_result(result)).key("content").begin_array();
  bool any = false;
  for (const Part& inner : result.content) {
    if (const auto* words = inner.as<model::TextPart>(); words != nullptr && trimmed(words->text).empty())
      continue;
    if (const auto words = text_of_opaque(inner)) {
      json_.begin_object().member("text", *words).end_object();
      any = true;
      continue;
    }
    if (inner.as<model::TextPart>() == nullptr && inner.as<MediaPart>() == nullptr) continue;
    QQ_CHECK(write_part(inner));
    any = true;
  }
  // Blank texts are refused, and so are results without any content by some families.
  if (!any) json_.begin_object().member("text", ".").end_object();
  json_.end_array();
  if (result.is_error) json_.member("status", "error");
  json_.end_object().end_object();
  return {};
}

// ---- Media

Result<> BlockWriter::media(const MediaPart& media) {
  using Kind = MediaPart::Kind;
  const std::string_view field = name_of(media.kind == Kind::Image   ? Field::ImageInput
                                         : media.kind == Kind::Video ? Field::VideoInput
                                                                     : Field::FileInput,
                                         request_.dialect);
  if (media.source == Source::FileId)
    return refused("a file of another provider's cannot be read here: send its content", field);
  if (media.source == Source::Url && !media.data.starts_with("s3://"))
    return refused("this model's provider fetches no URLs: send the content itself", field);
  const std::string_view format = format_of(media);
  if (format.empty())
    return refused("media of the type '" + media.media_type + "' are not possible with this model", field);
  const std::string_view word = media.kind == Kind::Image   ? "image"
                                : media.kind == Kind::Video ? "video"
                                                            : "document";
  json_.begin_object().key(word).begin_object().member("format", format);
  if (media.kind == Kind::File) json_.member("name", document_name(media));
  source(media);
  json_.end_object().end_object();
  return {};
}

void BlockWriter::source(const MediaPart& media) {
  json_.key("source").begin_object();
  if (media.source == Source::Url) {
    json_.key("s3Location").begin_object().member("uri", media.data).end_object();
  } else {
    json_.member("bytes", media.source == Source::Text ? to_base64(media.data) : media.data);
  }
  json_.end_object();
}

// Letters, digits, single spaces, hyphens and brackets, at most 200 of them; no name comes twice.
std::string BlockWriter::document_name(const MediaPart& media) {
  constexpr std::size_t kNameMost = 190;
  std::string name;
  for (const char c : std::string_view(media.name).substr(0, media.name.rfind('.'))) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-()[]").find(c) != std::string_view::npos;
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != ' ') name += ' ';
    if (name.size() == kNameMost) break;
  }
  name = trimmed(name);
  if (name.empty()) name = "Document";
  number_ = std::max(number_, ++documents_);
  std::string made = name;
  while (!names_.insert(made).second) made = name + " " + std::to_string(number_++);
  return made;
}

}  // namespace qq::dialects::bedrock
