// A back end's stream to events that keep the grammar of model/stream_event.h.
//
// A finish word is kept until the stream ends, since usage may come behind it. What ends a stream is the mark
// that the description names; only where it names none, the body's end behind a finish word.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "dialects/declared/framing.h"
#include "dialects/declared/reading.h"
#include "dialects/declared/sides.h"
#include "dialects/made_ids.h"
#include "dialects/provider_json.h"
#include "model/answer_builder.h"
#include "wire/json_pointer.h"

namespace qq::dialects::declared {
namespace {

using model::Finish;
using model::PartKind;
using model::StreamEvent;
using wire::JsonValue;
using Kind = StreamEvent::Kind;

bool has(const std::vector<std::string>& list, std::string_view word) noexcept {
  return std::ranges::find(list, word) != list.end();
}

class EventDecoder final : public StreamDecoder {
 public:
  EventDecoder(AdapterPtr adapter, std::string_view id_seed)
      : adapter_(std::move(adapter)),
        stream_(adapter_->stream),
        id_seed_(id_seed),
        framing_(stream_.format),
        usage_(stream_.where.usage) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    sink_ = &sink;
    std::size_t consumed = 0;
    Framing::Message message;
    while (!over_ && framing_.next(bytes, consumed, message)) take(message);
    if (!over_ && framing_.too_big())
      fail_with(broken(ErrorKind::EventTooBig, "the provider sent an event that is too big"));
  }

  void finish(EventSink& sink) override {
    sink_ = &sink;
    Framing::Message message;
    if (!over_ && framing_.finish(message)) take(message);
    if (over_) return;
    if (!stream_.has_done_mark() && finish_ != Finish::None) return end();
    fail_with(broken(ErrorKind::StreamCut, "the provider's stream ended before its answer did"));
  }

 private:
  struct Call {
    std::string key;  // its index, or its id where there is none
    std::uint32_t part = 0;
    bool open = false;
    bool any = false;  // there were arguments
  };

  // ---- what comes out

  void emit(const StreamEvent& event) { sink_->on_event(event); }
  void fail_with(const Error& error) {
    over_ = true;
    emit({.kind = Kind::Failed, .error = &error});
  }
  void ensure_started() {
    if (std::exchange(started_, true)) return;
    emit({.kind = Kind::Started, .id = id_, .model = model_, .dialect = model::Dialect::Declared});
  }
  void close_text() {
    if (std::exchange(open_, false)) emit({.kind = Kind::PartFinished, .part = part_});
  }
  void close(Call& call) {
    if (!std::exchange(call.open, false)) return;
    if (!call.any)
      emit({.kind = Kind::ArgumentsDelta, .part_kind = PartKind::ToolCall, .part = call.part, .text = "{}"});
    emit({.kind = Kind::PartFinished, .part = call.part});
  }
  void close_calls() {
    for (Call& call : calls_) close(call);
  }

  void add_text(PartKind kind, std::string_view words) {
    if (words.empty()) return;
    ensure_started();
    close_calls();
    if (open_ && open_kind_ != kind) close_text();
    if (!std::exchange(open_, true)) {
      open_kind_ = kind;
      part_ = parts_++;
      emit({.kind = Kind::PartStarted, .part_kind = kind, .part = part_});
    }
    emit({.kind = Kind::TextDelta, .part_kind = kind, .part = part_, .text = words});
  }

  // ---- events

  void take(const Framing::Message& message) {
    if (!stream_.done_data.empty() && message.data == stream_.done_data) return end();
    const auto json = provider_json(message.data, room_);
    if (!json && !has(stream_.error_in, message.name))
      return fail_with(broken(ErrorKind::BadJson, "the provider sent an event that is not JSON"));
    const JsonValue document = json.value_or(JsonValue("{}"));
    word_ = stream_.type.empty() ? std::string(message.name)
                                 : text_at(document, stream_.type).value_or(std::string());
    if (has(stream_.error_in, word_)) return fail_with(error_from(adapter_->errors, document));
    if (const auto error = error_in(adapter_->errors, document)) return fail_with(*error);
    take(document);
    const bool done = is_true_at(document, stream_.done) || has(stream_.done_in, word_);
    if (!over_ && done) end();
  }

  [[nodiscard]] bool fits(const std::vector<std::string>& words) const noexcept {
    return words.empty() || has(words, word_);
  }

  void take(JsonValue document) {
    const model::DeclaredWhere& where = stream_.where;
    if (id_.empty()) id_ = text_at(document, where.id).value_or(std::string());
    if (model_.empty()) model_ = text_at(document, where.model).value_or(std::string());
    if (fits(stream_.reasoning_in)) take_words(PartKind::Reasoning, document, where.reasoning, thought_);
    if (!over_ && fits(stream_.text_in)) take_words(PartKind::Text, document, where.text, said_);
    if (!over_) take_calls(document);
    if (over_) return;
    if (auto word = text_at(document, where.finish); word && !word->empty()) {
      finish_ = finish_of(*adapter_, *word);
      finish_word_ = *std::move(word);
      if (finish_ == Finish::Broken) {
        return fail_with(
            broken(ErrorKind::StreamError, "the provider ended its answer with \"" + finish_word_ + "\""));
      }
    }
    if (usage_.take(document)) {
      ensure_started();
      const model::Usage usage = usage_.usage();
      emit({.kind = Kind::UsageSoFar, .usage = &usage});
    }
  }

