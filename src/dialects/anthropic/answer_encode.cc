// A whole answer for a client.
#include <algorithm>

#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"
#include "dialects/anthropic/usage.h"
#include "dialects/calls.h"
#include "dialects/carried_state.h"
#include "dialects/losses.h"
#include "dialects/made_ids.h"

namespace qq::dialects::anthropic {
namespace {

using model::ChatAnswer;
using model::Dialect;
using model::Part;

class AnswerWriter {
 public:
  AnswerWriter(const ChatAnswer& answer, const model::ChatRequest& request, const AnswerHead& head,
               Losses& losses, std::string& out)
      : answer_(answer),
        head_(head),
        losses_(losses),
        json_(out),
        hides_thoughts_(request.reasoning && request.reasoning->show == false),
        own_(answer.dialect == Dialect::Anthropic) {}

  void write() {
    static const model::Choice kNothing;
    const model::Choice& choice = answer_.choices.empty() ? kNothing : answer_.choices.front();
    if (answer_.choices.size() > 1) lose("choices");
    if (!choice.logprobs.empty()) lose("logprobs");
    json_.begin_object();
    json_.member("id", answer_id(answer_.id, head_));
    json_.member("type", "message").member("role", "assistant").member("model", head_.model);
    json_.key("content").begin_array();
    for (const Part& part : choice.parts) write_part(part);
    json_.end_array();
    json_.member("stop_reason", stop_reason(choice));
    if (choice.stop_string.empty()) {
      json_.key("stop_sequence").null();
    } else {
      json_.member("stop_sequence", choice.stop_string);
    }
    usage();
    if (own_) extra();
    json_.end_object();
  }

 private:
  void lose(std::string_view field) { losses_.push_back({std::string(field), loss::kNoPlace}); }

  std::string_view stop_reason(const model::Choice& choice) const {
    if (own_ && !choice.finish_word.empty()) return choice.finish_word;
    // Some providers have no word for it.
    const bool calls = std::ranges::any_of(
        choice.parts, [](const Part& part) { return part.as<model::ToolCallPart>() != nullptr; });
    const bool stopped = choice.finish == model::Finish::Stop || choice.finish == model::Finish::None;
    return stop_reason_of(calls && stopped ? model::Finish::ToolCalls : choice.finish);
  }

  void usage() {
    json_.key("usage").begin_object();
    write_usage(json_, answer_.usage);
    if (!answer_.service_tier.empty())
      json_.member("service_tier", answer_.service_tier == "default" ? "standard" : answer_.service_tier);
    if (own_) {
      for (const model::ExtraField& field : answer_.extra) {
        if (field.key.starts_with("usage.")) json_.any_key(field.key.substr(6)).raw(field.value);
      }
    }
    json_.end_object();
  }
  void extra() {
    for (const model::ExtraField& field : answer_.extra) {
      if (!field.key.starts_with("usage.")) json_.any_key(field.key).raw(field.value);
    }
  }

  void write_part(const Part& part) {
    if (const auto* text = part.as<model::TextPart>()) {
      if (!part.state.empty()) lose("content[].state");
      text_block(text->text);
      if (own_ && !text->citations.empty()) {
        json_.key("citations").begin_array();
        for (const model::Json& citation : text->citations) json_.raw(citation);
        json_.end_array();
      } else if (!text->citations.empty()) {
        lose("content[].citations");
      }
      json_.end_object();
    } else if (const auto* refusal = part.as<model::RefusalPart>()) {
      text_block(refusal->text);
      json_.end_object();
    } else if (const auto* call = part.as<model::ToolCallPart>()) {
      call_block(*call, part);
    } else if (const auto* thought = part.as<model::ReasoningPart>()) {
      thinking_block(*thought, part);
    } else if (const auto* opaque = part.as<model::OpaquePart>();
               opaque != nullptr && opaque->dialect == Dialect::Anthropic) {
      json_.raw(opaque->value);
    } else {
      lose("content[]");
    }
  }
  void text_block(std::string_view text) { json_.begin_object().member("type", "text").member("text", text); }
  void call_block(const model::ToolCallPart& call, const Part& part) {
    std::string id = call.id.empty() ? made_call_id(head_.request_id, calls_) : call.id;
    ++calls_;
    if (!part.state.empty()) {
      if (auto loaded = with_carried(id, {.call = part.state, .reasoning = {}})) {
        id = std::move(*loaded);
      } else {
        lose("content[].state");
      }
    }
    bool wrapped = false;
    json_.begin_object().member("type", "tool_use").member("id", id).member("name", call.name);
    json_.raw_member("input", input_of(call, wrapped));
    if (wrapped) losses_.push_back({"content[].input", loss::kNotJson});
    if (own_) write_extra(json_, part.extra);
    json_.end_object();
  }
  void thinking_block(const model::ReasoningPart& thought, const Part& part) {
    const std::string state = state_field(part.state, Dialect::Anthropic);
    if (thought.kind == model::ReasoningPart::Kind::Redacted) {
      if (!state.empty())
        json_.begin_object().member("type", "redacted_thinking").member("data", state).end_object();
      return;
    }
    const std::string_view text = hides_thoughts_ ? std::string_view() : std::string_view(thought.text);
    if (text.empty() && state.empty()) return;
    // Without any, Anthropic would be given it as its own.
    const bool is_unsigned = state.empty() && !own_;
    json_.begin_object().member("type", "thinking").member("thinking", text);
    json_.member("signature", is_unsigned ? no_state_field(answer_.dialect) : state);
    json_.end_object();
  }

  const ChatAnswer& answer_;
  const AnswerHead& head_;
  Losses& losses_;
  wire::JsonWriter json_;
  std::size_t calls_ = 0;
  bool hides_thoughts_;
  bool own_;
};

}  // namespace

std::string encode_answer(const ChatAnswer& answer, const model::ChatRequest& request, const AnswerHead& head,
                          Losses& losses) {
  std::string out;
  out.reserve(1024);
  AnswerWriter(answer, request, head, losses, out).write();
  return out;
}

}  // namespace qq::dialects::anthropic
