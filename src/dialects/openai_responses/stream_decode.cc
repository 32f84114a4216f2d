#include <algorithm>
#include <utility>

#include "dialects/openai/answer.h"
#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "dialects/openai_responses/answer_decode.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/stream_event_members.h"
#include "dialects/provider_json.h"
#include "wire/sse.h"

namespace qq::dialects::openai_responses {

using model::PartKind;
using model::ReasoningPart;
using model::StreamEvent;
using wire::JsonValue;

namespace {

constexpr std::size_t kItemsMax = 4096;  // a guess; more is no answer but an attack

// Items are known by their index: their ids change from event to event at some providers (GitHub Copilot).
struct Item {
  std::size_t index = 0;
  PartKind kind = PartKind::Text;
  bool closed = false;
  bool any_part = false;  // something of it came out, so that what repeats it is passed over
  bool custom = false;
  // The part of it that is open, or was last.
  bool open = false;
  std::uint32_t part = 0;
  PartKind part_kind = PartKind::Text;
  std::int64_t content_index = 0;
  bool summary = false;
  bool any_delta = false;
  std::size_t citations = 0;
  std::string id;    // of reasoning
  std::string type;  // of opaque ones
};

class Decoder final : public StreamDecoder {
 public:
  Decoder(const model::Target& target, std::string_view id_seed)
      : quirks_(target.quirks), id_seed_(id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    std::size_t consumed = 0;
    wire::SseEvent event;
    while (!over_ && sse_.next(bytes, consumed, event)) take(event, sink);
    if (!over_ && sse_.verdict() == wire::SseDecoder::Verdict::EventTooBig) {
      fail(ErrorKind::EventTooBig, "an event of the provider's stream is too big", sink);
    }
  }
  void finish(EventSink& sink) override {
    wire::SseEvent event;
    if (!over_ && sse_.finish(event)) take(event, sink);
    if (!over_) fail(ErrorKind::StreamCut, "the provider's stream ended without response.completed", sink);
  }

 private:
  // ---- What comes out.
  void emit(StreamEvent event, EventSink& sink) {
    event.dialect = kDialect;
    sink.on_event(event);
  }
  void fail(Error error, EventSink& sink) {
    over_ = true;
    emit({.kind = StreamEvent::Kind::Failed, .error = &error}, sink);
  }
  void fail(ErrorKind kind, std::string message, EventSink& sink) {
    fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(message)), sink);
  }
  void start(JsonValue response, EventSink& sink) {
    if (std::exchange(started_, true)) return;
    const ResponseMembers of = read_response(response);
    const std::string id = of.id.string();
    const std::string model = of.model.string();
    emit({.kind = StreamEvent::Kind::Started, .id = id, .model = model, .created = seconds_of(of.created)},
         sink);
  }
  void close_part(Item& item, EventSink& sink) {
    if (!std::exchange(item.open, false)) return;
    emit({.kind = StreamEvent::Kind::PartFinished, .part_kind = item.part_kind, .part = item.part}, sink);
  }
  // Parts do not overlap, except calls among themselves.
  void open_part(Item& item, StreamEvent event, EventSink& sink) {
    for (Item& other : items_) {
      const bool both_calls = event.part_kind == PartKind::ToolCall && other.part_kind == PartKind::ToolCall;
      if (&other == &item || !both_calls) close_part(other, sink);
    }
    item.part = parts_++;
    item.part_kind = event.part_kind;
    item.open = true;
    item.any_part = true;
    item.any_delta = false;
    item.citations = 0;
    event.kind = StreamEvent::Kind::PartStarted;
    event.part = item.part;
    emit(event, sink);
  }
  void delta(Item& item, std::string_view text, EventSink& sink) {
    if (text.empty()) return;
    item.any_delta = true;
    const bool call = item.part_kind == PartKind::ToolCall;
    emit({.kind = call ? StreamEvent::Kind::ArgumentsDelta : StreamEvent::Kind::TextDelta,
          .part_kind = item.part_kind,
          .part = item.part,
          .text = text},
         sink);
  }
  void state(Item& item, const model::OpaqueState& of, EventSink& sink) {
    if (of.empty()) return;
    emit(
        {.kind = StreamEvent::Kind::StateDelta, .part_kind = item.part_kind, .part = item.part, .state = &of},
        sink);
  }
  void opaque(Item& item, std::string_view json, EventSink& sink) {
    emit({.kind = StreamEvent::Kind::OpaqueDelta,
          .part_kind = PartKind::Opaque,
          .part = item.part,
          .word = item.type,
          .json = json},
         sink);
  }
  void logprobs(JsonValue array, EventSink& sink) {
    if (!array.is_array() || !wire::JsonElements(array).next()) return;
    emit({.kind = StreamEvent::Kind::Logprobs, .json = array.text()}, sink);
  }
  void citation(Item& item, std::string_view json, EventSink& sink) {
    ++item.citations;
    emit({.kind = StreamEvent::Kind::CitationDelta, .part = item.part, .json = json}, sink);
  }

