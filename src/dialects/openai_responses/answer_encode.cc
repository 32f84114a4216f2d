#include <fmt/format.h>

#include "dialects/losses.h"
#include "dialects/openai_responses/output.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/response_object.h"

namespace qq::dialects::openai_responses {
namespace {

using Kind = OutputItem::Kind;

// Builds `output` from an answer's parts.
class OutputList {
 public:
  OutputList(const model::ChatAnswer& answer, const model::ChatRequest& request, const AnswerHead& head,
             Losses& losses)
      : answer_(answer), request_(request), head_(head), losses_(losses) {}

  void add(const model::Part& part) {
    if (const auto* text = part.as<model::TextPart>()) return add_text(part, *text);
    if (const auto* refusal = part.as<model::RefusalPart>()) {
      refused_ = true;
      return add_content(part, {.kind = OutputContent::Kind::Refusal, .text = refusal->text});
    }
    if (const auto* thought = part.as<model::ReasoningPart>()) return add_thought(part, *thought);
    if (const auto* call = part.as<model::ToolCallPart>()) return add_call(part, *call);
    if (const auto* media = part.as<model::MediaPart>()) return add_media(*media);
    if (const auto* opaque = part.as<model::OpaquePart>()) return add_opaque(part, *opaque);
    lose(loss::kNoPlace);
  }
  // The tokens' probabilities belong to the text; which of several is not known.
  void add_logprobs(const model::Json& logprobs) {
    for (OutputItem& item : items_) {
      for (OutputContent& content : item.content) {
        if (content.kind != OutputContent::Kind::Text) continue;
        content.logprobs = logprobs;
        return;
      }
    }
  }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] std::string json(bool incomplete) {
    if (incomplete && !items_.empty()) items_.back().incomplete = true;
    std::string out;
    wire::JsonWriter json(out);
    json.begin_array();
    if (answer_.dialect != kDialect) {
      for (OutputItem& item : items_) say_whose(item, answer_.dialect);
    }
    for (const OutputItem& item : items_)
      write_item(json, item, item.incomplete ? "incomplete" : "completed");
    json.end_array();
    return out;
  }

 private:
  void lose(std::string_view why) { losses_.push_back({fmt::format("output[{}]", items_.size()), why}); }
  OutputItem& new_item(Kind kind) {
    OutputItem& item = items_.emplace_back();
    item.kind = kind;
    item.id = item_id(kind, head_.request_id, items_.size() - 1);
    return item;
  }
  void add_content(const model::Part& part, OutputContent content) {
    const bool joins = !items_.empty() && items_.back().kind == Kind::Message;
    OutputItem& item = joins ? items_.back() : new_item(Kind::Message);
    if (answer_.dialect == kDialect)
      item.extra.insert(item.extra.end(), part.extra.begin(), part.extra.end());
    item.content.push_back(std::move(content));
  }
  void add_text(const model::Part& part, const model::TextPart& text) {
    OutputContent content{.text = text.text};
    if (answer_.dialect == kDialect) {
      content.annotations = text.citations;
    } else if (!text.citations.empty()) {
      lose(loss::kForeignPart);
    }
    add_content(part, std::move(content));
  }
  void add_thought(const model::Part& part, const model::ReasoningPart& thought) {
    const bool joins = !items_.empty() && continues_reasoning(items_.back(), thought.id);
    OutputItem& item = joins ? items_.back() : new_item(Kind::Reasoning);
    if (!thought.id.empty()) item.id = thought.id;
    if (!thought.text.empty())
      item.content.push_back({.kind = thought_kind(thought.kind, request_), .text = thought.text});
    item.encrypted = state_field(part.state, kDialect);
  }
  void add_call(const model::Part& part, const model::ToolCallPart& call) {
    const bool custom = call.kind == model::ToolCallPart::Kind::Custom;
    OutputItem& item = new_item(custom ? Kind::CustomCall : Kind::FunctionCall);
    auto id = with_carried(call.id, {.call = part.state, .reasoning = {}});
    if (!id) losses_.push_back({fmt::format("output[{}].call_id", items_.size() - 1), loss::kNoPlace});
    item.call_id = id ? *std::move(id) : call.id;
    item.name = call.name;
    item.data = call.arguments;
    if (answer_.dialect == kDialect) item.extra = part.extra;
  }
  void add_media(const model::MediaPart& media) {
    if (media.kind != model::MediaPart::Kind::Image || media.source != model::MediaPart::Source::Base64) {
      return lose(loss::kNoPlace);
    }
    new_item(Kind::Image).data = media.data;
  }
  void add_opaque(const model::Part& part, const model::OpaquePart& opaque) {
    if (opaque.dialect != kDialect) return lose(loss::kForeignPart);
    if (opaque.type.starts_with(kInMessage)) {
      return add_content(part, {.kind = OutputContent::Kind::Raw, .text = opaque.value});
    }
    new_item(Kind::Raw).data = opaque.value;
  }

  const model::ChatAnswer& answer_;
  const model::ChatRequest& request_;
  const AnswerHead& head_;
  Losses& losses_;
  std::vector<OutputItem> items_;
  bool refused_ = false;
};

}  // namespace

std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses) {
  OutputList list(answer, request, head, losses);
  const model::Choice nothing;
  const model::Choice& choice = answer.choices.empty() ? nothing : answer.choices.front();
  if (answer.choices.size() > 1) losses.push_back({"choices", loss::kTooMany});
  for (const model::Part& part : choice.parts) list.add(part);
  if (!choice.logprobs.empty()) list.add_logprobs(choice.logprobs);
  const Ending ending = ending_of(choice.finish, choice.finish_word, list.refused());
  const std::string id = response_id(answer.id, head.request_id);
  const std::string output = list.json(choice.finish == model::Finish::Length);
  const std::string echo = echo_of(request);
  std::string out;
  out.reserve(output.size() + echo.size() + 512);
  wire::JsonWriter json(out);
  write_response(json, {.id = id,
                        .created = answer.created != 0 ? answer.created : head.now,
                        .model = head.model,
                        .service_tier = answer.service_tier,
                        .ending = ending,
                        .output = output,
                        .echo = echo,
                        .usage = &answer.usage,
                        .extra = answer.dialect == kDialect ? &answer.extra : nullptr});
  return out;
}

}  // namespace qq::dialects::openai_responses
