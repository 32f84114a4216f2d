#include "dialects/gemini/stream_encode.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "dialects/gemini/answer_encode.h"
#include "dialects/gemini/errors.h"
#include "dialects/gemini/logprobs.h"
#include "dialects/gemini/part_write.h"
#include "dialects/gemini/usage.h"
#include "dialects/gemini/words.h"
#include "dialects/losses.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using model::PartKind;
using model::StreamEvent;
using wire::JsonWriter;

constexpr std::string_view kNoContent = R"({"parts":[{"text":""}],"role":"model"})";

// Each delta is a response object of its own. A call is kept until its arguments are whole, and so is a
// picture; how choices ended, until the usage is known, which Google tells in the same object.
class GeminiStreamEncoder final : public StreamEncoder {
 public:
  GeminiStreamEncoder(const model::ChatRequest& request, const AnswerHead& head)
      : head_(head), shows_thoughts_(shows_thoughts(request)), array_(head.array_stream) {}

  void encode(const StreamEvent& event, std::string& out) override {
    using Kind = StreamEvent::Kind;
    switch (event.kind) {
      case Kind::Started:
        id_ = response_id(event.id, head_);
        dialect_ = event.dialect;
        break;
      case Kind::PartStarted: start(event); break;
      case Kind::TextDelta: take_text(event, out); break;
      case Kind::ArgumentsDelta:
        if (Part* of = find(event.part)) of->call.arguments += event.text;
        break;
      case Kind::StateDelta: take_state(event, out); break;
      case Kind::CitationDelta: take_citation(event, out); break;
      case Kind::MediaDelta: take_media(event); break;
      case Kind::OpaqueDelta: take_opaque(event, out); break;
      case Kind::PartFinished: finish(event, out); break;
      case Kind::Logprobs:
        begin_metadata(out, event.choice);
        write_logprobs(*json_, wire::JsonValue(event.json));
        end_chunk(out);
        break;
      case Kind::UsageSoFar: usage_ = *event.usage; break;
      case Kind::Finished:
        ends_.push_back({event.choice, std::string(finish_word(event.finish, event.word))});
        break;
      case Kind::End: end(out); break;
      case Kind::Ping: out += array_ ? "\r\n" : kGeminiHeartbeat; break;
      case Kind::Failed:
        if (array_) separate(out);  // the error is an element, the last one
        encode_stream_error(*event.error, head_.request_id, out);
        if (array_) out += "]";
        break;
    }
  }

 private:
  struct Part {
    std::uint32_t number = 0;
    PartKind kind = PartKind::Text;
    bool hidden = false;  // a thought that the client did not ask for
    model::ToolCallPart call;
    model::MediaPart media;
    model::Part thought;  // hidden: what travels with the next call
    model::OpaqueState state;
  };
  struct ChoiceEnd {
    std::uint32_t index;
    std::string word;
  };
  struct Thoughts {
    std::uint32_t choice;
    Carried carried;
  };

  // Null where a decoder breaks the grammar: what belongs to no part is not told.
  Part* find(std::uint32_t number) noexcept {
    const auto found = std::ranges::find(open_, number, &Part::number);
    return found == open_.end() ? nullptr : &*found;
  }
  Carried& carried(std::uint32_t choice) {
    const auto found = std::ranges::find(thoughts_, choice, &Thoughts::choice);
    return (found != thoughts_.end() ? *found : thoughts_.emplace_back(Thoughts{choice, {}})).carried;
  }

  void separate(std::string& out) { out += std::exchange(begun_, true) ? ",\r\n" : "["; }
  // Up to the candidate's open object.
  void begin_chunk(std::string& out, std::uint32_t choice) {
    begin_object(out);
    json_->key("candidates").begin_array().begin_object().member("index", choice);
  }
  void begin_object(std::string& out) {
    if (array_) {
      separate(out);
    } else {
      out += "data: ";
    }
    json_.emplace(out);
    json_->begin_object();
  }
  void end_chunk(std::string& out) {
    json_->end_object().end_array();
    end_object(out);
  }
  void end_object(std::string& out) {
    write_usage(*json_, usage_);
    json_->member("modelVersion", head_.model).member("responseId", id_);
    json_->end_object();
    json_.reset();
    if (!array_) out += "\r\n\r\n";
  }
  // A chunk about the choice. SDKs want a part in each.
  void begin_metadata(std::string& out, std::uint32_t choice) {
    begin_chunk(out, choice);
    json_->raw_member("content", kNoContent);
  }
  JsonWriter& begin_part(std::string& out, std::uint32_t choice) {
    begin_chunk(out, choice);
    return json_->key("content").begin_object().key("parts").begin_array();
  }
  void end_part(std::string& out) {
    json_->end_array().member("role", "model").end_object();
    end_chunk(out);
  }