  // ---- What comes in.
  // Of any kind may be what is open of an item, for some send other events than it announced.
  static bool is_open(const Item& item, PartKind kind) noexcept {
    return item.open && item.part_kind == kind;
  }
  Item* find_item(const EventMembers& of) noexcept {
    const auto found = std::ranges::find(items_, of.output_index, &Item::index);
    return found == items_.end() ? nullptr : &*found;
  }
  Item* item_for(const EventMembers& of, PartKind kind, EventSink& sink) {
    if (Item* known = find_item(of)) return known;
    if (items_.size() == kItemsMax) {
      fail(ErrorKind::BadJson, "the provider's stream has too many items", sink);
      return nullptr;
    }
    Item& item = items_.emplace_back();
    item.index = of.output_index;
    item.kind = kind;
    return &item;
  }

  void take(const wire::SseEvent& event, EventSink& sink) {
    if (!event.has_data) return;
    if (event.data == "[DONE]") return take_done(sink);
    if (event.data.find_first_not_of(" \t") == std::string_view::npos) return;
    std::string repaired;
    std::string_view text = event.data;
    if (const char* const reason = check_provider_json(text, repaired)) {
      return fail(ErrorKind::BadJson, "an event of the provider's stream is not JSON: " + std::string(reason),
                  sink);
    }
    const JsonValue data(text);
    EventMembers of = read_event(data);
    if (of.type.empty()) of.type = event.name;
    take(of, data, sink);
  }

  // Some end with this alone.
  void take_done(EventSink& sink) {
    if (parts_ == 0)
      return fail(ErrorKind::StreamCut, "the provider's stream ended before anything came", sink);
    end({}, {}, sink);
  }

  void take(const EventMembers& of, JsonValue data, EventSink& sink) {
    if (of.type == "error" || openai::is_error_value(of.error)) {
      // Flat by the specification, nested as recorded.
      const bool nested = openai::is_error_value(of.error);
      Error error = openai::error_from_value(nested ? of.error : data);
      if (!nested && error.type == "error") {  // the event itself, which is no error object to hand on
        error.type.clear();
        error.object.clear();
      }
      return fail(std::move(error), sink);
    }
    if (of.type == "ping" || of.type == "keepalive") return emit({.kind = StreamEvent::Kind::Ping}, sink);
    if (of.type.empty()) {
      if (auto error = openai::find_error(data)) return fail(std::move(*error), sink);
      return;
    }
    start(of.response, sink);
    if (!absent(of.response)) return take_response(of, sink);
    if (of.type == "response.output_item.added") return item_added(of, sink);
    if (of.type == "response.output_item.done") return item_done(of, sink);
    if (of.type == "response.output_text.delta") return text_delta(of, PartKind::Text, sink);
    if (of.type == "response.refusal.delta") return text_delta(of, PartKind::Refusal, sink);
    if (of.type == "response.output_text.done") return text_done(of, PartKind::Text, of.text, sink);
    if (of.type == "response.refusal.done") return text_done(of, PartKind::Refusal, of.refusal, sink);
    if (of.type == "response.output_text.annotation.added") return annotation(of, sink);
    if (of.type == "response.content_part.done") return content_done(of, sink);
    if (of.type == "response.function_call_arguments.delta" ||
        of.type == "response.custom_tool_call_input.delta") {
      return arguments_delta(of, sink);
    }
    if (of.type == "response.function_call_arguments.done") return arguments_done(of, of.arguments, sink);
    if (of.type == "response.custom_tool_call_input.done") return arguments_done(of, of.input, sink);
    if (of.type.starts_with("response.reasoning")) return thought(of, sink);
    Item* const item = of.has_output_index ? find_item(of) : nullptr;
    if (item != nullptr && is_open(*item, PartKind::Opaque)) opaque(*item, data.text(), sink);
  }

