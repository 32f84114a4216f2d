// A stream for a client, in the order that the SDK and Claude Code rely on. Three things wait for what
// follows them: message_start for usage, which mostly comes with it; a call's start for the state that its id
// must carry, if the call came whole; message_delta for the usage that other providers send last. And one
// block is open at a time, whatever a provider's calls do (dialects/calls_in_turn.h).
#include <algorithm>
#include <optional>
#include <utility>

#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"
#include "dialects/anthropic/usage.h"
#include "dialects/calls.h"
#include "dialects/calls_in_turn.h"
#include "dialects/carried_state.h"
#include "dialects/losses.h"

namespace qq::dialects::anthropic {
namespace {

using model::Dialect;
using model::PartKind;
using model::StreamEvent;
using Kind = StreamEvent::Kind;

class Encoder final : public StreamEncoder, private EventSink {
 public:
  Encoder(const model::ChatRequest& request, const AnswerHead& head)
      : head_(head), hides_thoughts_(request.reasoning && request.reasoning->show == false) {}

  void encode(const StreamEvent& event, std::string& out) override {
    out_ = &out;
    if (event.kind == Kind::UsageSoFar) usage_ = *event.usage;
    if (event.kind == Kind::Started) {
      id_ = answer_id(event.id, head_);
      own_ = event.dialect == Dialect::Anthropic;
      dialect_ = event.dialect;
      begun_ = true;
      return;
    }
    if (event.kind == Kind::Failed) return encode_stream_error(*event.error, head_.request_id, out);
    // It may come before the answer has begun, and begins nothing.
    if (event.kind == Kind::Ping && !begun_) return void(out += kPing);
    if (!std::exchange(said_start_, true)) message_start();
    if (event.choice != 0) return lose("choices", loss::kNoPlace);  // there is but one
    if (!fault_ && !calls_.take(event, *this)) {
      fault_ = Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                               "the provider mixes the pieces of tool calls that are too large to be held");
    }
  }
  [[nodiscard]] const Error* fault() const noexcept override { return fault_ ? &*fault_ : nullptr; }

 private:
  void on_event(const StreamEvent& event) override {
    switch (event.kind) {
      case Kind::PartStarted: start(event); break;
      case Kind::TextDelta: text(part_of(event), event.text); break;
      case Kind::ArgumentsDelta: arguments(part_of(event), event.text); break;
      case Kind::StateDelta: state(part_of(event), *event.state); break;
      case Kind::CitationDelta:
        if (!own_) return lose("content[].citations", loss::kNoPlace);
        citation(part_of(event), event.json);
        break;
      case Kind::OpaqueDelta: opaque(part_of(event), event.json); break;
      case Kind::PartFinished: stop(part_of(event)); break;
      case Kind::Finished:
        finish_ = event.finish;
        if (own_) word_ = event.word;
        if (event.finish == model::Finish::StopString) stop_string_ = event.text;
        break;
      case Kind::Ping: *out_ += kPing; break;
      case Kind::End: end(); break;
      case Kind::Logprobs: lose("logprobs", loss::kNoPlace); break;
      default: break;  // media, lost with their part
    }
  }

  enum class Place : std::uint8_t {
    Nowhere,  // not shown
    Waiting,  // its content_block_start is not written
    Open,
  };
  struct Block {
    PartKind kind = PartKind::Text;
    Place place = Place::Nowhere;
    bool redacted = false;
    bool has_state = false;   // it was written
    bool custom = false;      // a call whose input is any text: an object is made of it when it is whole
    std::uint32_t index = 0;  // Open
    std::string id;           // of a call that waits
    std::string name;
    std::string held;  // arguments of a call that waits
  };

  Block& part_of(const StreamEvent& event) {
    if (event.part >= blocks_.size()) blocks_.resize(event.part + 1);
    return blocks_[event.part];
  }

  // ---- Events as bytes

