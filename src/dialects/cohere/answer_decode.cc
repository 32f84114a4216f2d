// A provider's whole answer. What has no place in the neutral answer stays as ExtraFields.
#include <fmt/format.h>

#include "dialects/cohere/sides.h"
#include "dialects/empty_answer.h"
#include "dialects/made_ids.h"
#include "dialects/provider_json.h"

namespace qq::dialects::cohere {
namespace {

using model::Part;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

std::string text_of(const std::optional<JsonValue>& value) {
  return value ? value->string() : std::string();
}

class MessageDecoder {
 public:
  MessageDecoder(std::string_view id_seed, std::vector<Part>& parts) : id_seed_(id_seed), parts_(parts) {}

  void take(JsonValue message) {
    if (const auto content = message.member("content")) take_content(*content);
    if (const std::string plan = text_of(message.member("tool_plan")); !plan.empty()) {
      Part& part = parts_.emplace_back(model::ReasoningPart{.text = plan, .id = {}});
      part.state = {model::Dialect::Cohere, std::string(kPlan)};
    }
    if (const auto calls = message.member("tool_calls")) {
      for (JsonElements each(*calls); each.next();) take_call(each.value());
    }
    if (const auto citations = message.member("citations")) {
      for (JsonElements each(*citations); each.next();) take_citation(each.value());
    }
  }

 private:
  void take_content(JsonValue content) {
    if (content.is_string()) parts_.emplace_back(model::TextPart{.text = content.string(), .citations = {}});
    for (JsonElements each(content); content.is_array() && each.next();) {
      places_.push_back(parts_.size());
      const auto type = each.value().member("type");
      const std::string_view word = type ? type->raw_string() : std::string_view();
      if (word == "thinking") {
        parts_.emplace_back(model::ReasoningPart{.text = text_of(each.value().member("thinking")), .id = {}});
      } else if (word == "text") {
        parts_.emplace_back(model::TextPart{.text = text_of(each.value().member("text")), .citations = {}});
      } else {
        parts_.emplace_back(
            model::OpaquePart{model::Dialect::Cohere, text_of(type), std::string(each.value().text())});
      }
    }
  }
  void take_call(JsonValue value) {
    const auto function = value.member("function");
    if (!function) return;
    model::ToolCallPart call{
        .id = text_of(value.member("id")), .name = text_of(function->member("name")), .arguments = {}};
    if (call.name.empty()) return;
    if (call.id.empty()) call.id = made_call_id(id_seed_, parts_.size());
    const auto arguments = function->member("arguments");
    if (arguments) call.arguments = arguments->is_string() ? arguments->string() : arguments->text();
    if (call.arguments.empty() || call.arguments == "null") call.arguments = "{}";
    parts_.emplace_back(std::move(call));
  }
  // By its place in `content`; without one it is of the text.
  void take_citation(JsonValue citation) {
    const auto type = citation.member("type");
    if (type && type->is_string() && type->raw_string() != "TEXT_CONTENT") return;
    const auto index = count_in(citation.member("content_index"));
    const auto place = static_cast<std::size_t>(index.value_or(-1));
    Part* part = place < places_.size() ? &parts_[places_[place]] : nullptr;
    for (Part& each : parts_) {
      if (part == nullptr && each.as<model::TextPart>() != nullptr) part = &each;
    }
    auto* text = part != nullptr ? part->as<model::TextPart>() : nullptr;
    if (text != nullptr) text->citations.emplace_back(citation.text());
  }

  std::string_view id_seed_;
  std::vector<Part>& parts_;
  std::vector<std::size_t> places_;  // in `parts_`, of what stood in `content`
};

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed) {
  const auto broken = [](ErrorKind kind, std::string text) {
    return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)));
  };
  std::string room;
  const auto document = provider_json(body, room);
  if (!document) return broken(ErrorKind::BadJson, "the answer is not JSON");
  const auto message = document->member("message");
  if (!message || !message->is_object()) {
    if (auto error = find_error(*document)) return fail(std::move(*error));
    return broken(ErrorKind::EmptyReply, "the answer holds no message");
  }
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::Cohere;
  model::Choice choice;
  MessageDecoder(id_seed, choice.parts).take(*message);
  for (JsonMembers members(*document); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "id") {
      answer.id = value.string();
    } else if (key == "finish_reason") {
      choice.finish_word = value.string();
    } else if (key == "usage") {
      answer.usage = usage_of(value);
      if (const auto billed = value.member("billed_units"))
        answer.extra.push_back({"usage.billed_units", std::string(billed->text())});
    } else if (key != "message" && !value.is_null()) {
      answer.extra.push_back({std::string(key), std::string(value.text())});
    }
  }
  choice.finish = finish_of(choice.finish_word);
  answer.choices.push_back(std::move(choice));
  if (is_empty(answer)) return broken(ErrorKind::EmptyReply, "the answer is empty");
  return answer;
}

}  // namespace qq::dialects::cohere
