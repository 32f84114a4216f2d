#include <algorithm>

#include "dialects/calls.h"
#include "dialects/losses.h"
#include "dialects/openai_responses/output.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/response_object.h"
#include "dialects/openai_responses/stream_error.h"

namespace qq::dialects::openai_responses {
namespace {

using model::PartKind;
using model::StreamEvent;
using Content = OutputContent::Kind;
using Kind = OutputItem::Kind;

// An item of the stream from its first event to its last.
struct Streamed {
  OutputItem item;
  std::uint32_t part = 0;     // the part that is being written
  bool announced = false;     // output_item.added was sent
  bool content_open = false;  // a part of a message or of reasoning
  std::string written;        // the finished item; empty: still open
};

class Encoder final : public StreamEncoder {
 public:
  Encoder(const model::ChatRequest& request, const AnswerHead& head)
      : request_(request), head_(head), echo_(echo_of(request)) {}

  void encode(const StreamEvent& event, std::string& out) override {
    out_ = &out;
    switch (event.kind) {
      case StreamEvent::Kind::Started: start(event); break;
      case StreamEvent::Kind::PartStarted: start_part(event); break;
      case StreamEvent::Kind::TextDelta: text_delta(event.part, event.text); break;
      case StreamEvent::Kind::ArgumentsDelta: arguments_delta(event); break;
      case StreamEvent::Kind::StateDelta: take_state(event); break;
      case StreamEvent::Kind::CitationDelta: take_citation(event); break;
      case StreamEvent::Kind::MediaDelta:
        if (Streamed* of = find(event.part)) of->item.data.append(event.text);
        break;
      case StreamEvent::Kind::OpaqueDelta: take_opaque(event); break;
      case StreamEvent::Kind::PartFinished: finish_part(event.part); break;
      case StreamEvent::Kind::Logprobs: take_logprobs(event.json); break;
      case StreamEvent::Kind::UsageSoFar: usage_ = *event.usage; break;
      case StreamEvent::Kind::Finished:
        if (event.choice == 0) take_finish(event);
        break;
      case StreamEvent::Kind::End: end(); break;
      case StreamEvent::Kind::Failed: fail(*event.error); break;
      case StreamEvent::Kind::Ping: break;
    }
  }

 private:
  // ---- Events: begun with their type and number, ended with a blank line.
  wire::JsonWriter begin(std::string_view type) {
    out_->append("event: ").append(type).append("\ndata: ");
    data_begin_ = out_->size();
    wire::JsonWriter json(*out_);
    json.begin_object().member("type", type).member("sequence_number", sequence_++);
    return json;
  }
  void finish(wire::JsonWriter& json) {
    json.end_object();
    // What was taken over as JSON may have line ends between its tokens; inside strings there are none.
    for (std::size_t at = data_begin_; (at = out_->find_first_of("\r\n", at)) != std::string::npos;) {
      (*out_)[at] = ' ';
    }
    out_->append("\n\n");
  }
  wire::JsonWriter begin(std::string_view type, const Streamed& of) {
    wire::JsonWriter json = begin(type);
    json.member("item_id", of.item.id).member("output_index", index_of(of));
    return json;
  }
  wire::JsonWriter begin_content(std::string_view type, const Streamed& of) {
    wire::JsonWriter json = begin(type, of);
    const OutputContent& content = of.item.content.back();
    const bool summary = content.kind == Content::Summary;
    // Summaries and texts are counted apart.
    const auto number = std::ranges::count_if(of.item.content, [&](const OutputContent& each) {
      return (each.kind == Content::Summary) == summary;
    });
    json.member(summary ? "summary_index" : "content_index", static_cast<std::int64_t>(number - 1));
    return json;
  }
  [[nodiscard]] std::int64_t index_of(const Streamed& of) const noexcept { return &of - items_.data(); }

  void send_response(std::string_view type, ResponseFacts facts) {
    facts.id = id_;
    facts.created = created_;
    facts.model = head_.model;
    facts.service_tier = request_.service_tier;
    facts.echo = echo_;
    wire::JsonWriter json = begin(type);
    json.key("response");
    write_response(json, facts);
    finish(json);
  }
  void start(const StreamEvent& event) {
    if (std::exchange(started_, true)) return;
    id_ = response_id(event.id, head_.request_id);
    dialect_ = event.dialect;
    created_ = event.created != 0 ? event.created : head_.now;
    send_response("response.created", {});
    send_response("response.in_progress", {});
  }