  wire::JsonWriter begin(std::string_view name) {
    out_->append("event: ").append(name).append("\ndata: ");
    wire::JsonWriter json(*out_);
    json.begin_object().member("type", name);
    return json;
  }
  void close(wire::JsonWriter& json) {
    json.end_object();
    *out_ += "\n\n";
  }
  wire::JsonWriter begin_block(Block& block) {
    block.place = Place::Open;
    block.index = next_index_++;
    wire::JsonWriter json = begin("content_block_start");
    json.member("index", block.index).key("content_block");
    return json;
  }
  // A delta of one text member.
  void delta(const Block& block, std::string_view type, std::string_view key, std::string_view text) {
    wire::JsonWriter json = begin("content_block_delta");
    json.member("index", block.index).key("delta").begin_object();
    json.member("type", type).member(key, text).end_object();
    close(json);
  }
  void message_start() {
    wire::JsonWriter json = begin("message_start");
    json.key("message").begin_object().member("id", id_);
    json.member("type", "message").member("role", "assistant").member("model", head_.model);
    json.key("content").begin_array().end_array();
    json.key("stop_reason").null().key("stop_sequence").null();
    json.key("usage").begin_object();
    write_usage(json, usage_);
    json.end_object().end_object();
    close(json);
  }

  // ---- Parts

  void start(const StreamEvent& event) {
    Block& block = part_of(event);
    block.kind = event.part_kind;
    block.redacted =
        event.part_kind == PartKind::Reasoning && event.reasoning == model::ReasoningPart::Kind::Redacted;
    switch (event.part_kind) {
      case PartKind::Text:
      case PartKind::Refusal: open_text(block); break;
      case PartKind::Reasoning:
        if (block.redacted) {
          block.place = Place::Waiting;
        } else {
          open_thinking(block);
        }
        break;
      case PartKind::ToolCall:
        had_calls_ = true;
        block.id = event.id;
        block.name = event.name;
        block.custom = event.custom;
        block.place = Place::Waiting;
        // Anthropic's own calls have no state.
        if (own_ || event.state != nullptr) open_call(block, event.state);
        break;
      case PartKind::Opaque:
        block.place = own_ ? Place::Waiting : Place::Nowhere;
        if (!own_) lose("content[]", loss::kNoPlace);
        break;
      case PartKind::Media: lose("content[]", loss::kNoPlace); break;
    }
  }
  void open_text(Block& block) {
    wire::JsonWriter json = begin_block(block);
    json.begin_object().member("type", "text").member("text", "").end_object();
    close(json);
  }
  void open_thinking(Block& block) {
    wire::JsonWriter json = begin_block(block);
    json.begin_object()
        .member("type", "thinking")
        .member("thinking", "")
        .member("signature", "")
        .end_object();
    close(json);
  }
  void open_call(Block& block, const model::OpaqueState* state) {
    if (state != nullptr && !state->empty()) {
      auto loaded = with_carried(block.id, {.call = *state, .reasoning = {}});
      if (!loaded) lose("content[].state", loss::kNoPlace);
      if (loaded) block.id = *std::move(loaded);
    }
    wire::JsonWriter json = begin_block(block);
    json.begin_object().member("type", "tool_use").member("id", block.id).member("name", block.name);
    json.key("input").begin_object().end_object().end_object();
    close(json);
    const std::string held = std::exchange(block.held, {});
    if (!held.empty() && held != "null") delta(block, "input_json_delta", "partial_json", held);
  }