  // Opens the part that the event belongs to, unless it is open.
  void make_open(Item& item, const EventMembers& of, PartKind kind, bool summary, EventSink& sink) {
    const bool same = item.open && item.part_kind == kind && item.content_index == of.content_index &&
                      item.summary == summary;
    if (same) return;
    item.content_index = of.content_index;
    item.summary = summary;
    StreamEvent event{.part_kind = kind};
    if (kind == PartKind::Reasoning) {
      event.reasoning = summary ? ReasoningPart::Kind::Summary : ReasoningPart::Kind::Full;
      event.id = item.id;
    }
    open_part(item, event, sink);
  }

  void text_delta(const EventMembers& of, PartKind kind, EventSink& sink) {
    Item* const item = item_for(of, kind, sink);
    if (item == nullptr || !of.delta.is_string()) return;
    if (of.delta.text().size() > 2) {
      make_open(*item, of, kind, false, sink);
      delta(*item, of.delta.string(), sink);
    }
    logprobs(of.logprobs, sink);
  }
  // For engines that send whole texts without deltas; where deltas came before, this repeats them.
  void text_done(const EventMembers& of, PartKind kind, JsonValue text, EventSink& sink) {
    Item* const item = item_for(of, kind, sink);
    if (item == nullptr || !text.is_string() || text.text().size() <= 2) return;
    if (item->any_part && item->content_index == of.content_index && item->part_kind == kind) return;
    make_open(*item, of, kind, false, sink);
    delta(*item, text.string(), sink);
    logprobs(of.logprobs, sink);
  }
  void annotation(const EventMembers& of, EventSink& sink) {
    Item* const item = item_for(of, PartKind::Text, sink);
    if (item == nullptr || !of.annotation.is_object()) return;
    make_open(*item, of, PartKind::Text, false, sink);
    citation(*item, of.annotation.text(), sink);
  }
  // Annotations that had no event of their own.
  void content_done(const EventMembers& of, EventSink& sink) {
    const auto type = of.part.member("type");
    if (!type) return;
    if (type->raw_string() == "reasoning_text") return thought_done(of, of.part.member("text"), false, sink);
    Item* const item = item_for(of, PartKind::Text, sink);
    if (item == nullptr) return;
    if (type->raw_string() == "refusal") {
      return text_done(of, PartKind::Refusal, of.part.member("refusal").value_or(JsonValue()), sink);
    }
    if (type->raw_string() != "output_text") return;
    text_done(of, PartKind::Text, of.part.member("text").value_or(JsonValue()), sink);
    if (!is_open(*item, PartKind::Text) || item->content_index != of.content_index) return;
    std::size_t number = 0;
    const JsonValue annotations = of.part.member("annotations").value_or(JsonValue());
    for (wire::JsonElements each(annotations); each.next();) {
      if (number++ >= item->citations) citation(*item, each.value().text(), sink);
    }
  }

  void thought(const EventMembers& of, EventSink& sink) {
    const bool summary = of.type.starts_with("response.reasoning_summary");
    if (of.type.ends_with(".delta")) {
      Item* const item = item_for(of, PartKind::Reasoning, sink);
      if (item == nullptr || !of.delta.is_string() || of.delta.text().size() <= 2) return;
      make_open(*item, of, PartKind::Reasoning, summary, sink);
      delta(*item, of.delta.string(), sink);
    } else if (of.type.ends_with("text.done")) {
      thought_done(of, of.text, summary, sink);
    }
  }
  void thought_done(const EventMembers& of, std::optional<JsonValue> text, bool summary, EventSink& sink) {
    Item* const item = item_for(of, PartKind::Reasoning, sink);
    if (item == nullptr || !text || !text->is_string() || text->text().size() <= 2) return;
    if (item->any_part && item->content_index == of.content_index && item->summary == summary) return;
    make_open(*item, of, PartKind::Reasoning, summary, sink);
    delta(*item, text->string(), sink);
  }

