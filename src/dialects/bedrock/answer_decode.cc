// A provider's whole answer. What has no place in the neutral answer stays as ExtraFields.
#include <fmt/format.h>

#include "dialects/bedrock/sides.h"
#include "dialects/empty_answer.h"
#include "dialects/made_ids.h"
#include "dialects/provider_json.h"

namespace qq::dialects::bedrock {
namespace {

using model::Part;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

std::string text_of(const std::optional<JsonValue>& value) {
  return value ? value->string() : std::string();
}

class BlockDecoder {
 public:
  BlockDecoder(std::string_view id_seed, std::vector<Part>& parts) : id_seed_(id_seed), parts_(parts) {}

  // A block is an object of one member, whose key says what it is.
  void take(JsonValue block) {
    JsonMembers members(block);
    if (!members.next()) return;
    const JsonValue value = members.value();
    const std::string_view kind = members.raw_key();
    if (kind == "text") {
      parts_.emplace_back(model::TextPart{.text = value.string(), .citations = {}});
    } else if (kind == "toolUse" && !is_own(value)) {
      call(value);
    } else if (kind == "reasoningContent") {
      thought(value);
    } else if (kind == "image") {
      image(value);
    } else if (kind == "citationsContent") {
      cited(value);
    } else {
      parts_.emplace_back(
          model::OpaquePart{model::Dialect::Bedrock, std::string(kind), std::string(block.text())});
    }
  }

 private:
  static bool is_own(JsonValue call) {
    const auto type = call.member("type");
    return type && type->raw_string() == "server_tool_use";
  }
  void call(JsonValue value) {
    model::ToolCallPart call{
        .id = text_of(value.member("toolUseId")), .name = text_of(value.member("name")), .arguments = "{}"};
    if (call.name.empty()) return;
    if (call.id.empty()) call.id = made_call_id(id_seed_, parts_.size());
    const auto input = value.member("input");
    if (input && !input->is_null()) call.arguments = input->text();
    parts_.emplace_back(std::move(call));
  }
  void thought(JsonValue value) {
    model::ReasoningPart thought;
    model::OpaqueState state{model::Dialect::Bedrock, {}};
    if (const auto words = value.member("reasoningText")) {
      thought.text = text_of(words->member("text"));
      state.data = text_of(words->member("signature"));
    } else {
      thought.kind = model::ReasoningPart::Kind::Redacted;
      state.data = text_of(value.member("redactedContent"));
    }
    Part& part = parts_.emplace_back(std::move(thought));
    if (!state.data.empty()) part.state = std::move(state);
  }
  void image(JsonValue value) {
    model::MediaPart media{.media_type = "image/" + text_of(value.member("format"))};
    media.data = text_of(value.at("source", "bytes"));
    parts_.emplace_back(std::move(media));
  }
  void cited(JsonValue value) {
    model::TextPart text;
    if (const auto content = value.member("content")) {
      for (JsonElements each(*content); each.next();) text.text += text_of(each.value().member("text"));
    }
    if (const auto citations = value.member("citations")) {
      for (JsonElements each(*citations); each.next();) text.citations.emplace_back(each.value().text());
    }
    parts_.emplace_back(std::move(text));
  }

  std::string_view id_seed_;
  std::vector<Part>& parts_;
};

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed) {
  const auto broken = [](ErrorKind kind, std::string text) {
    return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)));
  };
  std::string room;
  const auto document = provider_json(body, room);
  if (!document) return broken(ErrorKind::BadJson, "the answer is not JSON");
  const auto content = document->at("output", "message", "content");
  if (!content) {
    auto text = error_text(*document);
    if (text && !text->empty()) return broken(ErrorKind::StreamError, std::move(*text));
    return broken(ErrorKind::EmptyReply, "the answer holds no message");
  }
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::Bedrock;
  model::Choice choice;
  BlockDecoder blocks(id_seed, choice.parts);
  for (JsonElements each(*content); each.next();) blocks.take(each.value());
  for (JsonMembers members(*document); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "stopReason") {
      choice.finish_word = value.string();
    } else if (key == "usage") {
      answer.usage = usage_of(value);
    } else if (key == "serviceTier") {
      answer.service_tier = text_of(value.member("type"));
    } else if (key != "output" && !value.is_null()) {
      answer.extra.push_back({std::string(key), std::string(value.text())});
    }
  }
  choice.finish = finish_of(choice.finish_word);
  answer.choices.push_back(std::move(choice));
  if (is_empty(answer)) return broken(ErrorKind::EmptyReply, "the answer is empty");
  return answer;
}

}  // namespace qq::dialects::bedrock
