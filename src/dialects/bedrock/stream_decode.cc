// A provider's stream. Names are in the frames' `:event-type`; only calls and media begin with an event of
// their own, texts and thoughts with their first delta. Usage comes behind messageStop. `p` is padding.
#include <array>
#include <utility>

#include "base/base64.h"
#include "dialects/bedrock/sides.h"
#include "dialects/part_events.h"
#include "dialects/provider_json.h"
#include "wire/aws_frames.h"
#include "wire/json_text.h"
#include "wire/json_writer.h"

namespace qq::dialects::bedrock {
namespace {

using model::PartKind;
using wire::JsonMembers;
using wire::JsonValue;

struct StatusOf {
  std::string_view exception;
  std::string_view status;
};
// What the answer would have had as its status. A modelStreamErrorException may be anybody's fault.
constexpr std::array<StatusOf, 5> kExceptions{{
    {"throttlingException", "429"},
    {"serviceUnavailableException", "503"},
    {"internalServerException", "500"},
    {"validationException", "400"},
    {"modelTimeoutException", "504"},
}};

// A call of Bedrock's own tools, or its result, as the content block that it would be in a whole answer.
struct OwnBlock {
  std::string_view word;  // "toolUse", "toolResult"
  std::string start;      // the object that began it
  std::string input;      // pieces of JSON text
  std::string results;    // elements

  void take(JsonValue delta) {
    if (const auto piece = delta.member("input")) input += piece->string();
    for (wire::JsonElements each(delta); delta.is_array() && each.next();) {
      if (!results.empty()) results += ',';
      results += each.value().text();
    }
  }
  [[nodiscard]] std::string whole() const {
    std::string out;
    wire::JsonWriter json(out);
    json.begin_object().key(word).begin_object();
    for (JsonMembers members{JsonValue(start)}; members.next();)
      json.key(members.raw_key()).raw(members.value().text());
    if (word == "toolResult") {
      json.key("content").begin_array();
      if (!results.empty()) json.raw(results);
      json.end_array();
    } else {
      json.raw_member("input", !input.empty() && !wire::check_json(input) ? std::string_view(input) : "{}");
    }
    json.end_object().end_object();
    return out;
  }
};

class ConverseStream final : public StreamDecoder {
 public:
  explicit ConverseStream(std::string_view id_seed) : events_(model::Dialect::Bedrock, id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    events_.to(sink);
    wire::AwsFrame frame;
    while (!events_.done() && frames_.next(bytes, frame)) take(frame);
    if (frames_.broken()) events_.fail(ErrorKind::BadFrame, "the stream's frames are broken");
  }
  void finish(EventSink& sink) override {
    events_.to(sink);
    events_.body_ended();
  }
  [[nodiscard]] std::optional<std::uint64_t> frames() const noexcept override { return frames_.count(); }

 private:
  void take(const wire::AwsFrame& frame) {
    const std::string_view kind = frame.header(":message-type");
    std::string room;
    const auto checked = provider_json(frame.payload, room);
    const bool failed = kind == "exception" || kind == "error";
    if (!checked && !failed) {
      if (!frame.payload.empty()) events_.fail(ErrorKind::BadJson, "a frame of the stream holds no JSON");
      return;
    }
    const JsonValue payload = checked.value_or(JsonValue());
    if (failed) return exception(frame, payload, kind == "error");
    const std::string_view event = frame.header(":event-type");
    if (event == "contentBlockDelta") {
      delta(payload);
    } else if (event == "contentBlockStart") {
      start(payload);
    } else if (event == "contentBlockStop") {
      end_block();
    } else if (event == "messageStart") {
      events_.start();
    } else if (event == "messageStop") {
      end_block();
      std::string scratch;
      const std::string_view word = text_in(payload.member("stopReason"), scratch);
      events_.finish(finish_of(word), word);
    } else if (event == "metadata") {
      if (const auto usage = payload.member("usage")) events_.usage(usage_of(*usage));
      if (events_.finished()) events_.end();
    }
  }