  // ---- Items.
  Streamed* find(std::uint32_t part) noexcept {
    const auto found = std::ranges::find_if(
        items_, [&](const Streamed& each) { return each.part == part && each.written.empty(); });
    return found == items_.end() ? nullptr : &*found;
  }
  Streamed& add_item(Kind kind, const StreamEvent& event, std::string_view id = {}) {
    Streamed& of = items_.emplace_back();
    of.item.kind = kind;
    of.item.id = id.empty() ? item_id(kind, head_.request_id, items_.size() - 1) : std::string(id);
    of.part = event.part;
    return of;
  }
  // In the order of their numbers, which clients count along.
  void announce(Streamed& of) {
    if (of.announced) return;
    for (Streamed& each : items_) {
      if (!each.announced) announce_one(each);
      if (&each == &of) return;
    }
  }
  void announce_one(Streamed& of) {
    of.announced = true;
    wire::JsonWriter json = begin("response.output_item.added");
    json.member("output_index", index_of(of)).key("item");
    write_item(json, of.item, "in_progress");
    finish(json);
  }
  void close_item(Streamed& of) {
    if (!of.written.empty()) return;
    announce(of);
    if (dialect_ != kDialect) say_whose(of.item, dialect_);
    wire::JsonWriter item(of.written);
    write_item(item, of.item, of.item.incomplete ? "incomplete" : "completed");
    wire::JsonWriter json = begin("response.output_item.done");
    json.member("output_index", index_of(of)).raw_member("item", of.written);
    finish(json);
  }
  // Messages and reasoning stay open for another part until something else begins.
  void close_others(const Streamed* but) {
    for (Streamed& of : items_) {
      if (&of != but && (of.item.kind == Kind::Message || of.item.kind == Kind::Reasoning)) close_item(of);
    }
  }
  Streamed* last_open(Kind kind) noexcept {
    const bool fits = !items_.empty() && items_.back().item.kind == kind && items_.back().written.empty();
    return fits ? &items_.back() : nullptr;
  }

  void start_part(const StreamEvent& event) {
    // What has no place here has no item, and its deltas find none.
    if (event.choice != 0) return lose("choices", loss::kTooMany);
    switch (event.part_kind) {
      case PartKind::Text: return start_content(message(event), Content::Text);
      case PartKind::Refusal: refused_ = true; return start_content(message(event), Content::Refusal);
      case PartKind::Reasoning: return start_thought(event);
      case PartKind::ToolCall: {
        close_others(nullptr);
        // Announced with its first piece: what its id has to carry may come before.
        Streamed& of = add_item(event.custom ? Kind::CustomCall : Kind::FunctionCall, event);
        of.item.call_id = event.id;
        of.item.name = event.name;
        return;
      }
      case PartKind::Media:
        close_others(nullptr);
        if (event.media_type.empty() || event.media_type.starts_with("image/")) {
          announce(add_item(Kind::Image, event));
        } else {
          lose("output[]", loss::kNoPlace);
        }
        return;
      case PartKind::Opaque:
        if (event.dialect != kDialect) return lose("output[]", loss::kForeignPart);
        if (event.word.starts_with(kInMessage)) return;
        close_others(nullptr);
        raw_part_ = event.part;  // the item comes with its first delta
        return;
    }
  }
  Streamed& message(const StreamEvent& event) {
    if (Streamed* of = last_open(Kind::Message)) {
      of->part = event.part;
      return *of;
    }
    close_others(nullptr);
    Streamed& of = add_item(Kind::Message, event);
    announce(of);
    return of;
  }
  void start_thought(const StreamEvent& event) {
    Streamed* of = last_open(Kind::Reasoning);
    if (of == nullptr || !continues_reasoning(of->item, event.id)) {
      close_others(nullptr);
      of = &add_item(Kind::Reasoning, event, event.id);
      announce(*of);
    }
    of->part = event.part;
    if (event.reasoning != model::ReasoningPart::Kind::Redacted) {
      next_thought_ = thought_kind(event.reasoning, request_);
    }
  }
  void start_content(Streamed& of, Content kind) {
    of.item.content.push_back({.kind = kind});
    of.content_open = true;
    wire::JsonWriter json = begin_content(
        kind == Content::Summary ? "response.reasoning_summary_part.added" : "response.content_part.added",
        of);
    json.key("part");
    write_content(json, of.item.content.back());
    finish(json);
  }