  void arguments_delta(const EventMembers& of, EventSink& sink) {
    Item* const item = find_item(of);
    if (item != nullptr && is_open(*item, PartKind::ToolCall)) delta(*item, of.delta.string(), sink);
  }
  void arguments_done(const EventMembers& of, JsonValue whole, EventSink& sink) {
    Item* const item = find_item(of);
    if (item == nullptr || !is_open(*item, PartKind::ToolCall) || item->any_delta) return;
    delta(*item, whole.string(), sink);
  }

  void item_added(const EventMembers& of, EventSink& sink) {
    const auto type = of.item.member("type");
    const std::string_view word = type ? type->raw_string() : std::string_view();
    if (word == "message") {
      item_for(of, PartKind::Text, sink);
      return;
    }
    if (word == "reasoning") {
      if (Item* const item = item_for(of, PartKind::Reasoning, sink)) {
        item->id = of.item.member("id").value_or(JsonValue()).string();
      }
      return;
    }
    if (word == "function_call" || word == "custom_tool_call") {
      Item* const item = item_for(of, PartKind::ToolCall, sink);
      if (item == nullptr || item->any_part) return;
      item->custom = word == "custom_tool_call";
      open_call(*item, of.item, sink);
      return;
    }
    Item* const item = word.empty() ? nullptr : item_for(of, PartKind::Opaque, sink);
    if (item != nullptr && !item->any_part) open_opaque(*item, of.item, word, sink);
  }
  [[nodiscard]] std::string made_call_id(const Item& item) const {
    return made_id("call_", id_seed_, item.index);
  }
  // A call without a name waits for the item's end.
  void open_call(Item& item, JsonValue from, EventSink& sink) {
    const std::string name = from.member("name").value_or(JsonValue()).string();
    if (name.empty()) return;
    std::string id = from.member("call_id").value_or(JsonValue()).string();
    if (id.empty()) id = made_call_id(item);
    called_ = true;
    open_part(item, {.part_kind = PartKind::ToolCall, .id = id, .name = name, .custom = item.custom}, sink);
  }
  void open_opaque(Item& item, JsonValue from, std::string_view type, EventSink& sink) {
    item.type = type;
    open_part(item, {.part_kind = PartKind::Opaque, .word = item.type}, sink);
    opaque(item, from.text(), sink);
  }

