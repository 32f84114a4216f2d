#include "dialects/openai_responses/input_encode.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/losses.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"
#include "dialects/openai_responses/stateless.h"
#include "dialects/plain_messages.h"

namespace qq::dialects::openai_responses {
namespace {

using model::MediaPart;
using model::Part;
using model::ReasoningPart;

std::string_view word_of(model::Role role) noexcept {
  switch (role) {
    case model::Role::System: return "system";
    case model::Role::Developer: return "developer";
    case model::Role::User: return "user";
    case model::Role::Assistant: return "assistant";
  }
  return "user";
}

bool is_in_message(const Part& part) noexcept {
  if (const auto* opaque = part.as<model::OpaquePart>()) return opaque->type.starts_with(kInMessage);
  return part.as<model::TextPart>() != nullptr || part.as<MediaPart>() != nullptr ||
         part.as<model::RefusalPart>() != nullptr;
}

// A text that may stand as a string, without a list around it.
bool is_bare_text(const Part& part) noexcept {
  const auto* text = part.as<model::TextPart>();
  return text != nullptr && text->citations.empty() && !part.cache;
}

bool holds_opaque_from_elsewhere(const Part& part) noexcept {
  const auto* opaque = part.as<model::OpaquePart>();
  return opaque != nullptr && opaque->dialect != kDialect;
}

// Of an item that the provider ran itself.
bool keeps_its_id(const Part& part) noexcept {
  const auto* opaque = part.as<model::OpaquePart>();
  return opaque != nullptr && opaque->dialect == kDialect && !is_in_message(part) &&
         !is_id_to_spare(opaque->type);
}

std::string data_url(const MediaPart& media, std::string_view otherwise) {
  const std::string_view type = media.media_type.empty() ? otherwise : std::string_view(media.media_type);
  return fmt::format("data:{};base64,{}", type, media.data);
}

}  // namespace

bool InputWriter::native() const noexcept {
  return request_.dialect == kDialect;
}

std::string InputWriter::place() const {
  switch (request_.dialect) {
    case model::Dialect::Gemini: return fmt::format("contents[{}]", turn_);
    case kDialect: return fmt::format("input[{}]", turn_);
    default: return fmt::format("messages[{}]", turn_);
  }
}

void InputWriter::lose(std::string_view what, std::string_view why) {
  losses_.push_back({fmt::format("{}.{}", place(), what), why});
}

void InputWriter::write_extra(const Part& part) {
  if (!native()) return;
  for (const model::ExtraField& extra : part.extra) json_.any_key(extra.key).raw(extra.value);
}

Result<> InputWriter::write_media(const MediaPart& media) {
  const bool image = media.kind == MediaPart::Kind::Image;
  const bool ours = native() || request_.dialect == model::Dialect::OpenAiChat;
  if (media.source == MediaPart::Source::FileId && !ours) {
    return fail(invalid("a file that lies at another provider cannot be given to this model; send its bytes",
                        place(), "unsupported_value"));
  }
  json_.begin_object();
  if (media.kind == MediaPart::Kind::Audio) {  // for the providers that take it
    std::string_view format = media.media_type;
    if (format.starts_with("audio/")) format.remove_prefix(6);
    json_.member("type", "input_audio").key("input_audio").begin_object().member("data", media.data);
    if (!format.empty()) json_.member("format", format);
    json_.end_object();
    return {};
  }
  switch (media.source) {
    case MediaPart::Source::Text:
      lose("content", loss::kNearest);
      json_.member("type", "input_text").member("text", media.data);
      return {};
    case MediaPart::Source::FileId:
      json_.member("type", image ? "input_image" : "input_file").member("file_id", media.data);
      break;
    case MediaPart::Source::Url:
      json_.member("type", image ? "input_image" : "input_file");
      json_.member(image ? "image_url" : "file_url", media.data);
      break;
    case MediaPart::Source::Base64:
      json_.member("type", image ? "input_image" : "input_file");
      if (image) {
        json_.member("image_url", data_url(media, "image/png"));
      } else {
        json_.member("file_data", media.media_type.empty() ? media.data : data_url(media, {}));
      }
      break;
  }
  if (!image && !media.name.empty()) {
    json_.member("filename", media.name);
  } else if (!image && media.source == MediaPart::Source::Base64 && !native()) {
    json_.member("filename", media.media_type == "application/pdf" ? "document.pdf" : "document");
  }
  if (!media.detail.empty()) json_.member("detail", media.detail);
  return {};
}

Result<> InputWriter::write_content_part(const Part& part, bool assistant) {
  if (const auto* opaque = part.as<model::OpaquePart>()) {
    json_.raw(opaque->value);
    return {};
  }
  if (const auto* text = part.as<model::TextPart>()) {
    json_.begin_object().member("type", assistant ? "output_text" : "input_text").member("text", text->text);
    if (assistant) {
      json_.key("annotations").begin_array();
      if (native()) {
        for (const model::Json& annotation : text->citations) json_.raw(annotation);
      }
      json_.end_array();
    }
  } else if (const auto* refusal = part.as<model::RefusalPart>()) {
    if (assistant) {
      json_.begin_object().member("type", "refusal").member("refusal", refusal->text);
    } else {
      json_.begin_object().member("type", "input_text").member("text", refusal->text);
    }
  } else if (const auto* media = part.as<MediaPart>()) {
    QQ_CHECK(write_media(*media));
  }
  if (part.cache && native()) {
    json_.key("prompt_cache_breakpoint").begin_object().member("mode", "explicit").end_object();
  }
  json_.end_object();
  return {};
}

Result<std::size_t> InputWriter::write_message(const model::Turn& turn, std::size_t at) {
  const auto& parts = turn.parts;
  const bool assistant = turn.role == model::Role::Assistant;
  std::size_t end = at;
  while (end < parts.size() && is_in_message(parts[end])) ++end;
  json_.begin_object().member("type", "message").member("role", word_of(turn.role)).key("content");
  if (end - at == 1 && is_bare_text(parts[at])) {
    json_.string(parts[at].as<model::TextPart>()->text);
  } else {
    json_.begin_array();
    for (std::size_t i = at; i < end; ++i) {
      if (holds_opaque_from_elsewhere(parts[i])) continue;
      if (assistant && parts[i].as<MediaPart>() != nullptr) {
        lose("content", loss::kForeignPart);
        continue;
      }
      QQ_CHECK(write_content_part(parts[i], assistant));
    }
    json_.end_array();
  }
  // What a message says beside its content was put to its first part.
  write_extra(parts[at]);
  json_.end_object();
  return end;
}

// One item of all the thoughts that go together: those of one id, up to the one that has the state. A sealed
// one says all that its provider needs, and goes without its id as the items around it do: OpenAI refuses a
// thought that it knows by its id beside calls and messages that it does not ("without its required following
// item"). Without one it takes a thought though its schema wants it: 64bit/async-openai#535, NousResearch/
// hermes-agent#10217, and Codex sends all of them so; dotnet/extensions#7629 says otherwise. Beside an item
// that cannot do without its id it keeps its own, which that one is known to belong to.
std::size_t InputWriter::write_reasoning(const Parts& parts, std::size_t at) {
  const std::string& id = parts[at].as<ReasoningPart>()->id;
  const Part* sealed = nullptr;
  std::size_t end = at;
  while (end < parts.size() && sealed == nullptr) {
    const auto* thought = parts[end].as<ReasoningPart>();
    if (thought == nullptr || thought->id != id) break;
    if (!parts[end].state.empty()) sealed = &parts[end];
    ++end;
  }
  const bool ours = sealed != nullptr && sealed->state.maker == kDialect;
  const bool is_from_elsewhere = !native() || parts[at].state.maker != kDialect;
  if (!ours && (is_from_elsewhere || sealed != nullptr)) {
    // Only its maker knows what to do with it; a state that is foreign is reported by the table.
    if (sealed == nullptr) lose("reasoning", loss::kForeignState);
    return end;
  }
  json_.begin_object().member("type", "reasoning");
  if (!id.empty() && (!ours || turn_keeps_ids_)) json_.member("id", id);
  for (const bool summaries : {true, false}) {
    bool open = summaries;  // `summary` must be there, `content` need not
    if (open) json_.key("summary").begin_array();
    for (std::size_t i = at; i < end; ++i) {
      const auto* thought = parts[i].as<ReasoningPart>();
      // OpenAI's own thoughts are never told, only their summaries; other dialects' clients don't know that.
      const bool is_summary = thought->kind == ReasoningPart::Kind::Summary || !native();
      if (thought->text.empty() || is_summary != summaries) continue;
      if (!std::exchange(open, true)) json_.key("content").begin_array();
      json_.begin_object().member("type", summaries ? "summary_text" : "reasoning_text");
      json_.member("text", thought->text).end_object();
    }
    if (open) json_.end_array();
  }
  if (ours) json_.member("encrypted_content", sealed->state.data);
  json_.end_object();
  return end;
}

// What the provider ran itself, as it came.
void InputWriter::write_opaque(const model::OpaquePart& item) {
  if (!is_id_to_spare(item.type)) {
    json_.raw(item.value);
    return;
  }
  json_.begin_object();
  for (wire::JsonMembers members{wire::JsonValue(item.value)}; members.next();) {
    if (!members.key_is("id")) json_.raw_member(members.raw_key(), members.value().text());
  }
  json_.end_object();
}

void InputWriter::write_call(const Part& part, const model::ToolCallPart& call) {
  const bool custom = call.kind == model::ToolCallPart::Kind::Custom;
  json_.begin_object().member("type", custom ? "custom_tool_call" : "function_call");
  json_.member("call_id", ids_.of_call(call)).member("name", call.name);
  if (custom) {
    json_.member("input", call.arguments);
  } else {
    const bool empty = call.arguments.empty() || call.arguments == "null";
    json_.member("arguments", empty ? std::string_view("{}") : call.arguments);
  }
  write_extra(part);
  json_.end_object();
}

Result<> InputWriter::write_result(const Part& part, const model::ToolResultPart& result) {
  if (result.is_error) lose("is_error", loss::kNoSuchField);
  json_.begin_object();
  const bool typed = native() && !part.extra.empty() && part.extra.back().key == "type";
  if (!typed) {
    json_.member("type", ids_.is_custom(result.call_id) ? "custom_tool_call_output" : "function_call_output");
  }
  json_.member("call_id", ids_.of_result(result)).key("output");
  if (result.content.empty()) {
    json_.string({});
  } else if (result.content.size() == 1 && is_bare_text(result.content.front())) {
    json_.string(result.content.front().as<model::TextPart>()->text);
  } else {
    json_.begin_array();
    for (const Part& inner : result.content) {
      if (!is_in_message(inner) || holds_opaque_from_elsewhere(inner)) {
        if (const auto words = text_of_opaque(inner))
          json_.begin_object().member("type", "input_text").member("text", *words).end_object();
        lose("content", loss::kForeignPart);
        continue;
      }
      QQ_CHECK(write_content_part(inner, false));
    }
    json_.end_array();
  }
  write_extra(part);
  json_.end_object();
  return {};
}

Result<std::size_t> InputWriter::write_item(const model::Turn& turn, std::size_t at) {
  const Part& part = turn.parts[at];
  if (const auto* opaque = part.as<model::OpaquePart>()) {
    // Others' are reported by the table.
    if (opaque->dialect != kDialect) return at + 1;
    if (!is_in_message(part)) {
      write_opaque(*opaque);
      return at + 1;
    }
  }
  if (is_in_message(part)) return write_message(turn, at);
  if (part.as<ReasoningPart>() != nullptr) return write_reasoning(turn.parts, at);
  if (const auto* call = part.as<model::ToolCallPart>()) write_call(part, *call);
  if (const auto* result = part.as<model::ToolResultPart>()) QQ_CHECK(write_result(part, *result));
  return at + 1;
}

Result<> InputWriter::write(const model::Turn& turn, std::size_t index) {
  turn_ = index;
  turn_keeps_ids_ = std::ranges::any_of(turn.parts, keeps_its_id);
  for (std::size_t at = 0; at < turn.parts.size();) {
    QQ_TRY(at, write_item(turn, at));
  }
  return {};
}

}  // namespace qq::dialects::openai_responses
