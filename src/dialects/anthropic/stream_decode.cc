// A provider's stream. Read by `data.type`, for imitators leave the `event:` lines out. Blocks are told apart
// by their index; whatever order they come in, what goes out keeps the neutral grammar. Blocks of Anthropic's
// own kinds (hosted tools, compactions) are one OpaqueDelta, whole, when they end.
#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"
#include "dialects/anthropic/usage.h"
#include "dialects/carried_state.h"
#include "dialects/made_ids.h"
#include "dialects/openai/error_body.h"
#include "dialects/provider_json.h"
#include "wire/aws_frames.h"
#include "wire/json_text.h"
#include "wire/sse.h"

namespace qq::dialects::anthropic {
namespace {

using model::Finish;
using model::PartKind;
using model::StreamEvent;
using wire::JsonMembers;
using wire::JsonValue;
using Kind = StreamEvent::Kind;

// A block's JSON as it grows by its deltas.
struct OpaqueBlock {
  std::string start;
  std::string input;                                       // of a call that the provider runs
  std::vector<std::pair<std::string, std::string>> later;  // members that deltas bring

  void take(JsonValue delta) {
    for (JsonMembers members(delta); members.next();) {
      if (members.key_is("type")) continue;
      if (members.key_is("partial_json")) {
        input += members.value().string();
        continue;
      }
      const auto known =
          std::ranges::find(later, members.raw_key(), &std::pair<std::string, std::string>::first);
      if (known == later.end()) {
        later.emplace_back(members.raw_key(), members.value().text());
      } else {
        known->second = members.value().text();
      }
    }
  }
  [[nodiscard]] std::string whole() const {
    std::string out;
    wire::JsonWriter json(out);
    json.begin_object();
    const bool has_input = !input.empty() && !wire::check_json(input);
    for (JsonMembers members{JsonValue(start)}; members.next();) {
      const auto replaced =
          std::ranges::find(later, members.raw_key(), &std::pair<std::string, std::string>::first);
      if (replaced != later.end() || (has_input && members.key_is("input"))) continue;
      json.key(members.raw_key()).raw(members.value().text());
    }
    if (has_input) json.raw_member("input", input);
    for (const auto& [key, value] : later) json.key(key).raw(value);
    json.end_object();
    return out;
  }
};

constexpr std::size_t kBlocksMax = 4096;  // a guess; more is no answer but an attack

class MessageEvents {
 public:
  explicit MessageEvents(std::string_view id_seed) : id_seed_(id_seed) {}

  [[nodiscard]] bool done() const noexcept { return done_; }

