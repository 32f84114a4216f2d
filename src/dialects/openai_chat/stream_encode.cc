// Events to chat completion chunks, in OpenAI's order: a chunk with the role for each choice, deltas, a chunk
// with the finish reason, with include_usage one with usage and no choices, [DONE].
//
// A call's first chunk waits for the next event of that call, since a state that comes first goes into its
// id. Nothing else waits.
#include <algorithm>

#include "dialects/carried_state.h"
#include "dialects/losses.h"
#include "dialects/openai/errors.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"

namespace qq::dialects::openai_chat {
namespace {

using model::PartKind;
using model::StreamEvent;
using wire::JsonWriter;

class ChunkEncoder final : public StreamEncoder {
 public:
  ChunkEncoder(const model::ChatRequest& request, const AnswerHead& head)
      : head_(head),
        asks_usage_(request.usage_in_stream),
        hides_thoughts_(request.reasoning && request.reasoning->show == false) {}

  void encode(const StreamEvent& event, std::string& out) override {
    using Kind = StreamEvent::Kind;
    switch (event.kind) {
      case Kind::Started: start(event, out); break;
      case Kind::PartStarted: start_part(event, out); break;
      case Kind::TextDelta: write_text(event, out); break;
      case Kind::ArgumentsDelta: write_arguments(event, out); break;
      case Kind::StateDelta: take_state(event, out); break;
      case Kind::CitationDelta: write_citation(event, out); break;
      case Kind::MediaDelta: write_media(event, out); break;
      case Kind::PartFinished: finish_part(event, out); break;
      case Kind::Logprobs:
        begin_chunk(event.choice, out);
        out += "{}";
        end_chunk({}, event.json, out);
        break;
      case Kind::UsageSoFar: usage_ = *event.usage; break;
      case Kind::Finished:
        begin_chunk(event.choice, out);
        out += "{}";
        end_chunk(finish_word(event.finish), {}, out);
        break;
      case Kind::End: end(out); break;
      case Kind::Ping: out += openai::kHeartbeat; break;
      case Kind::Failed:
        out += openai::encode_stream_error(*event.error, model::Endpoint::ChatCompletions, head_.request_id);
        break;
      case Kind::OpaqueDelta: lose("content", loss::kForeignPart); break;
    }
  }

 private:
  struct OpenPart {
    std::uint32_t number = 0;
    PartKind kind = PartKind::Text;
    model::ReasoningPart::Kind reasoning = model::ReasoningPart::Kind::Full;
    std::string id;
    std::string name;
    std::string text;  // of a thought, an image's bytes
    std::string media_type;
    model::OpaqueState state;
    std::size_t begin = 0;    // in characters of the choice's text
    std::uint32_t index = 0;  // of the call, or of the thought
    bool custom = false;
    bool waits = false;     // a call's first chunk was not sent
    bool sent_any = false;  // of a call's arguments
  };
  struct WrittenChoice {
    std::uint32_t index = 0;
    std::uint32_t calls = 0;
    std::uint32_t thoughts = 0;
    std::size_t characters = 0;
    std::vector<model::Part> carried;  // thoughts with a state, for the next call's id
  };

  WrittenChoice& choice(std::uint32_t index, std::string& out) {
    const auto found = std::ranges::find(choices_, index, &WrittenChoice::index);
    if (found != choices_.end()) return *found;
    choices_.push_back({.index = index, .carried = {}});
    write_head(index, out);
    out += R"({"role":"assistant","content":"","refusal":null})";
    end_chunk({}, {}, out);
    return choices_.back();
  }
  OpenPart* part(std::uint32_t number) noexcept {
    const auto found = std::ranges::find(open_, number, &OpenPart::number);
    return found == open_.end() ? nullptr : &*found;
  }