  void item_done(const EventMembers& of, EventSink& sink) {
    const auto type = of.item.member("type");
    if (!type) return;
    Item* item = find_item(of);
    if (item != nullptr && item->closed) return;
    const std::string_view word = type->raw_string();
    if (item == nullptr) {
      item_added(of, sink);
      item = find_item(of);
      if (item == nullptr) return;
    }
    item->closed = true;
    switch (item->kind) {
      case PartKind::ToolCall: call_done(*item, of.item, sink); break;
      case PartKind::Reasoning: reasoning_done(*item, of.item, sink); break;
      case PartKind::Opaque:
        if (!item->any_part) open_opaque(*item, of.item, word, sink);
        if (is_open(*item, PartKind::Opaque)) opaque(*item, of.item.text(), sink);
        break;
      default:
        if (!item->any_part) emit_parts(*item, decode_output_item(of.item, made_call_id(*item)), sink);
        break;
    }
    close_part(*item, sink);
  }
  void call_done(Item& item, JsonValue from, EventSink& sink) {
    if (!item.any_part) open_call(item, from, sink);
    if (!is_open(item, PartKind::ToolCall) || item.any_delta) return;
    const auto whole = from.member(item.custom ? "input" : "arguments");
    const std::string text = whole && whole->is_string() ? whole->string() : std::string();
    delta(item, !item.custom && (text.empty() || text == "null") ? "{}" : text, sink);
  }
  void reasoning_done(Item& item, JsonValue from, EventSink& sink) {
    if (!item.any_part) {
      emit_parts(item, decode_output_item(from, made_call_id(item)), sink);
      return;
    }
    const auto sealed = from.member("encrypted_content");
    if (!sealed || !sealed->is_string() || sealed->raw_string().empty()) return;
    if (!is_open(item, PartKind::Reasoning)) {
      open_part(item,
                {.part_kind = PartKind::Reasoning, .id = item.id, .reasoning = ReasoningPart::Kind::Redacted},
                sink);
    }
    state(item, state_of_field(sealed->string(), kDialect), sink);
  }
  // An item of which nothing came before, as its parts.
  void emit_parts(Item& item, const DecodedItem& decoded, EventSink& sink) {
    for (const model::Part& part : decoded.parts) {
      if (const auto* text = part.as<model::TextPart>()) {
        if (text->text.empty() && text->citations.empty()) continue;
        open_part(item, {.part_kind = PartKind::Text}, sink);
        delta(item, text->text, sink);
        for (const model::Json& each : text->citations) citation(item, each, sink);
      } else if (const auto* refusal = part.as<model::RefusalPart>()) {
        open_part(item, {.part_kind = PartKind::Refusal}, sink);
        delta(item, refusal->text, sink);
      } else if (const auto* thought = part.as<ReasoningPart>()) {
        open_part(item, {.part_kind = PartKind::Reasoning, .id = thought->id, .reasoning = thought->kind},
                  sink);
        delta(item, thought->text, sink);
      } else if (const auto* other = part.as<model::OpaquePart>()) {
        open_opaque(item, JsonValue(other->value), other->type, sink);
      }
      if (item.open && !part.state.empty()) state(item, part.state, sink);
    }
    if (!decoded.logprobs.empty()) logprobs(JsonValue(decoded.logprobs), sink);
  }

  void take_response(const EventMembers& of, EventSink& sink) {
    const bool terminal = of.type == "response.completed" || of.type == "response.incomplete" ||
                          of.type == "response.failed" || of.type == "response.cancelled";
    if (!terminal) return;
    const ResponseMembers response = read_response(of.response);
    if (parts_ == 0) take_output(response.output, sink);
    if (over_) return;
    for (Item& item : items_) close_part(item, sink);
    const model::Usage usage = openai::decode_usage(response.usage, quirks_);
    if (usage.source != model::UsageSource::None) {
      emit({.kind = StreamEvent::Kind::UsageSoFar, .usage = &usage}, sink);
    }
    if (of.type == "response.failed" || of.type == "response.cancelled") {
      return fail(error_of_response(response.error, response.status.raw_string()), sink);
    }
    const auto reason = response.incomplete.member("reason");
    const bool incomplete = of.type == "response.incomplete";
    end(incomplete ? "incomplete" : "completed", reason ? reason->raw_string() : std::string_view(), sink);
  }
  // Some engines send nothing before the end.
  void take_output(JsonValue output, EventSink& sink) {
    items_.clear();
    EventMembers of;
    for (wire::JsonElements items(output); items.next() && !over_; ++of.output_index) {
      of.item = items.value();
      item_done(of, sink);
    }
  }
  void end(std::string_view status, std::string_view reason, EventSink& sink) {
    for (Item& item : items_) close_part(item, sink);
    over_ = true;
    emit({.kind = StreamEvent::Kind::Finished,
          .finish = finish_of(status, reason, called_),
          .word = status == "incomplete" && !reason.empty() ? reason : status},
         sink);
    emit({.kind = StreamEvent::Kind::End}, sink);
  }

  model::Quirks quirks_;
  std::string id_seed_;
  wire::SseDecoder sse_;
  std::vector<Item> items_;
  std::uint32_t parts_ = 0;
  bool started_ = false;
  bool called_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> make_stream_decoder(const model::Target& target, std::string_view id_seed) {
  return std::make_unique<Decoder>(target, id_seed);
}

}  // namespace qq::dialects::openai_responses