  void take(std::string_view data, EventSink& sink) {
    if (done_ || data.empty()) return;
    if (data == "[DONE]") {  // imitators
      if (finished_) end(sink);
      return;
    }
    std::string repaired;
    if (check_provider_json(data, repaired) != nullptr)
      return broken(ErrorKind::BadJson, "an event of the stream is not JSON", sink);
    const JsonValue event(data);
    const auto type = event.member("type");
    const std::string_view word = type ? type->raw_string() : std::string_view();
    if (word == "content_block_delta") {
      delta(event, sink);
    } else if (word == "content_block_start") {
      block_start(event, sink);
    } else if (word == "content_block_stop") {
      if (Block* block = block_at(index_of(event))) stop(*block, sink);
    } else if (word == "ping") {
      sink.on_event({.kind = Kind::Ping});
    } else if (word == "message_start") {
      message_start(event, sink);
    } else if (word == "message_delta") {
      message_delta(event, sink);
    } else if (word == "message_stop") {
      if (started_) end(sink);
    } else if (word == "error" || (word.empty() && event.member("error"))) {
      auto error = openai::find_error(event);
      broken(error ? std::move(*error)
                   : Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                     "the provider sent an error without a message"),
             sink);
    }
  }
  void finish(EventSink& sink) {
    if (done_) return;
    // Imitators leave the last event out; a reason to stop is an end.
    if (finished_) return end(sink);
    broken(ErrorKind::StreamCut, "the stream ended before the answer did", sink);
  }
  void broken(Error error, EventSink& sink) {
    if (std::exchange(done_, true)) return;
    sink.on_event({.kind = Kind::Failed, .error = &error});
  }
  void broken(ErrorKind kind, std::string text, EventSink& sink) {
    broken(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)), sink);
  }

 private:
  struct Block {
    std::int64_t index = 0;
    std::uint32_t part = 0;
    PartKind kind = PartKind::Text;
    bool open = true;
    bool has_state = false;
    bool has_arguments = false;
    std::string whole_input;  // of a call that came whole with its start
    std::optional<OpaqueBlock> opaque;
  };

  static std::int64_t index_of(JsonValue event) {
    const auto index = event.member("index");
    return index ? index->integer().value_or(0) : 0;
  }
  Block* block_at(std::int64_t index) {
    const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                    [&](const Block& block) { return block.index == index && block.open; });
    return found == blocks_.rend() ? nullptr : &*found;
  }

  void message_start(JsonValue event, EventSink& sink) {
    const auto message = event.member("message");
    if (!message) return;
    const auto id = message->member("id");
    const std::string_view raw_id = id ? id->raw_string() : std::string_view();
    if (started_ && raw_id != id_ && !blocks_.empty())
      return broken(ErrorKind::StreamError, "a second message began inside the first one", sink);
    if (!std::exchange(started_, true)) {
      id_ = raw_id;
      std::string scratch;
      sink.on_event({.kind = Kind::Started,
                     .id = id_,
                     .model = text_in(message->member("model"), scratch),
                     .dialect = model::Dialect::Anthropic});
    }
    usage(message->member("usage"), sink);
  }
  // Imitators that begin without a message_start.
  void start_if_needed(EventSink& sink) {
    if (std::exchange(started_, true)) return;
    sink.on_event({.kind = Kind::Started, .dialect = model::Dialect::Anthropic});
  }
  void usage(const std::optional<JsonValue>& value, EventSink& sink) {
    if (!value || !value->is_object()) return;
    figures_.take(*value);
    const model::Usage usage = figures_.usage();
    if (usage.source != model::UsageSource::None) sink.on_event({.kind = Kind::UsageSoFar, .usage = &usage});
  }

  // ---- Blocks

  Block& open(std::int64_t index, PartKind kind, StreamEvent event, EventSink& sink) {
    // Only calls may be open beside each other; and an index that begins again has ended.
    for (Block& block : blocks_) {
      const bool both_calls = block.kind == PartKind::ToolCall && kind == PartKind::ToolCall;
      if (block.open && (!both_calls || block.index == index)) stop(block, sink);
    }
    Block& block = blocks_.emplace_back();
    block.index = index;
    block.kind = kind;
    block.part = static_cast<std::uint32_t>(blocks_.size() - 1);
    event.kind = Kind::PartStarted;
    event.part_kind = kind;
    event.part = block.part;
    event.dialect = model::Dialect::Anthropic;
    sink.on_event(event);
    return block;
  }
  void stop(Block& block, EventSink& sink) {
    block.open = false;
    if (!block.whole_input.empty() && !block.has_arguments)
      sink.on_event({.kind = Kind::ArgumentsDelta, .part = block.part, .text = block.whole_input});
    if (block.opaque) {
      const std::string json = block.opaque->whole();
      sink.on_event({.kind = Kind::OpaqueDelta,
                     .part = block.part,
                     .json = json,
                     .dialect = model::Dialect::Anthropic});
      block.opaque.reset();
    }
    sink.on_event({.kind = Kind::PartFinished, .part = block.part});
  }
  void stop_all(EventSink& sink) {
    for (Block& block : blocks_) {
      if (block.open) stop(block, sink);
    }
  }

  void block_start(JsonValue event, EventSink& sink) {
    const auto value = event.member("content_block");
    if (!value || finished_) return;
    if (blocks_.size() >= kBlocksMax)
      return broken(ErrorKind::BadJson, "the provider's stream has too many blocks", sink);
    start_if_needed(sink);
    const auto type = value->member("type");
    const std::string_view word = type ? type->raw_string() : std::string_view();
    const std::int64_t index = index_of(event);
    std::string scratch;
    if (word == "text") {
      Block& block = open(index, PartKind::Text, {}, sink);
      text(block, Kind::TextDelta, text_in(value->member("text"), scratch), sink);
      if (const auto citations = value->member("citations")) {
        for (wire::JsonElements each(*citations); each.next();) citation(block, each.value(), sink);
      }
    } else if (word == "thinking") {
      Block& block = open(index, PartKind::Reasoning, {}, sink);
      text(block, Kind::TextDelta, text_in(value->member("thinking"), scratch), sink);
      state(block, text_in(value->member("signature"), scratch), sink);
    } else if (word == "redacted_thinking") {
      Block& block =
          open(index, PartKind::Reasoning, {.reasoning = model::ReasoningPart::Kind::Redacted}, sink);
      state(block, text_in(value->member("data"), scratch), sink);
    } else if (word == "tool_use") {
      call_start(index, *value, sink);
    } else if (!word.empty()) {
      Block& block = open(index, PartKind::Opaque, {.word = word}, sink);
      block.opaque.emplace().start = value->text();
    }
  }
  void call_start(std::int64_t index, JsonValue value, EventSink& sink) {
    std::string id_scratch;
    std::string name_scratch;
    std::string_view id = text_in(value.member("id"), id_scratch);
    const std::string_view name = text_in(value.member("name"), name_scratch);
    if (name.empty()) return;
    if (id.empty()) id = id_scratch = made_call_id(id_seed_, blocks_.size());
    Block& block = open(index, PartKind::ToolCall, {.id = id, .name = name}, sink);
    const auto input = value.member("input");
    if (input && input->is_object() && JsonMembers(*input).next()) block.whole_input = input->text();
  }

  void delta(JsonValue event, EventSink& sink) {
    const auto value = event.member("delta");
    if (!value || finished_) return;
    const auto type = value->member("type");
    const std::string_view word = type ? type->raw_string() : std::string_view();
    Block* block = block_at(index_of(event));
    std::string scratch;
    if (block != nullptr && block->opaque) {
      block->opaque->take(*value);
    } else if (word == "text_delta" || word == "thinking_delta") {
      const bool thinks = word == "thinking_delta";
      const PartKind kind = thinks ? PartKind::Reasoning : PartKind::Text;
      const std::string_view piece = text_in(value->member(thinks ? "thinking" : "text"), scratch);
      if (block == nullptr || block->kind != kind) {  // imitators that begin no block
        if (piece.empty()) return;
        if (blocks_.size() >= kBlocksMax)
          return broken(ErrorKind::BadJson, "the provider's stream has too many blocks", sink);
        start_if_needed(sink);
        block = &open(index_of(event), kind, {}, sink);
      }
      text(*block, Kind::TextDelta, piece, sink);
    } else if (block == nullptr) {
      return;
    } else if (word == "input_json_delta") {
      if (block->kind == PartKind::ToolCall)
        text(*block, Kind::ArgumentsDelta, text_in(value->member("partial_json"), scratch), sink);
    } else if (word == "signature_delta") {
      state(*block, text_in(value->member("signature"), scratch), sink);
    } else if (word == "citations_delta") {
      if (const auto one = value->member("citation")) citation(*block, *one, sink);
    }
  }
  static void text(Block& block, Kind kind, std::string_view piece, EventSink& sink) {
    if (piece.empty()) return;
    block.has_arguments = true;
    sink.on_event({.kind = kind, .part = block.part, .text = piece});
  }
  static void state(Block& block, std::string_view data, EventSink& sink) {
    if (data.empty() || block.kind != PartKind::Reasoning || std::exchange(block.has_state, true)) return;
    const model::OpaqueState state = state_of_field(data, model::Dialect::Anthropic);
    if (state.empty()) return;
    sink.on_event({.kind = Kind::StateDelta, .part = block.part, .state = &state});
  }
  static void citation(const Block& block, JsonValue value, EventSink& sink) {
    if (block.kind != PartKind::Text) return;
    sink.on_event({.kind = Kind::CitationDelta,
                   .part = block.part,
                   .json = value.text(),
                   .dialect = model::Dialect::Anthropic});
  }

  // ---- The end

  void message_delta(JsonValue event, EventSink& sink) {
    start_if_needed(sink);
    if (const auto value = event.member("delta"); value && !finished_) {
      const auto reason = value->member("stop_reason");
      if (reason && reason->is_string()) {
        std::string scratch;
        finished(reason->raw_string(), text_in(value->member("stop_sequence"), scratch), sink);
      }
    }
    usage(event.member("usage"), sink);
  }
  void finished(std::string_view word, std::string_view stop_string, EventSink& sink) {
    stop_all(sink);
    finished_ = true;
    sink.on_event({.kind = Kind::Finished,
                   .finish = finish_of(word),
                   .text = stop_string,
                   .word = word,
                   .dialect = model::Dialect::Anthropic});
  }
  void end(EventSink& sink) {
    if (!finished_) finished({}, {}, sink);
    done_ = true;
    sink.on_event({.kind = Kind::End});
  }

  std::string id_seed_;
  std::string id_;  // as it is escaped
  std::vector<Block> blocks_;
  UsageFigures figures_;
  bool started_ = false;
  bool finished_ = false;
  bool done_ = false;
};