  void text_delta(std::uint32_t part, std::string_view text) {
    Streamed* const of = find(part);
    if (of == nullptr) return;
    // A thought without text is nothing but its state.
    if (of->item.kind == Kind::Reasoning && !of->content_open) start_content(*of, next_thought_);
    if (!of->content_open) return;
    OutputContent& content = of->item.content.back();
    content.text.append(text);
    wire::JsonWriter json = begin_content(delta_type(content.kind), *of);
    json.member("delta", text);
    if (content.kind == Content::Text) json.raw_member("logprobs", "[]");
    finish(json);
  }
  static std::string_view delta_type(Content kind) noexcept {
    switch (kind) {
      case Content::Refusal: return "response.refusal.delta";
      case Content::Summary: return "response.reasoning_summary_text.delta";
      case Content::Thought: return "response.reasoning_text.delta";
      default: return "response.output_text.delta";
    }
  }
  static std::string_view done_type(Content kind) noexcept {
    switch (kind) {
      case Content::Refusal: return "response.refusal.done";
      case Content::Summary: return "response.reasoning_summary_text.done";
      case Content::Thought: return "response.reasoning_text.done";
      default: return "response.output_text.done";
    }
  }
  void finish_content(Streamed& of) {
    if (!std::exchange(of.content_open, false)) return;
    const OutputContent& content = of.item.content.back();
    {
      wire::JsonWriter json = begin_content(done_type(content.kind), of);
      json.member(content.kind == Content::Refusal ? "refusal" : "text", content.text);
      if (content.kind == Content::Text) {
        json.raw_member("logprobs", content.logprobs.empty() ? std::string_view("[]") : content.logprobs);
      }
      finish(json);
    }
    wire::JsonWriter json =
        begin_content(content.kind == Content::Summary ? "response.reasoning_summary_part.done"
                                                       : "response.content_part.done",
                      of);
    json.key("part");
    write_content(json, content);
    finish(json);
  }

  void arguments_delta(const StreamEvent& event) {
    Streamed* const of = find(event.part);
    if (of == nullptr) return;
    announce(*of);
    of->item.data.append(event.text);
    wire::JsonWriter json =
        begin(of->item.kind == Kind::CustomCall ? "response.custom_tool_call_input.delta"
                                                : "response.function_call_arguments.delta",
              *of);
    json.member("delta", event.text);
    finish(json);
  }
  void take_state(const StreamEvent& event) {
    Streamed* const of = find(event.part);
    if (of == nullptr) return;
    if (of->item.kind == Kind::Reasoning) of->item.encrypted = state_field(*event.state, kDialect);
    if (of->item.kind == Kind::Message) lose("output[]", loss::kNoPlace);
    const bool call = of->item.kind == Kind::FunctionCall || of->item.kind == Kind::CustomCall;
    if (!call) return;
    // Behind the first piece only the finished item has it, which is the one that clients keep.
    if (auto id = with_carried(of->item.call_id, {.call = *event.state, .reasoning = {}})) {
      of->item.call_id = *std::move(id);
    } else {
      lose("output[].call_id", loss::kNoPlace);
    }
  }
  void take_citation(const StreamEvent& event) {
    Streamed* const of = find(event.part);
    if (of == nullptr || !of->content_open) return;
    if (event.dialect != kDialect) return lose("output[]", loss::kForeignPart);
    auto& annotations = of->item.content.back().annotations;
    wire::JsonWriter json = begin_content("response.output_text.annotation.added", *of);
    json.member("annotation_index", annotations.size()).raw_member("annotation", event.json);
    finish(json);
    annotations.emplace_back(event.json);
  }
  // They come behind the text that they are of: with a piece of nothing.
  void take_logprobs(std::string_view array) {
    Streamed* const of = last_open(Kind::Message);
    if (of == nullptr || of->item.content.empty() || array.size() <= 2) return;
    OutputContent& content = of->item.content.back();
    if (content.kind != Content::Text) return;
    if (content.logprobs.empty()) {
      content.logprobs = array;
    } else {
      content.logprobs.back() = ',';
      content.logprobs.append(array.substr(1));
    }
    if (!of->content_open) return;
    wire::JsonWriter json = begin_content("response.output_text.delta", *of);
    json.member("delta", "").raw_member("logprobs", array);
    finish(json);
  }
  void take_opaque(const StreamEvent& event) {
    if (event.part != raw_part_) return;
    Streamed* of = find(event.part);
    const wire::JsonValue json(event.json);
    const auto type = json.member("type");
    if (type && type->raw_string().starts_with("response.")) {
      if (of != nullptr) pass_on(*of, json, type->raw_string());
      return;
    }
    if (of == nullptr) of = &add_item(Kind::Raw, event);
    of->item.data = event.json;
    announce(*of);
  }
  // An event of a hosted tool, with our numbers.
  void pass_on(const Streamed& of, wire::JsonValue event, std::string_view type) {
    wire::JsonWriter json = begin(type);
    for (wire::JsonMembers members(event); members.next();) {
      const std::string_view key = members.raw_key();
      if (key == "type" || key == "sequence_number") continue;
      if (key == "output_index") {
        json.member("output_index", index_of(of));
      } else {
        json.raw_member(key, members.value().text());
      }
    }
    finish(json);
  }