  // `before`: all that was said so far, where events repeat it.
  void take_words(PartKind kind, JsonValue document, const model::Pointer& pointer, std::string& before) {
    const std::optional<std::string> words = text_at(document, pointer);
    if (!words) return;
    if (stream_.text == model::DeclaredStream::Text::Deltas) return add_text(kind, *words);
    if (before.starts_with(*words)) return;  // nothing new; some end with an empty one
    if (!words->starts_with(before)) {
      return fail_with(
          broken(ErrorKind::StreamError, "the provider's stream changed what it had said already"));
    }
    add_text(kind, std::string_view(*words).substr(before.size()));
    before = *words;
  }

  // ---- tool calls

  void take_calls(JsonValue document) {
    const auto list = wire::at_pointer(document, stream_.where.calls.list);
    if (!list) return;
    if (list->is_object()) return take_call(SaidCall(stream_.where.calls, *list));
    if (!list->is_array()) return;
    for (wire::JsonElements each(*list); !over_ && each.next();)
      take_call(SaidCall(stream_.where.calls, each.value()));
  }

  void take_call(const SaidCall& said) {
    const std::string& key = said.index.empty() ? said.id : said.index;
    auto found =
        std::ranges::find_if(calls_, [&](const Call& call) { return !key.empty() && call.key == key; });
    // Without any key, what has no name goes on with the last call.
    if (key.empty() && said.name.empty() && !calls_.empty()) found = calls_.end() - 1;
    if (found == calls_.end()) {
      if (said.name.empty())
        return fail_with(broken(ErrorKind::StreamError, "the provider sent a tool call without a name"));
      found = begin_call(said, key);
    }
    if (said.arguments.empty()) return;
    if (!found->open) {
      return fail_with(
          broken(ErrorKind::StreamError, "the provider went on with a tool call that had ended"));
    }
    found->any = true;
    emit({.kind = Kind::ArgumentsDelta,
          .part_kind = PartKind::ToolCall,
          .part = found->part,
          .text = said.arguments});
  }

  std::vector<Call>::iterator begin_call(const SaidCall& said, const std::string& key) {
    ensure_started();
    close_text();
    calls_.push_back({.key = key, .part = parts_++, .open = true});
    const std::string id = said.id.empty() ? made_call_id(id_seed_, calls_.back().part) : said.id;
    emit({.kind = Kind::PartStarted,
          .part_kind = PartKind::ToolCall,
          .part = calls_.back().part,
          .id = id,
          .name = said.name});
    return calls_.end() - 1;
  }

  // ---- the end

  void end() {
    if (parts_ == 0 && !may_be_empty(finish_))
      return fail_with(broken(ErrorKind::EmptyReply, "the provider's stream has nothing in it"));
    ensure_started();
    close_text();
    close_calls();
    if (finish_ == Finish::None) finish_ = Finish::Stop;
    if (finish_ == Finish::Stop && !calls_.empty()) finish_ = Finish::ToolCalls;
    emit({.kind = Kind::Finished,
          .finish = finish_,
          .word = finish_word_,
          .dialect = model::Dialect::Declared});
    emit({.kind = Kind::End});
    over_ = true;
  }

  AdapterPtr adapter_;
  const model::DeclaredStream& stream_;
  std::string id_seed_;
  Framing framing_;
  UsageReader usage_;
  EventSink* sink_ = nullptr;
  std::string room_;
  std::string word_;  // of the event at hand
  std::string id_;
  std::string model_;
  std::string said_;
  std::string thought_;
  std::string finish_word_;
  std::vector<Call> calls_;
  Finish finish_ = Finish::None;
  PartKind open_kind_ = PartKind::Text;
  std::uint32_t part_ = 0;  // the open one that is no call
  std::uint32_t parts_ = 0;
  bool open_ = false;
  bool started_ = false;
  bool over_ = false;
};

// Of a back end that does not stream: its whole answer, told as a stream at its end.
class WholeDecoder final : public StreamDecoder {
 public:
  WholeDecoder(AdapterPtr adapter, std::string_view id_seed)
      : adapter_(std::move(adapter)), id_seed_(id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    if (over_) return;
    body_ += bytes;
    if (body_.size() > kBodyMax)
      fail_with(broken(ErrorKind::EventTooBig, "the provider's answer is too big to be told as a stream"),
                sink);
  }
  void finish(EventSink& sink) override {
    if (std::exchange(over_, true)) return;
    const Result<model::ChatAnswer> answer = decode_answer(body_, *adapter_, id_seed_);
    if (!answer) return fail_with(answer.error(), sink);
    model::for_each_event(*answer, [&](const StreamEvent& event) { sink.on_event(event); });
  }

 private:
  static constexpr std::size_t kBodyMax = 16UL * 1024 * 1024;
  void fail_with(const Error& error, EventSink& sink) {
    over_ = true;
    sink.on_event({.kind = Kind::Failed, .error = &error});
  }

  AdapterPtr adapter_;
  std::string id_seed_;
  std::string body_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> make_stream_decoder(AdapterPtr adapter, std::string_view id_seed) {
  if (adapter->stream.format == model::DeclaredStream::Format::None)
    return std::make_unique<WholeDecoder>(std::move(adapter), id_seed);
  return std::make_unique<EventDecoder>(std::move(adapter), id_seed);
}

}  // namespace qq::dialects::declared
