#include "dialects/openai_responses/output.h"

#include <fmt/format.h>

namespace qq::dialects::openai_responses {
namespace {

using Kind = OutputItem::Kind;
using Content = OutputContent::Kind;

std::string_view type_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::Message: return "message";
    case Kind::Reasoning: return "reasoning";
    case Kind::FunctionCall: return "function_call";
    case Kind::CustomCall: return "custom_tool_call";
    case Kind::Image: return "image_generation_call";
    case Kind::Raw: break;
  }
  return "";
}

void write_contents(wire::JsonWriter& json, std::string_view name, const OutputItem& item, bool summaries) {
  json.key(name).begin_array();
  for (const OutputContent& content : item.content) {
    if ((content.kind == Content::Summary) == summaries) write_content(json, content);
  }
  json.end_array();
}

void write_reasoning(wire::JsonWriter& json, const OutputItem& item) {
  write_contents(json, "summary", item, true);
  for (const OutputContent& content : item.content) {
    if (content.kind != Content::Thought) continue;
    write_contents(json, "content", item, false);
    break;
  }
  if (!item.encrypted.empty()) json.member("encrypted_content", item.encrypted);
}

}  // namespace

std::string response_id(std::string_view provider_id, std::string_view request_id) {
  if (provider_id.starts_with("resp_")) return std::string(provider_id);
  return fmt::format("resp_{}", request_id);
}

std::string item_id(Kind kind, std::string_view request_id, std::size_t index) {
  std::string_view prefix;
  switch (kind) {
    case Kind::Message: prefix = "msg"; break;
    case Kind::Reasoning: prefix = "rs"; break;
    case Kind::FunctionCall: prefix = "fc"; break;
    case Kind::CustomCall: prefix = "ctc"; break;
    case Kind::Image: prefix = "ig"; break;
    case Kind::Raw: prefix = "item"; break;
  }
  return fmt::format("{}_{}_{}", prefix, request_id, index);
}

bool continues_reasoning(const OutputItem& last, std::string_view id) noexcept {
  return last.kind == Kind::Reasoning && last.id == id && !id.empty() && last.encrypted.empty();
}

OutputContent::Kind thought_kind(model::ReasoningPart::Kind kind,
                                 const model::ChatRequest& request) noexcept {
  if (kind == model::ReasoningPart::Kind::Summary) return Content::Summary;
  return request.reasoning && request.reasoning->show.value_or(false) ? Content::Summary : Content::Thought;
}

void say_whose(OutputItem& item, model::Dialect maker) {
  if (item.kind == Kind::Reasoning && item.encrypted.empty()) item.encrypted = no_state_field(maker);
}

void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra) {
  for (const model::ExtraField& each : extra) json.any_key(each.key).raw(each.value);
}

void write_content(wire::JsonWriter& json, const OutputContent& content) {
  switch (content.kind) {
    case Content::Raw: json.raw(content.text); return;
    case Content::Refusal:
      json.begin_object().member("type", "refusal").member("refusal", content.text).end_object();
      return;
    case Content::Summary:
      json.begin_object().member("type", "summary_text").member("text", content.text).end_object();
      return;
    case Content::Thought:
      json.begin_object().member("type", "reasoning_text").member("text", content.text).end_object();
      return;
    case Content::Text: break;
  }
  json.begin_object().member("type", "output_text").key("annotations").begin_array();
  for (const model::Json& annotation : content.annotations) json.raw(annotation);
  json.end_array();
  json.raw_member("logprobs", content.logprobs.empty() ? std::string_view("[]") : content.logprobs);
  json.member("text", content.text).end_object();
}

void write_item(wire::JsonWriter& json, const OutputItem& item, std::string_view status) {
  if (item.kind == Kind::Raw) {
    json.raw(item.data);
    return;
  }
  json.begin_object().member("id", item.id).member("type", type_of(item.kind)).member("status", status);
  switch (item.kind) {
    case Kind::Message:
      json.member("role", "assistant");
      write_contents(json, "content", item, false);
      break;
    case Kind::Reasoning: write_reasoning(json, item); break;
    case Kind::FunctionCall:
      json.member("call_id", item.call_id).member("name", item.name).member("arguments", item.data);
      break;
    case Kind::CustomCall:
      json.member("call_id", item.call_id).member("name", item.name).member("input", item.data);
      break;
    case Kind::Image:
      json.key("result");
      if (item.data.empty()) {
        json.null();
      } else {
        json.string(item.data);
      }
      break;
    case Kind::Raw: break;
  }
  write_extra(json, item.extra);
  json.end_object();
}

}  // namespace qq::dialects::openai_responses
