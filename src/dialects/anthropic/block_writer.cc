#include "dialects/anthropic/block_writer.h"

#include "base/base64.h"
#include "base/text.h"
#include "dialects/anthropic/blocks.h"
#include "dialects/calls.h"
#include "dialects/losses.h"
#include "dialects/media.h"

namespace qq::dialects::anthropic {
namespace {

using model::Dialect;
using model::MediaPart;
using model::Part;
using model::Role;

constexpr std::size_t kMarksMost = 4;  // cache_control blocks of a request
constexpr std::string_view kPdf = "application/pdf";

// Of a tool's result: refused, or somebody else's.
bool is_left_out(const Part& inner) {
  if (const auto* text = inner.as<model::TextPart>()) return is_blank(text->text);
  const auto* opaque = inner.as<model::OpaquePart>();
  return opaque != nullptr && opaque->dialect != Dialect::Anthropic;
}

// Those that are written: a thought has no place for one.
std::size_t marks_in(const Part& part) {
  std::size_t marks = part.cache && part.as<model::ReasoningPart>() == nullptr ? 1 : 0;
  if (const auto* result = part.as<model::ToolResultPart>()) {
    for (const Part& inner : result->content) marks += is_left_out(inner) ? 0 : marks_in(inner);
  }
  if (const auto* opaque = part.as<model::OpaquePart>())
    marks += wire::JsonValue(opaque->value).member("cache_control") ? 1 : 0;
  return marks;
}

std::size_t marks_in(const std::vector<const Part*>& parts) {
  std::size_t marks = 0;
  for (const Part* part : parts) marks += marks_in(*part);
  return marks;
}

}  // namespace

bool BlockWriter::choose_marks(const History& history, std::size_t more) {
  std::size_t marks = marks_in(history.system) + more;
  for (const Message& message : history.messages) marks += marks_in(message.parts);
  if (marks <= kMarksMost) return true;
  marks_to_skip_ = marks - kMarksMost;
  return false;
}

void BlockWriter::cache(const std::optional<model::CacheMark>& mark) {
  if (!mark) return;
  if (marks_to_skip_ > 0) {
    --marks_to_skip_;
    return;
  }
  using Ttl = model::CacheMark::Ttl;
  json_.key("cache_control").begin_object().member("type", "ephemeral");
  if (mark->ttl != Ttl::Default) json_.member("ttl", mark->ttl == Ttl::OneHour ? "1h" : "5m");
  json_.end_object();
}

Result<> BlockWriter::message(const Message& message, bool last) {
  const bool assistant = message.role == Role::Assistant;
  json_.begin_object().member("role", assistant                    ? "assistant"
                                      : message.role == Role::User ? "user"
                                                                   : "system");
  json_.key("content").begin_array();
  const bool prefill = assistant && last;
  for (const Part* part : message.parts) {
    if (prefill && part == message.parts.back()) {
      QQ_CHECK(write_prefill(*part));
    } else {
      QQ_CHECK(write_part(*part));
    }
  }
  json_.end_array();
  if (own_ && message.turn != nullptr) write_extra(json_, message.turn->extra);
  json_.end_object();
  return {};
}

// The beginning of an answer must not end with white space.
Result<> BlockWriter::write_prefill(const Part& part) {
  const auto* text = part.as<model::TextPart>();
  if (text == nullptr || !is_space(text->text.back())) return write_part(part);
  losses_.push_back({"messages", loss::kOutOfRange});
  Part cut = part;
  std::string& cut_text = cut.as<model::TextPart>()->text;
  while (is_space(cut_text.back())) cut_text.pop_back();
  return write_part(cut);
}

Result<> BlockWriter::write_part(const Part& part) {
  if (const auto* media = part.as<MediaPart>()) return write_media(*media, part);
  if (const auto* call = part.as<model::ToolCallPart>()) {
    bool wrapped = false;
    json_.begin_object()
        .member("type", "tool_use")
        .member("id", ids_.of_call(*call))
        .member("name", call->name);
    json_.raw_member("input", input_of(*call, wrapped));
    if (wrapped) losses_.push_back({"messages[].tool_calls", loss::kNotJson});
    return end_block(part);
  }
  if (const auto* result = part.as<model::ToolResultPart>()) return write_result(*result, part);
  if (const auto* thought = part.as<model::ReasoningPart>()) {
    const bool redacted = thought->kind == model::ReasoningPart::Kind::Redacted;
    json_.begin_object().member("type", redacted ? "redacted_thinking" : "thinking");
    if (!redacted) json_.member("thinking", thought->text);
    json_.member(redacted ? "data" : "signature", part.state.data).end_object();
  } else if (const auto* opaque = part.as<model::OpaquePart>()) {
    json_.raw(opaque->value);
  } else {
    text(part);
  }
  return {};
}

Result<> BlockWriter::end_block(const Part& part) {
  cache(part.cache);
  if (own_) write_extra(json_, part.extra);
  json_.end_object();
  return {};
}

void BlockWriter::text(const Part& part) {
  json_.begin_object().member("type", "text");
  if (const auto* text = part.as<model::TextPart>()) {
    json_.member("text", text->text);
    if (own_ && !text->citations.empty()) {
      json_.key("citations").begin_array();
      for (const model::Json& citation : text->citations) json_.raw(citation);
      json_.end_array();
    }
  } else if (const auto* refusal = part.as<model::RefusalPart>()) {
    json_.member("text", refusal->text);
  }
  (void)end_block(part);
}

Result<> BlockWriter::write_result(const model::ToolResultPart& result, const Part& part) {
  json_.begin_object().member("type", "tool_result").member("tool_use_id", ids_.of_result(result));
  json_.key("content").begin_array();
  for (const Part& inner : result.content) {
    if (!is_left_out(inner)) QQ_CHECK(write_part(inner));
  }
  json_.end_array();
  if (result.is_error) json_.member("is_error", true);
  return end_block(part);
}

Result<> BlockWriter::write_media(const MediaPart& media, const Part& part) {
  using Source = MediaPart::Source;
  const bool image = media.kind == MediaPart::Kind::Image;
  // Files of text go as text, whatever they came as: only PDF goes as bytes.
  std::optional<std::string> decoded;
  const bool bytes = media.source == Source::Base64;
  if (!image && bytes && is_text_file(media)) decoded = from_base64(media.data);
  std::string_view type = media.media_type;
  if (type.empty()) type = image ? image_type(media.data) : kPdf;
  if (!own_ && !image && bytes && !decoded && type != kPdf) {
    return fail(Error::client(
        ErrorKind::InvalidRequest,
        "files of the type '" + media.media_type + "' are not possible with this model: send a PDF or text",
        "file_data"));
  }
  const bool text = media.source == Source::Text || decoded;
  if (media.source == Source::FileId && !own_)
    return fail(Error::client(ErrorKind::InvalidRequest,
                              "a file of another provider's cannot be read here: send its content",
                              "file_id"));
  json_.begin_object().member("type", image ? "image" : "document");
  json_.key("source").begin_object();
  if (text) {
    json_.member("type", "text")
        .member("media_type", "text/plain")
        .member("data", decoded ? *decoded : media.data);
  } else if (media.source == Source::Base64) {
    json_.member("type", "base64").member("media_type", type).member("data", media.data);
  } else if (media.source == Source::Url) {
    json_.member("type", "url").member("url", media.data);
  } else {
    json_.member("type", "file").member("file_id", media.data);
  }
  json_.end_object();
  if (!image && !media.name.empty()) json_.member("title", media.name);
  return end_block(part);
}

}  // namespace qq::dialects::anthropic