  void text(Block& block, std::string_view piece) {
    if (block.place != Place::Open) return;
    if (block.kind == PartKind::Reasoning) {
      if (!hides_thoughts_) delta(block, "thinking_delta", "thinking", piece);
      return;
    }
    delta(block, "text_delta", "text", piece);
  }
  void arguments(Block& block, std::string_view piece) {
    if (block.custom) {
      block.held += piece;
    } else if (block.place == Place::Waiting) {
      // Only calls that come whole have a state, and it follows at once.
      block.held += piece;
      if (wire::check_json(block.held)) open_call(block, nullptr);
    } else if (block.place == Place::Open) {
      delta(block, "input_json_delta", "partial_json", piece);
    }
  }
  void state(Block& block, const model::OpaqueState& state) {
    if (block.kind == PartKind::ToolCall) {
      // Of an open one the id that would carry it has gone out.
      block.place == Place::Waiting ? open_call(block, &state) : lose("content[].state", loss::kNoPlace);
    } else if (block.redacted && block.place == Place::Waiting) {
      wire::JsonWriter json = begin_block(block);
      json.begin_object().member("type", "redacted_thinking");
      json.member("data", state_field(state, Dialect::Anthropic)).end_object();
      close(json);
    } else if (block.kind == PartKind::Reasoning && block.place == Place::Open) {
      block.has_state = true;
      delta(block, "signature_delta", "signature", state_field(state, Dialect::Anthropic));
    } else if (block.kind == PartKind::Text) {
      lose("content[].state", loss::kNoPlace);
    }
  }
  void citation(Block& block, std::string_view citation) {
    if (block.place != Place::Open) return;
    wire::JsonWriter json = begin("content_block_delta");
    json.member("index", block.index).key("delta").begin_object().member("type", "citations_delta");
    json.raw_member("citation", one_line(citation)).end_object();
    close(json);
  }
  // What the provider ran itself. Its input comes as a delta, as clients expect of calls.
  void opaque(Block& block, std::string_view value) {
    if (block.place != Place::Waiting) return;
    const std::string whole = one_line(value);
    std::string input;
    wire::JsonWriter json = begin_block(block);
    json.begin_object();
    for (wire::JsonMembers members{wire::JsonValue(whole)}; members.next();) {
      json.key(members.raw_key());
      if (members.key_is("input") && members.is_object()) {
        input = members.value().text();
        json.begin_object().end_object();
      } else {
        json.raw(members.value().text());
      }
    }
    json.end_object();
    close(json);
    if (!input.empty() && input != "{}") delta(block, "input_json_delta", "partial_json", input);
  }
  void stop(Block& block) {
    std::string input;
    if (block.custom) {
      bool wrapped = false;
      input = input_of(
          {.kind = model::ToolCallPart::Kind::Custom, .arguments = std::exchange(block.held, {})}, wrapped);
      if (wrapped) lose("content[].input", loss::kNotJson);
    }
    if (block.place == Place::Waiting && block.kind == PartKind::ToolCall) open_call(block, nullptr);
    if (!input.empty()) delta(block, "input_json_delta", "partial_json", input);
    const bool is_unsigned = block.kind == PartKind::Reasoning && block.place == Place::Open &&
                             !block.redacted && !block.has_state && !own_;
    // Without any, Anthropic would be given it as its own.
    if (is_unsigned) delta(block, "signature_delta", "signature", no_state_field(dialect_));
    if (std::exchange(block.place, Place::Nowhere) != Place::Open) return;
    wire::JsonWriter json = begin("content_block_stop");
    json.member("index", block.index);
    close(json);
  }

  // ---- The end

  void end() {
    const bool stopped = finish_ == model::Finish::Stop || finish_ == model::Finish::None;
    // Some providers have no word for it.
    const model::Finish finish = had_calls_ && stopped ? model::Finish::ToolCalls : finish_;
    wire::JsonWriter json = begin("message_delta");
    json.key("delta").begin_object();
    json.member("stop_reason", word_.empty() ? stop_reason_of(finish) : std::string_view(word_));
    if (stop_string_.empty()) {
      json.key("stop_sequence").null();
    } else {
      json.member("stop_sequence", stop_string_);
    }
    json.end_object().key("usage").begin_object();
    write_usage(json, usage_);
    json.end_object();
    close(json);
    wire::JsonWriter stop_json = begin("message_stop");
    close(stop_json);
  }

  AnswerHead head_;
  std::string* out_ = nullptr;
  std::string id_;
  std::string word_;
  std::string stop_string_;
  std::vector<Block> blocks_;
  model::Usage usage_;
  CallsInTurn calls_;
  std::optional<Error> fault_;
  model::Finish finish_ = model::Finish::None;
  std::uint32_t next_index_ = 0;
  Dialect dialect_ = Dialect::OpenAiChat;  // whose answer it is
  bool own_ = false;
  bool begun_ = false;
  bool said_start_ = false;
  bool had_calls_ = false;
  bool hides_thoughts_;
};

}  // namespace

std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request, const AnswerHead& head) {
  return std::make_unique<Encoder>(request, head);
}

}  // namespace qq::dialects::anthropic