  void exception(const wire::AwsFrame& frame, JsonValue payload, bool unmodeled) {
    Error error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                  error_text(payload).value_or(std::string()));
    error.type = frame.header(unmodeled ? ":error-code" : ":exception-type");
    if (error.message.empty()) error.message = frame.header(":error-message");
    if (error.message.empty()) error.message = error.type;
    if (error.message.empty()) error.message = "the provider sent an error without a message";
    if (const auto told = payload.member("originalStatusCode")) error.code = told->text();
    for (const StatusOf& each : kExceptions) {
      if (each.exception == error.type) error.code = each.status;
    }
    events_.fail(std::move(error));
  }

  // ---- Blocks, told apart by their index

  void start(JsonValue payload) {
    const auto begun = payload.member("start");
    if (!begun) return;
    end_block();
    index_ = index_of(payload);
    std::string scratch;
    if (const auto call = begun->member("toolUse")) {
      const auto type = call->member("type");
      std::string name_room;
      const std::string_view name = text_in(call->member("name"), name_room);
      if (type && type->raw_string() == "server_tool_use") {
        own_.emplace(OwnBlock{"toolUse", std::string(call->text()), {}, {}});
      } else if (!name.empty()) {
        events_.open_call(text_in(call->member("toolUseId"), scratch), name);
      }
    } else if (const auto result = begun->member("toolResult")) {
      own_.emplace(OwnBlock{"toolResult", std::string(result->text()), {}, {}});
    } else if (const auto image = begun->member("image")) {
      const std::string type = "image/" + std::string(text_in(image->member("format"), scratch));
      events_.open(PartKind::Media, {.media_type = type});
    }
  }
  void delta(JsonValue payload) {
    const auto piece = payload.member("delta");
    if (!piece) return;
    if (index_ != index_of(payload)) {
      end_block();
      index_ = index_of(payload);
    }
    std::string scratch;
    JsonMembers members(*piece);
    if (!members.next()) return;
    const std::string_view kind = members.raw_key();
    const JsonValue value = members.value();
    if (own_) {
      own_->take(value);
    } else if (kind == "text") {
      if (!events_.is_open(PartKind::Text)) end_block();
      events_.text(PartKind::Text, text_in(value, scratch));
    } else if (kind == "reasoningContent") {
      thought(value);
    } else if (kind == "toolUse") {
      const std::string_view input = text_in(value.member("input"), scratch);
      if (!input.empty() && !events_.finished() && !events_.is_open(PartKind::ToolCall))
        return events_.fail(ErrorKind::StreamError, "a piece of a call came that had not begun");
      events_.arguments(input);
    } else if (kind == "citation") {
      events_.citation(value.text());
    } else if (kind == "image") {
      if (const auto bytes = value.at("source", "bytes")) events_.media(bytes->raw_string());
    }
  }
  void thought(JsonValue value) {
    std::string scratch;
    if (const auto blob = value.member("redactedContent")) {
      if (!redacted_) {
        end_block();
        events_.open(PartKind::Reasoning, {.reasoning = model::ReasoningPart::Kind::Redacted});
        redacted_ = true;
      }
      add_redacted(text_in(*blob, scratch));
      return;
    }
    if (!events_.is_open(PartKind::Reasoning) || redacted_) {
      end_block();
      if (const auto first = value.member("signature"); first && !first->raw_string().empty())
        events_.open(PartKind::Reasoning);  // thoughts that are not shown
    }
    events_.text(PartKind::Reasoning, text_in(value.member("text"), scratch));
    state_ += text_in(value.member("signature"), scratch);
  }
  // Each piece of a blob is whole base64 of its own.
  void add_redacted(std::string_view piece) {
    if (state_.empty()) {
      state_ = piece;
      return;
    }
    const auto before = from_base64(state_);
    const auto more = from_base64(piece);
    state_ = before && more ? to_base64(*before + *more) : state_ + std::string(piece);
  }
  void end_block() {
    if (own_) events_.opaque(own_->word, own_->whole());
    own_.reset();
    if (events_.is_open(PartKind::Reasoning)) events_.state(state_);
    state_.clear();
    redacted_ = false;
    events_.close();
  }
  static std::int64_t index_of(JsonValue payload) noexcept {
    return count_in(payload.member("contentBlockIndex")).value_or(0);
  }

  wire::AwsFrames frames_;
  PartEvents events_;
  std::optional<OwnBlock> own_;
  std::string state_;  // of the thought that is open, as it grows
  std::int64_t index_ = -1;
  bool redacted_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed) {
  return std::make_unique<ConverseStream>(id_seed);
}

}  // namespace qq::dialects::bedrock