  void start(const StreamEvent& event) {
    Part made;
    made.number = event.part;
    made.kind = event.part_kind;
    if (event.part_kind == PartKind::ToolCall) {
      made.call.kind = event.custom ? model::ToolCallPart::Kind::Custom : model::ToolCallPart::Kind::Function;
      made.call.id = event.id;
      made.call.name = event.name;
    } else if (event.part_kind == PartKind::Reasoning) {
      made.hidden = !shows_thoughts_ || event.reasoning == model::ReasoningPart::Kind::Redacted;
      if (made.hidden) made.thought.is = model::ReasoningPart{.kind = event.reasoning, .text = {}, .id = {}};
    } else if (event.part_kind == PartKind::Media) {
      made.media.media_type = event.media_type;
    }
    open_.push_back(std::move(made));
  }

  void take_text(const StreamEvent& event, std::string& out) {
    Part* const into = find(event.part);
    if (into == nullptr) return;
    if (into->hidden) {
      into->thought.as<model::ReasoningPart>()->text += event.text;
      return;
    }
    const TextKind kind = into->kind == PartKind::Reasoning ? TextKind::Thought : TextKind::Text;
    write_text(begin_part(out, event.choice), event.text, kind);
    end_part(out);
  }

  void take_state(const StreamEvent& event, std::string& out) {
    Part* const of = find(event.part);
    if (of == nullptr) return;
    const bool at_once = (of->kind == PartKind::Text || of->kind == PartKind::Reasoning) && !of->hidden;
    if (!at_once) {
      of->state = *event.state;
      return;
    }
    const TextKind kind = of->kind == PartKind::Reasoning ? TextKind::Thought : TextKind::Text;
    write_text(begin_part(out, event.choice), {}, kind, state_field(*event.state, Dialect::Gemini));
    end_part(out);
  }

  void take_citation(const StreamEvent& event, std::string& out) {
    const std::string_view name = google_citation(event.json);
    if (name.empty()) return lose("citations", loss::kNoPlace);
    begin_metadata(out, event.choice);
    json_->raw_member(name, wire::JsonValue(event.json).member(name)->text());
    end_chunk(out);
  }

  void take_media(const StreamEvent& event) {
    Part* const of = find(event.part);
    if (of == nullptr) return;
    of->media.data += event.text;
    if (!event.media_type.empty()) of->media.media_type = event.media_type;
  }

  void take_opaque(const StreamEvent& event, std::string& out) {
    if (!is_google_part(event.json)) return lose("content", loss::kForeignPart);
    begin_part(out, event.choice).raw(event.json);
    end_part(out);
  }

  void finish(const StreamEvent& event, std::string& out) {
    const auto at = std::ranges::find(open_, event.part, &Part::number);
    if (at == open_.end()) return;
    Part done = std::move(*at);
    open_.erase(at);
    if (done.kind == PartKind::ToolCall) {
      Carried& before = carried(event.choice);
      const bool carries_all =
          write_call(begin_part(out, event.choice), done.call, done.state, dialect_, before);
      if (!carries_all) lose("reasoning", loss::kNoPlace);
      end_part(out);
      before = {};
    } else if (done.kind == PartKind::Media) {
      JsonWriter& writer = begin_part(out, event.choice).begin_object();
      write_media(writer, done.media, done.media.media_type);
      write_signature(writer, state_field(done.state, Dialect::Gemini));
      writer.end_object();
      end_part(out);
    } else if (done.hidden && !done.state.empty()) {
      done.thought.state = std::move(done.state);
      carried(event.choice).reasoning.push_back(std::move(done.thought));
    }
  }

  void end(std::string& out) {
    begin_object(out);
    if (!ends_.empty()) {
      json_->key("candidates").begin_array();
      for (const ChoiceEnd& each : ends_) {
        json_->begin_object().raw_member("content", kNoContent);
        json_->member("finishReason", each.word).member("index", each.index).end_object();
      }
      json_->end_array();
    }
    end_object(out);
    if (array_) out += "]";
  }

  AnswerHead head_;
  bool shows_thoughts_;
  bool array_;
  bool begun_ = false;
  std::string id_;
  Dialect dialect_ = Dialect::Gemini;  // whose answer it is
  std::vector<Part> open_;
  std::vector<Thoughts> thoughts_;
  std::vector<ChoiceEnd> ends_;
  model::Usage usage_;
  std::optional<JsonWriter> json_;  // at work while an object is written
};

}  // namespace

std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request, const AnswerHead& head) {
  return std::make_unique<GeminiStreamEncoder>(request, head);
}

}  // namespace qq::dialects::gemini