  void finish_part(std::uint32_t part) {
    Streamed* const of = find(part);
    if (of == nullptr) return;
    switch (of->item.kind) {
      case Kind::Message: finish_content(*of); return;
      case Kind::Reasoning:
        finish_content(*of);
        if (!of->item.encrypted.empty()) close_item(*of);
        return;
      case Kind::FunctionCall:
      case Kind::CustomCall: finish_call(*of); return;
      case Kind::Raw:
      case Kind::Image: close_item(*of); return;
    }
  }
  void finish_call(Streamed& of) {
    announce(of);
    const bool custom = of.item.kind == Kind::CustomCall;
    if (!custom && of.item.data.empty()) of.item.data = "{}";
    of.item.incomplete = !custom && is_cut_short(of.item.data);
    wire::JsonWriter json =
        begin(custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done", of);
    if (!custom) json.member("name", of.item.name);
    json.member(custom ? "input" : "arguments", of.item.data);
    finish(json);
    close_item(of);
  }

  // ---- The end.
  void take_finish(const StreamEvent& event) {
    ending_ = ending_of(event.finish, {}, refused_);
    if (event.finish == model::Finish::Paused) {
      pause_word_ = event.word;
      ending_ = ending_of(event.finish, pause_word_, refused_);
    }
    if (event.finish == model::Finish::Length && !items_.empty()) items_.back().item.incomplete = true;
    close_others(nullptr);
  }
  [[nodiscard]] std::string output() const {
    std::string all = "[";
    for (const Streamed& of : items_) {
      if (of.written.empty()) continue;
      if (all.size() > 1) all += ',';
      all += of.written;
    }
    return all + "]";
  }
  void end() {
    if (std::exchange(over_, true)) return;
    if (ending_.status == "in_progress") ending_ = ending_of(model::Finish::None, {}, false);
    close_others(nullptr);
    const std::string all = output();
    std::string_view type = "response.completed";
    if (ending_.status == "incomplete") type = "response.incomplete";
    if (ending_.status == "failed") type = "response.failed";
    send_response(type, {.ending = ending_, .output = all, .usage = &usage_});
  }
  void fail(const Error& error) {
    if (std::exchange(over_, true)) return;
    start({});
    const ErrorWords words = words_of(error, head_.request_id);
    constexpr std::string_view kType = R"({"type":"error",)";
    const std::size_t at = words.event.find(kType) + kType.size();
    out_->append(words.event, 0, at).append("\"sequence_number\":").append(std::to_string(sequence_++));
    out_->append(",").append(words.event, at);
    const std::string all = output();
    send_response("response.failed", {.ending = {"failed", {}},
                                      .output = all,
                                      .usage = usage_.source == model::UsageSource::None ? nullptr : &usage_,
                                      .error_code = words.code,
                                      .error_message = words.message});
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;

  const model::ChatRequest& request_;
  AnswerHead head_;
  std::string echo_;
  std::string* out_ = nullptr;
  std::size_t data_begin_ = 0;   // of the event that is being written
  std::vector<Streamed> items_;  // by output_index
  std::string id_;
  model::Dialect dialect_ = kDialect;  // whose answer it is
  std::int64_t created_ = 0;
  std::int64_t sequence_ = 0;
  Content next_thought_ = Content::Thought;
  std::uint32_t raw_part_ = kNone;  // the hosted tool's that is open
  Ending ending_;
  std::string pause_word_;
  model::Usage usage_;
  bool started_ = false;
  bool refused_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<StreamEncoder> make_stream_encoder(const model::ChatRequest& request,
                                                   const AnswerHead& head) {
  return std::make_unique<Encoder>(request, head);
}

}  // namespace qq::dialects::openai_responses