  // Up to the value of `delta`, and from behind it.
  void write_head(std::uint32_t index, std::string& out) const {
    out += prefix_;
    out += "[{\"index\":";
    out += std::to_string(index);
    out += ",\"delta\":";
  }
  void begin_chunk(std::uint32_t index, std::string& out) {
    choice(index, out);
    write_head(index, out);
  }
  void end_chunk(std::string_view finish, std::string_view logprobs, std::string& out) const {
    if (logprobs.empty()) {
      out += ",\"logprobs\":null";
    } else {
      out.append(",\"logprobs\":{\"content\":").append(logprobs).append(",\"refusal\":null}");
    }
    out += ",\"finish_reason\":";
    if (finish.empty()) {
      out += "null";
    } else {
      out.append(1, '"').append(finish).append(1, '"');
    }
    out += asks_usage_ ? "}],\"usage\":null}\n\n" : "}]}\n\n";
  }

  void start(const StreamEvent& event, std::string& out) {
    prefix_ = "data: ";
    JsonWriter json(prefix_);
    json.begin_object().member("id", answer_id(event.id, head_)).member("object", "chat.completion.chunk");
    json.member("created", answer_time(event.created, head_)).member("model", head_.model);
    json.key("choices");
    choice(0, out);
  }

  void start_part(const StreamEvent& event, std::string& out) {
    WrittenChoice& owner = choice(event.choice, out);
    OpenPart& made = open_.emplace_back();
    made.number = event.part;
    made.kind = event.part_kind;
    made.reasoning = event.reasoning;
    made.id = event.id;
    made.name = event.name;
    made.media_type = event.media_type;
    made.custom = event.custom;
    made.begin = owner.characters;
    made.waits = event.part_kind == PartKind::ToolCall;
    if (event.part_kind == PartKind::ToolCall) made.index = owner.calls++;
    if (event.part_kind == PartKind::Reasoning) made.index = owner.thoughts++;
  }

  void write_text(const StreamEvent& event, std::string& out) {
    OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    if (open->kind == PartKind::Reasoning) return write_thought_delta(*open, event, out);
    begin_chunk(event.choice, out);
    out += open->kind == PartKind::Refusal ? "{\"refusal\":" : "{\"content\":";
    wire::append_json_string(out, event.text);
    out += '}';
    end_chunk({}, {}, out);
    if (open->kind == PartKind::Text) choice(event.choice, out).characters += characters_in(event.text);
  }

  void write_thought_delta(OpenPart& open, const StreamEvent& event, std::string& out) {
    open.text += event.text;
    if (hides_thoughts_) return;
    begin_chunk(event.choice, out);
    JsonWriter json(out);
    json.begin_object().member("reasoning_content", event.text).key("reasoning_details").begin_array();
    write_thought_text(json, open.reasoning, open.id, event.text, open.index);
    json.end_array().end_object();
    end_chunk({}, {}, out);
  }

  void take_state(const StreamEvent& event, std::string& out) {
    OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    open->state = *event.state;
    if (open->kind == PartKind::Text) lose("content", loss::kNoPlace);
    // The id that would carry it has gone out.
    if (open->kind == PartKind::ToolCall && !open->waits) lose("tool_calls[].id", loss::kNoPlace);
    if (open->kind != PartKind::Reasoning || hides_thoughts_) return;
    begin_chunk(event.choice, out);
    JsonWriter json(out);
    json.begin_object().key("reasoning_details").begin_array();
    write_thought_state(json, open->reasoning, open->id, open->state, open->index);
    json.end_array().end_object();
    end_chunk({}, {}, out);
  }

  void start_call(OpenPart& open, std::uint32_t index, std::string& out) {
    if (!std::exchange(open.waits, false)) return;
    WrittenChoice& owner = choice(index, out);
    Carried carried{.call = open.state, .reasoning = std::move(owner.carried)};
    owner.carried.clear();
    const std::optional<std::string> id = with_carried(open.id, carried);
    if (!id) lose("tool_calls[].id", loss::kNoPlace);
    begin_chunk(index, out);
    JsonWriter json(out);
    json.begin_object().key("tool_calls").begin_array().begin_object();
    json.member("index", open.index).member("id", id ? *id : open.id);
    json.member("type", open.custom ? "custom" : "function");
    json.key(open.custom ? "custom" : "function").begin_object().member("name", open.name);
    json.member(open.custom ? "input" : "arguments", "").end_object();
    json.end_object().end_array().end_object();
    end_chunk({}, {}, out);
  }