class SseStream final : public StreamDecoder {
 public:
  explicit SseStream(std::string_view id_seed) : events_(id_seed) {}
  void feed(std::string_view bytes, EventSink& sink) override {
    std::size_t consumed = 0;
    wire::SseEvent event;
    while (!events_.done() && sse_.next(bytes, consumed, event)) events_.take(event.data, sink);
    if (sse_.verdict() == wire::SseDecoder::Verdict::EventTooBig)
      events_.broken(ErrorKind::EventTooBig, "an event of the stream is too big", sink);
  }
  void finish(EventSink& sink) override {
    wire::SseEvent event;
    if (!events_.done() && sse_.finish(event)) events_.take(event.data, sink);
    events_.finish(sink);
  }

 private:
  wire::SseDecoder sse_;
  MessageEvents events_;
};

// Bedrock's invoke: frames whose payload is {"bytes": base64 of an event}.
class FrameStream final : public StreamDecoder {
 public:
  explicit FrameStream(std::string_view id_seed) : events_(id_seed) {}
  void feed(std::string_view bytes, EventSink& sink) override {
    wire::AwsFrame frame;
    while (!events_.done() && frames_.next(bytes, frame)) take(frame, sink);
    if (frames_.broken()) events_.broken(ErrorKind::BadFrame, "the stream's frames are broken", sink);
  }
  void finish(EventSink& sink) override { events_.finish(sink); }
  [[nodiscard]] std::optional<std::uint64_t> frames() const noexcept override { return frames_.count(); }

 private:
  void take(const wire::AwsFrame& frame, EventSink& sink) {
    if (wire::check_json(frame.payload)) {
      if (!frame.payload.empty())
        events_.broken(ErrorKind::BadJson, "a frame of the stream holds no JSON", sink);
      return;
    }
    const JsonValue payload(frame.payload);
    const std::string_view kind = frame.header(":message-type");
    if (kind == "exception" || kind == "error") {
      const auto message = payload.member("message");
      Error error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                    message ? message->string() : std::string());
      error.type = frame.header(kind == "error" ? ":error-code" : ":exception-type");
      if (error.message.empty()) error.message = error.type;
      return events_.broken(std::move(error), sink);
    }
    const auto bytes = payload.member("bytes");
    const auto event = bytes ? from_base64(bytes->raw_string()) : std::nullopt;
    if (event) events_.take(*event, sink);
  }

  wire::AwsFrames frames_;
  MessageEvents events_;
};

}  // namespace

std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target, std::string_view id_seed) {
  if (target.quirks.messages_form == model::MessagesForm::BedrockInvoke)
    return std::make_unique<FrameStream>(id_seed);
  return std::make_unique<SseStream>(id_seed);
}

}  // namespace qq::dialects::anthropic
