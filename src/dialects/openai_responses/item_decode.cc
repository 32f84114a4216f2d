#include "dialects/media.h"
#include "dialects/openai_responses/answer_decode.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"

namespace qq::dialects::openai_responses {
namespace {

using model::MediaPart;
using model::Part;
using model::ReasoningPart;
using model::ToolCallPart;
using wire::JsonValue;

std::unexpected<Error> missing(std::string_view name) {
  return fail(
      invalid("'" + std::string(name) + "' is missing", std::string(name), "missing_required_parameter"));
}

void take_url(std::string_view url, MediaPart& media) {
  MediaPart of_url = media_of_url(media.kind, url);
  media.source = of_url.source;
  media.data = std::move(of_url.data);
  if (!of_url.media_type.empty()) media.media_type = std::move(of_url.media_type);
}

struct ContentMembers {
  JsonValue type, text, annotations, logprobs, refusal, image_url, file_id, detail, file_data, file_url,
      filename, input_audio, breakpoint;
};

Result<MediaPart> decode_image(const ContentMembers& of) {
  MediaPart media{.kind = MediaPart::Kind::Image};
  QQ_TRY(media.detail, string_of(of.detail, "detail"));
  QQ_TRY(std::string url, string_of(of.image_url, "image_url"));
  QQ_TRY(std::string file_id, string_of(of.file_id, "file_id"));
  if (!url.empty()) {
    take_url(url, media);
  } else if (!file_id.empty()) {
    media.source = MediaPart::Source::FileId;
    media.data = std::move(file_id);
  } else {
    return missing("image_url");
  }
  return media;
}

Result<MediaPart> decode_file(const ContentMembers& of) {
  MediaPart media{.kind = MediaPart::Kind::File};
  QQ_TRY(media.name, string_of(of.filename, "filename"));
  QQ_TRY(media.detail, string_of(of.detail, "detail"));
  QQ_TRY(std::string data, string_of(of.file_data, "file_data"));
  QQ_TRY(std::string url, string_of(of.file_url, "file_url"));
  QQ_TRY(std::string file_id, string_of(of.file_id, "file_id"));
  if (data.starts_with("data:")) {
    take_url(data, media);
  } else if (!data.empty()) {
    media.data = std::move(data);
  } else if (!url.empty()) {
    take_url(url, media);
  } else if (!file_id.empty()) {
    media.source = MediaPart::Source::FileId;
    media.data = std::move(file_id);
  } else {
    return missing("file_data");
  }
  return media;
}

Result<MediaPart> decode_audio(const ContentMembers& of) {
  MediaPart media{.kind = MediaPart::Kind::Audio};
  JsonValue data;
  JsonValue format;
  QQ_CHECK(must_be_object(of.input_audio, "input_audio"));
  QQ_CHECK(read_members(of.input_audio, {{"data", &data}, {"format", &format}}));
  if (absent(data)) return missing("input_audio.data");
  QQ_TRY(media.data, string_of(data, "input_audio.data"));
  QQ_TRY(const std::string word, string_of(format, "input_audio.format"));
  if (!word.empty()) media.media_type = "audio/" + word;
  return media;
}

Result<Part> decode_content_part(JsonValue value, model::Json* logprobs) {
  if (!value.is_object()) return fail(invalid("a content part must be an object", "", "invalid_type"));
  ContentMembers of;
  model::ExtraFields others;
  QQ_CHECK(read_members(value,
                        {{"type", &of.type},
                         {"text", &of.text},
                         {"annotations", &of.annotations},
                         {"logprobs", &of.logprobs},
                         {"refusal", &of.refusal},
                         {"image_url", &of.image_url},
                         {"file_id", &of.file_id},
                         {"detail", &of.detail},
                         {"file_data", &of.file_data},
                         {"file_url", &of.file_url},
                         {"filename", &of.filename},
                         {"input_audio", &of.input_audio},
                         {"prompt_cache_breakpoint", &of.breakpoint}},
                        &others));
  QQ_TRY(const std::string type, string_of(of.type, "type"));
  Part part;
  if (type == "input_text" || type == "output_text" || type == "text") {
    if (absent(of.text)) return missing("text");
    model::TextPart text;
    QQ_TRY(text.text, string_of(of.text, "text"));
    for (wire::JsonElements each(of.annotations); each.next();)
      text.citations.emplace_back(each.value().text());
    if (logprobs != nullptr && of.logprobs.is_array()) append_logprobs(*logprobs, of.logprobs.text());
    part.is = std::move(text);
  } else if (type == "refusal") {
    model::RefusalPart refusal;
    QQ_TRY(refusal.text, string_of(of.refusal, "refusal"));
    part.is = std::move(refusal);
  } else if (type == "input_image") {
    QQ_TRY(part.is, decode_image(of));
  } else if (type == "input_file") {
    QQ_TRY(part.is, decode_file(of));
  } else if (type == "input_audio") {
    QQ_TRY(part.is, decode_audio(of));
  } else if (type.empty()) {
    return missing("type");
  } else {
    return Part(model::OpaquePart{
        .dialect = kDialect, .type = std::string(kInMessage) + type, .value = std::string(value.text())});
  }
  if (!absent(of.breakpoint)) part.cache.emplace();
  part.extra = std::move(others);
  return part;
}

Result<DecodedItem> decode_message(JsonValue item) {
  JsonValue type, role, content, id, status;
  model::ExtraFields others;  // `phase`
  QQ_CHECK(read_members(
      item, {{"type", &type}, {"role", &role}, {"content", &content}, {"id", &id}, {"status", &status}},
      &others));
  DecodedItem out{.kind = DecodedItem::Kind::Message};
  QQ_TRY(const std::string word, string_of(role, "role"));
  if (word == "user") {
    out.role = model::Role::User;
  } else if (word == "system") {
    out.role = model::Role::System;
  } else if (word == "developer") {
    out.role = model::Role::Developer;
  } else if (word != "assistant") {
    return fail(invalid("'role' must be user, assistant, system or developer", "role", "invalid_value"));
  }
  if (absent(content)) return missing("content");
  QQ_TRY(out.parts, decode_content(content, "content", &out.logprobs));
  if (!out.parts.empty()) {
    for (model::ExtraField& other : others) out.parts.front().extra.push_back(std::move(other));
  }
  return out;
}

void append_thoughts(JsonValue list, ReasoningPart::Kind kind, const std::string& id,
                     std::vector<Part>& parts) {
  for (wire::JsonElements each(list); each.next();) {
    const auto text = each.value().member("text");
    if (!text || text->raw_string().empty()) continue;
    parts.emplace_back(ReasoningPart{.kind = kind, .text = text->string(), .id = id});
  }
}

Result<DecodedItem> decode_reasoning(JsonValue item) {
  JsonValue id, summary, content, encrypted;
  QQ_CHECK(read_members(
      item, {{"id", &id}, {"summary", &summary}, {"content", &content}, {"encrypted_content", &encrypted}}));
  QQ_CHECK(must_be_array(summary, "summary"));
  QQ_CHECK(must_be_array(content, "content"));
  DecodedItem out{.kind = DecodedItem::Kind::Reasoning};
  QQ_TRY(const std::string name, string_of(id, "id"));
  QQ_TRY(const std::string sealed, string_of(encrypted, "encrypted_content"));
  const model::OpaqueState state = state_of_field(sealed, kDialect);
  // Another provider's thoughts were put where this dialect has a place for them: they are no summary.
  const bool native = state.maker == kDialect;
  append_thoughts(summary, native ? ReasoningPart::Kind::Summary : ReasoningPart::Kind::Full, name,
                  out.parts);
  append_thoughts(content, ReasoningPart::Kind::Full, name, out.parts);
  if (!state.empty()) {
    if (out.parts.empty())
      out.parts.emplace_back(ReasoningPart{.kind = ReasoningPart::Kind::Redacted, .id = name});
    out.parts.back().state = state;
  } else if (out.parts.empty() && native) {
    // Only a name of what the provider keeps.
    out.parts.emplace_back(
        model::OpaquePart{.dialect = kDialect, .type = "reasoning", .value = std::string(item.text())});
  }
  // Also of one without a state it matters whose it is.
  for (Part& part : out.parts) part.state.maker = state.maker;
  return out;
}

Result<DecodedItem> decode_call(JsonValue item, bool custom, std::string_view made_id = {}) {
  JsonValue type, call_id, name, arguments, id, status;
  model::ExtraFields others;  // `namespace`, `caller`
  QQ_CHECK(read_members(item,
                        {{"type", &type},
                         {"call_id", &call_id},
                         {"name", &name},
                         {custom ? "input" : "arguments", &arguments},
                         {"id", &id},
                         {"status", &status}},
                        &others));
  ToolCallPart call{.kind = custom ? ToolCallPart::Kind::Custom : ToolCallPart::Kind::Function};
  if (absent(call_id) && made_id.empty()) return missing("call_id");
  QQ_TRY(std::string full_id, string_of(call_id, "call_id"));
  if (full_id.empty()) full_id = made_id;
  QQ_TRY(call.name, string_of(name, "name"));
  if (call.name.empty()) return missing("name");
  if (arguments.is_object()) {
    call.arguments = arguments.text();
  } else {
    QQ_TRY(call.arguments, string_of(arguments, custom ? "input" : "arguments"));
  }
  if (!custom && (call.arguments.empty() || call.arguments == "null")) call.arguments = "{}";
  DecodedItem out{.kind = DecodedItem::Kind::Call};
  CarriedId taken = take_carried(full_id);
  call.id = std::move(taken.id);
  out.carried = std::move(taken.carried);
  Part& part = out.parts.emplace_back(std::move(call));
  part.state = out.carried.call;
  part.extra = std::move(others);
  return out;
}

Result<DecodedItem> decode_result(JsonValue item, bool custom) {
  JsonValue type, call_id, name, output, id, status;
  model::ExtraFields others;
  QQ_CHECK(read_members(item,
                        {{"type", &type},
                         {"call_id", &call_id},
                         {"name", &name},
                         {"output", &output},
                         {"id", &id},
                         {"status", &status}},
                        &others));
  model::ToolResultPart result;
  if (absent(call_id)) return missing("call_id");
  QQ_TRY(const std::string full_id, string_of(call_id, "call_id"));
  QQ_TRY(result.name, string_of(name, "name"));
  if (absent(output)) return missing("output");
  result.call_id = take_carried(full_id).id;
  if (output.raw_string().empty() && output.is_string()) {
    // Nothing came of it.
  } else {
    QQ_TRY(result.content, decode_content(output, "output"));
  }
  DecodedItem out{.kind = DecodedItem::Kind::Result, .role = model::Role::User, .custom = custom};
  out.parts.emplace_back(std::move(result)).extra = std::move(others);
  return out;
}

// Who says an item that is nothing but this dialect's.
bool is_callers(std::string_view type) noexcept {
  return type.ends_with("_output") || type == "mcp_approval_response" || type == "additional_tools" ||
         type == "compaction_trigger";
}

DecodedItem opaque_item(JsonValue item, std::string type) {
  DecodedItem out;
  if (is_callers(type)) out.role = model::Role::User;
  if (type.empty()) type = "item_reference";
  out.parts.emplace_back(
      model::OpaquePart{.dialect = kDialect, .type = std::move(type), .value = std::string(item.text())});
  return out;
}

}  // namespace

Result<std::vector<Part>> decode_content(JsonValue content, std::string_view name, model::Json* logprobs) {
  std::vector<Part> parts;
  if (content.is_string()) {
    parts.emplace_back(model::TextPart{.text = content.string(), .citations = {}});
    return parts;
  }
  if (!content.is_array()) {
    return fail(invalid("'" + std::string(name) + "' must be a string or an array of content parts",
                        std::string(name), "invalid_type"));
  }
  std::size_t index = 0;
  for (wire::JsonElements each(content); each.next(); ++index) {
    auto part = decode_content_part(each.value(), logprobs);
    if (!part) return fail(within(std::move(part).error(), name, index));
    parts.push_back(*std::move(part));
  }
  return parts;
}

Result<DecodedItem> decode_item(JsonValue item) {
  if (!item.is_object()) return fail(invalid("an item must be an object", "", "invalid_type"));
  JsonValue type_value, role, id;
  QQ_CHECK(read_members(item, {{"type", &type_value}, {"role", &role}, {"id", &id}}));
  QQ_TRY(std::string type, string_of(type_value, "type"));
  if (type == "message" || (type.empty() && !absent(role))) return decode_message(item);
  if (type == "reasoning") return decode_reasoning(item);
  if (type == "function_call") return decode_call(item, false);
  if (type == "custom_tool_call") return decode_call(item, true);
  if (type == "function_call_output") return decode_result(item, false);
  if (type == "custom_tool_call_output") return decode_result(item, true);
  if (type.empty() && absent(id)) return missing("type");
  return opaque_item(item, std::move(type));
}

DecodedItem decode_output_item(JsonValue item, std::string_view made_call_id) {
  const auto type = item.member("type");
  const std::string_view word = type ? type->raw_string() : std::string_view();
  const bool is_call = word == "function_call" || word == "custom_tool_call";
  auto decoded = is_call ? decode_call(item, word == "custom_tool_call", made_call_id) : decode_item(item);
  if (decoded) return *std::move(decoded);
  return opaque_item(item, type ? type->string() : std::string());
}

}  // namespace qq::dialects::openai_responses