  void write_arguments(const StreamEvent& event, std::string& out) {
    OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    start_call(*open, event.choice, out);
    write_piece(*open, event.choice, event.text, out);
  }
  void write_piece(OpenPart& open, std::uint32_t index, std::string_view text, std::string& out) {
    open.sent_any = true;
    begin_chunk(index, out);
    out += "{\"tool_calls\":[{\"index\":";
    out += std::to_string(open.index);
    out += open.custom ? ",\"custom\":{\"input\":" : ",\"function\":{\"arguments\":";
    wire::append_json_string(out, text);
    out += "}}]}";
    end_chunk({}, {}, out);
  }

  void write_citation(const StreamEvent& event, std::string& out) {
    const OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    std::string annotation;
    JsonWriter json(annotation);
    if (!write_annotation(json, event.json, open->begin, choice(event.choice, out).characters))
      return lose("citations", loss::kNoPlace);
    begin_chunk(event.choice, out);
    out.append("{\"annotations\":[").append(annotation).append("]}");
    end_chunk({}, {}, out);
  }

  // Sound flows; an image is sent whole.
  void write_media(const StreamEvent& event, std::string& out) {
    OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    if (!event.media_type.empty()) open->media_type = event.media_type;
    if (!open->media_type.starts_with("audio/")) {
      open->text += event.text;
      return;
    }
    begin_chunk(event.choice, out);
    JsonWriter json(out);
    json.begin_object().key("audio").begin_object();
    if (!std::exchange(open->sent_any, true))
      json.member("id", std::string("audio_").append(head_.request_id));
    json.member("data", event.text).end_object().end_object();
    end_chunk({}, {}, out);
  }

  void finish_part(const StreamEvent& event, std::string& out) {
    OpenPart* const open = part(event.part);
    if (open == nullptr) return;
    if (open->kind == PartKind::ToolCall) {
      start_call(*open, event.choice, out);
      if (!open->sent_any && !open->custom) write_piece(*open, event.choice, "{}", out);
    } else if (open->kind == PartKind::Reasoning && !open->state.empty()) {
      model::Part thought(model::ReasoningPart{open->reasoning, std::move(open->text), open->id});
      thought.state = std::move(open->state);
      choice(event.choice, out).carried.push_back(std::move(thought));
    } else if (open->kind == PartKind::Media && open->media_type.starts_with("image/")) {
      begin_chunk(event.choice, out);
      JsonWriter json(out);
      json.begin_object().key("images").begin_array().begin_object().member("type", "image_url");
      json.key("image_url").begin_object();
      json.member("url", "data:" + open->media_type + ";base64," + open->text);
      json.end_object().end_object().end_array().end_object();
      end_chunk({}, {}, out);
    } else if (open->kind == PartKind::Media && !open->media_type.starts_with("audio/")) {
      lose("content", loss::kNoPlace);
    }
    open_.erase(open_.begin() + (open - open_.data()));
  }

  void end(std::string& out) const {
    if (asks_usage_ && says_anything(usage_)) {
      out.append(prefix_).append("[],\"usage\":");
      JsonWriter json(out);
      write_usage(json, usage_);
      out += "}\n\n";
    }
    out += "data: [DONE]\n\n";
  }

  AnswerHead head_;
  bool asks_usage_;
  bool hides_thoughts_;
  std::string prefix_;  // of every chunk, up to the value of `choices`
  std::vector<WrittenChoice> choices_;
  std::vector<OpenPart> open_;
  model::Usage usage_;
};

}  // namespace

std::unique_ptr<StreamEncoder> make_stream_encoder(const model::ChatRequest& request,
                                                   const AnswerHead& head) {
  return std::make_unique<ChunkEncoder>(request, head);
}

}  // namespace qq::dialects::openai_chat
