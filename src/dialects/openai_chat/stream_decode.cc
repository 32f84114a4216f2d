// Chat completion chunks of any provider to events that keep the grammar of model/stream_event.h.
//
// Finish reasons are kept until the stream ends: some providers repeat them, some go on with content behind
// one.
#include <algorithm>

#include "base/text.h"
#include "dialects/media.h"
#include "dialects/openai/answer.h"
#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/stream_calls.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"
#include "wire/json_text.h"
#include "wire/sse.h"
#include "wire/utf8.h"

namespace qq::dialects::openai_chat {
namespace {

using model::Finish;
using model::PartKind;
using model::StreamEvent;
using wire::JsonValue;

// A guess, as Gemini's and more than any provider gives: what has more is no answer but an attack.
constexpr std::int64_t kChoicesMax = 1024;

struct ReadChoice {
  ReadChoice(std::uint32_t number, std::string_view id_seed) : index(number), calls(number, id_seed) {}

  std::uint32_t index;
  bool open = false;  // a part that is no call
  PartKind kind = PartKind::Text;
  std::uint32_t part = 0;
  Detail thought;  // of an open Reasoning part
  CallStream calls;
  Finish finish = Finish::None;
  std::string word;
  std::string stop_string;
};

class ChunkDecoder final : public StreamDecoder {
 public:
  ChunkDecoder(const model::Target& target, std::string_view id_seed)
      : quirks_(target.quirks), id_seed_(id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    out_.sink = &sink;
    std::size_t consumed = 0;
    std::size_t begin = 0;  // of the event at hand
    wire::SseEvent event;
    while (!over_ && sse_.next(bytes, consumed, event)) {
      keep_bare(bytes.substr(begin, consumed - begin));
      begin = consumed;
      if (event.has_data) {
        bare_.clear();
        bare_judged_ = 0;
        bare_state_ = Bare::Unknown;
        take(event.name, trimmed(event.data));
      } else if (const std::optional<Error> error = bare_has_grown() ? bare_error() : std::nullopt) {
        fail_with(*error);
      } else if (bare_state_ == Bare::No) {
        bare_state_ = Bare::Unknown;
      }
    }
    if (over_) return;
    keep_bare(bytes.substr(begin));
    if (sse_.verdict() == wire::SseDecoder::Verdict::EventTooBig) {
      fail_with(Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                "the provider sent an event that is too big"));
    }
  }

  void expect_choices(std::uint32_t count) noexcept override { choices_expected_ = count; }

  void finish(EventSink& sink) override {
    out_.sink = &sink;
    wire::SseEvent event;
    if (!over_ && sse_.finish(event) && event.has_data) take(event.name, trimmed(event.data));
    if (over_) return;
    if (const std::optional<Error> error = bare_error()) return fail_with(*error);
    if (says_done_ || all_finished()) return end();
    fail_with(Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun,
                              "the provider's stream ended before its answer did"));
  }

 private:
  using Kind = StreamEvent::Kind;

  // ---- what comes out

  void emit(const StreamEvent& event) { out_.sink->on_event(event); }

  void fail_with(const Error& error) {
    over_ = true;
    // What failed may be billed all the same.
    take_usage(std::exchange(chunk_usage_, {}));
    if (!usage_told_ && usage_.source != model::UsageSource::None) {
      ensure_started();
      emit({.kind = Kind::UsageSoFar, .usage = &usage_});
    }
    emit({.kind = Kind::Failed, .error = &error});
  }

  void ensure_started() {
    if (std::exchange(started_, true)) return;
    emit({.kind = Kind::Started, .id = id_, .model = model_, .created = created_});
  }

  void close_open(ReadChoice& choice) {
    if (!std::exchange(choice.open, false)) return;
    emit({.kind = Kind::PartFinished, .choice = choice.index, .part = choice.part});
  }
  // Makes the open part one of `kind`; a thought is told from another by `thought`.
  void open_part(ReadChoice& choice, PartKind kind, const Detail* thought = nullptr) {
    choice.calls.close(out_);
    if (choice.open && choice.kind == kind && kind != PartKind::Media && kind != PartKind::Opaque &&
        (thought == nullptr || goes_on(choice.thought, *thought)))
      return;
    close_open(choice);
    choice.open = true;
    choice.kind = kind;
    choice.part = out_.parts++;
    StreamEvent event{
        .kind = Kind::PartStarted, .part_kind = kind, .choice = choice.index, .part = choice.part};
    if (thought != nullptr) {
      choice.thought = *thought;
      choice.thought.state = {};
      event.id = choice.thought.id;
      event.reasoning = thought->kind;
    }
    emit(event);
  }
  static bool goes_on(const Detail& open, const Detail& next) noexcept {
    if (open.is_continued_by(next)) return true;
    return open.kind == next.kind && open.index == next.index && open.state.empty() && !next.is_encrypted();
  }

  void text(ReadChoice& choice, PartKind kind, std::string_view words) {
    if (words.empty()) return;
    open_part(choice, kind);
    emit({.kind = Kind::TextDelta,
          .part_kind = kind,
          .choice = choice.index,
          .part = choice.part,
          .text = words});
  }

  void thought(ReadChoice& choice, Detail detail) {
    if (detail.text.empty() && detail.state.empty()) return;
    open_part(choice, PartKind::Reasoning, &detail);
    StreamEvent event{.kind = Kind::TextDelta,
                      .part_kind = PartKind::Reasoning,
                      .choice = choice.index,
                      .part = choice.part,
                      .text = detail.text};
    if (!detail.text.empty()) emit(event);
    if (detail.state.empty()) return;
    event.kind = Kind::StateDelta;
    event.text = {};
    event.state = &detail.state;
    emit(event);
    choice.thought.state = std::move(detail.state);
  }

  // ---- events

  void take(std::string_view name, std::string_view data) {
    if (data.empty()) return;
    if (data == "[DONE]") {
      says_done_ = true;
      end();
      return;
    }
    data = wire::as_utf8(data, repaired_);
    const bool is_json =
        (data.front() == '{' || data.front() == '[') && !wire::check_json(data, {.check_utf8 = false});
    if (name == "error") {
      std::optional<Error> error = is_json ? openai::find_error(JsonValue(data)) : std::nullopt;
      if (!error) error = openai::error_from_value(JsonValue(is_json ? data : std::string_view()));
      if (!is_json) error->message = data;
      return fail_with(*error);
    }
    if (!is_json) {
      return fail_with(Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun,
                                       "the provider sent an event that is not JSON"));
    }
    const JsonValue chunk(data);
    if (chunk.is_object()) return take_chunk(chunk);
    if (const std::optional<Error> error = openai::find_error(chunk)) fail_with(*error);
  }

  void take_chunk(JsonValue chunk) {
    JsonValue choices, usage, error;
    for (wire::JsonMembers members(chunk); members.next();) {
      const std::string_view key = members.raw_key();
      const JsonValue value = members.value();
      if (key == "choices") {
        choices = value;
      } else if (key == "usage") {
        usage = value;
      } else if (key == "error") {
        error = value;
      } else if (key == "x_groq") {
        if (const auto hidden = value.member("usage")) take_usage(*hidden);
      } else if (key == "object") {
        if (value.text() == "\"error\"") error = chunk;
        says_done_ = says_done_ || value.text() == "\"chat.completion.done\"";  // Perplexity
      } else if (!started_ && key == "id" && value.text().size() > 2) {
        id_ = wire::text_of(value);
      } else if (!started_ && key == "model" && value.text().size() > 2) {
        model_ = wire::text_of(value);
      } else if (!started_ && key == "created") {
        created_ = value.integer().value_or(created_);
      }
    }
    chunk_usage_ = usage;
    if (openai::is_error_value(error)) {
      return fail_with(error.is_object()
                           ? openai::error_from_value(error)
                           : openai::find_error(chunk).value_or(openai::error_from_value(error)));
    }
    if (!choices.is_array() && !usage.is_object()) {
      if (const std::optional<Error> found = openai::find_error(chunk)) return fail_with(*found);
    }
    for (wire::JsonElements each(choices); choices.is_array() && !over_ && each.next();) {
      ensure_started();
      take_choice(each.value());
    }
    if (!over_) take_usage(std::exchange(chunk_usage_, {}));
  }

  void take_usage(JsonValue value) {
    if (!value.is_object()) return;
    const model::Usage usage = openai::decode_usage(value, quirks_);
    if (usage.source == model::UsageSource::None || usage == usage_) return;
    usage_ = usage;
    usage_told_ = started_;
    if (started_) emit({.kind = Kind::UsageSoFar, .usage = &usage_});
  }

  ReadChoice& choice_at(std::int64_t index) {
    const auto number = static_cast<std::uint32_t>(index < 0 ? 0 : index);
    const auto found = std::ranges::find(choices_, number, &ReadChoice::index);
    if (found != choices_.end()) return *found;
    return choices_.emplace_back(number, id_seed_);
  }

  void take_choice(JsonValue value) {
    JsonValue delta, finish, logprobs, error, stop;
    std::int64_t index = 0;
    for (wire::JsonMembers members(value); members.next();) {
      const std::string_view key = members.raw_key();
      const JsonValue member = members.value();
      if (key == "delta") {
        delta = member;
      } else if (key == "index") {
        index = member.integer().value_or(0);
      } else if (key == "finish_reason") {
        finish = member;
      } else if (key == "logprobs") {
        logprobs = member;
      } else if (key == "usage") {  // Moonshot
        take_usage(member);
      } else if (key == "error") {
        error = member;
      } else if (openai::is_stop_string_mark(key, member)) {
        stop = member;
      }
    }
    if (index >= kChoicesMax) {
      return fail_with(Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                       "the provider's stream has too many choices"));
    }
    ReadChoice& choice = choice_at(index);
    if (delta.is_object()) take_delta(choice, delta);
    if (over_) return;
    if (logprobs.is_object()) {
      const auto content = logprobs.member("content");
      if (content && content->is_array() && wire::JsonElements(*content).next())
        emit({.kind = Kind::Logprobs, .choice = choice.index, .json = content->text()});
    }
    if (openai::is_error_value(error)) return fail_with(openai::error_from_value(error));
    if (!stop.text().empty()) empty_is_fine_ = true;
    if (stop.is_string()) choice.stop_string = stop.string();
    take_finish(choice, finish);
  }

  void take_finish(ReadChoice& choice, JsonValue finish) {
    const std::string word = finish.text().empty() ? std::string() : wire::text_of(finish);
    if (word.empty()) return;
    choice.word = word;
    choice.finish = finish_of(word);
    if (openai::meaning_of_finish(word) == openai::FinishMeaning::EmptyIsFine) empty_is_fine_ = true;
    if (choice.finish == Finish::Broken) {
      fail_with(Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                "the provider ended its answer with \"" + word + "\""));
    }
  }

  // ---- deltas

  void take_delta(ReadChoice& choice, JsonValue delta) {
    const Said said(delta);
    take_thoughts(choice, said.thoughts, said.details);
    take_content(choice, said.content);
    if (said.refusal.is_string()) text(choice, PartKind::Refusal, said.refusal.string());
    take_audio(choice, said.audio);
    for (wire::JsonElements each(said.annotations); said.annotations.is_array() && each.next();) {
      open_part(choice, PartKind::Text);
      emit({.kind = Kind::CitationDelta,
            .choice = choice.index,
            .part = choice.part,
            .json = each.value().text()});
    }
    for (wire::JsonElements each(said.images); said.images.is_array() && each.next();)
      take_image(choice, each.value());
    if (!said.calls.is_array() && !said.old_call.is_object()) return;
    close_open(choice);
    bool understood = true;
    for (wire::JsonElements each(said.calls); said.calls.is_array() && understood && each.next();)
      understood = choice.calls.take(each.value(), out_);
    if (said.old_call.is_object()) understood = understood && choice.calls.take_function(said.old_call, out_);
    if (!understood) {
      fail_with(Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                "the provider sent arguments that belong to no tool call"));
    }
  }

  void take_thoughts(ReadChoice& choice, JsonValue plain, JsonValue details) {
    bool any_text = false;
    for (wire::JsonElements each(details); details.is_array() && each.next();) {
      const auto words = each.value().member("text");
      const auto summary = each.value().member("summary");
      any_text = any_text || (words && words->is_string() && words->text().size() > 2) ||
                 (summary && summary->is_string() && summary->text().size() > 2);
    }
    if (!any_text && plain.is_string()) {
      Detail detail;
      detail.text = plain.string();
      // A text without details goes on with whatever thought is open.
      if (choice.open && choice.kind == PartKind::Reasoning && !choice.thought.is_encrypted()) {
        detail.kind = choice.thought.kind;
        detail.index = choice.thought.index;
      }
      thought(choice, std::move(detail));
    }
    for (wire::JsonElements each(details); details.is_array() && each.next();)
      thought(choice, read_detail(each.value()));
  }

  void take_content(ReadChoice& choice, JsonValue content) {
    if (content.is_string()) return text(choice, PartKind::Text, content.string());
    for (wire::JsonElements each(content); content.is_array() && each.next();) {
      const JsonValue part = each.value();
      if (const auto words = part.member("text"); words && words->is_string()) {
        text(choice, PartKind::Text, words->string());
      } else if (const auto thinking = part.member("thinking")) {  // Mistral
        for (wire::JsonElements piece(*thinking); thinking->is_array() && piece.next();) {
          const auto thought_text = piece.value().member("text");
          if (thought_text) thought(choice, {.text = thought_text->string(), .state = {}, .id = {}});
        }
      } else if (part.is_object()) {
        opaque(choice, part);
      }
    }
  }
  void opaque(ReadChoice& choice, JsonValue part) {
    open_part(choice, PartKind::Opaque);
    emit({.kind = Kind::OpaqueDelta, .choice = choice.index, .part = choice.part, .json = part.text()});
    close_open(choice);
  }

  void take_image(ReadChoice& choice, JsonValue image) {
    const auto url = image.at("image_url", "url");
    const std::string text = url ? url->string() : std::string();
    std::string_view media_type;
    std::string_view base64;
    if (!split_data_url(text, media_type, base64)) return opaque(choice, image);
    open_part(choice, PartKind::Media);
    emit({.kind = Kind::MediaDelta,
          .choice = choice.index,
          .part = choice.part,
          .text = base64,
          .media_type = media_type});
    close_open(choice);
  }

  // What is said in the sound comes between its pieces, so that each piece is a part of its own.
  void take_audio(ReadChoice& choice, JsonValue audio) {
    if (!audio.is_object()) return;
    const auto transcript = audio.member("transcript");
    if (transcript && transcript->is_string()) text(choice, PartKind::Text, transcript->string());
    const auto data = audio.member("data");
    if (!data || !data->is_string() || data->text().size() <= 2) return;
    open_part(choice, PartKind::Media);
    emit({.kind = Kind::MediaDelta,
          .choice = choice.index,
          .part = choice.part,
          .text = data->raw_string(),
          .media_type = "audio/pcm"});
  }

  // ---- the end

  [[nodiscard]] bool all_finished() const noexcept {
    return choices_.size() >= choices_expected_ &&
           std::ranges::all_of(choices_, [](const ReadChoice& each) { return each.finish != Finish::None; });
  }

  void end() {
    if (!started_ || (out_.parts == 0 && !empty_is_fine_)) {
      return fail_with(Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun,
                                       "the provider's stream has nothing in it"));
    }
    for (ReadChoice& choice : choices_) {
      if (choice.calls.has_unnamed()) {
        return fail_with(Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                         "the provider sent a tool call without a name"));
      }
      const bool cut = choice.calls.any_cut_short();
      choice.finish = finish_with(choice.finish, choice.calls.any(), cut, choice.stop_string);
      if (cut && choice.finish == Finish::ToolCalls) return fail_with(broken_off_call());
    }
    for (ReadChoice& choice : choices_) {
      close_open(choice);
      choice.calls.close(out_);
    }
    for (const ReadChoice& choice : choices_) {
      StreamEvent event{
          .kind = Kind::Finished, .finish = choice.finish, .choice = choice.index, .word = choice.word};
      if (choice.finish == Finish::StopString) event.text = choice.stop_string;
      emit(event);
    }
    if (!usage_told_ && usage_.source != model::UsageSource::None)
      emit({.kind = Kind::UsageSoFar, .usage = &usage_});
    emit({.kind = Kind::End});
    over_ = true;
  }

  // ---- bytes that are no event

  // Google breaks a stream with a bare JSON error, over several lines and without `data:`. What begins with a
  // brace where an event may begin is kept.
  void keep_bare(std::string_view bytes) {
    constexpr std::size_t kBareMax = 64 * 1024;
    if (bare_state_ == Bare::Unknown) {
      while (!bytes.empty() && is_space(bytes.front())) bytes.remove_prefix(1);
      if (bytes.empty()) return;
      bare_state_ = bytes.front() == '{' || bytes.front() == '[' ? Bare::Yes : Bare::No;
    }
    if (bare_state_ == Bare::Yes && bare_.size() < kBareMax) bare_ += bytes;
  }
  // It is read again when it is twice as long: whoever sends it in a million pieces is not worth more.
  bool bare_has_grown() noexcept {
    if (bare_.empty() || bare_.size() < 2 * bare_judged_) return false;
    bare_judged_ = bare_.size();
    return true;
  }
  [[nodiscard]] std::optional<Error> bare_error() const {
    std::string repaired;
    const std::string_view text = wire::as_utf8(trimmed(bare_), repaired);
    if (text.empty() || wire::check_json(text)) return std::nullopt;
    return openai::find_error(JsonValue(text));
  }
  enum class Bare : std::uint8_t { Unknown, No, Yes };  // what began where an event may

  model::Quirks quirks_;
  std::string id_seed_;
  wire::SseDecoder sse_;
  EventOut out_;
  std::string id_;
  std::string model_;
  std::int64_t created_ = 0;
  std::vector<ReadChoice> choices_;
  std::size_t choices_expected_ = 1;
  model::Usage usage_;
  JsonValue chunk_usage_;  // of the chunk at hand, told behind its choices
  std::string repaired_;
  std::string bare_;
  std::size_t bare_judged_ = 0;  // how long it was when it was last read
  Bare bare_state_ = Bare::Unknown;
  bool started_ = false;
  bool empty_is_fine_ = false;
  bool says_done_ = false;
  bool usage_told_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> make_stream_decoder(const model::Target& target, std::string_view id_seed) {
  return std::make_unique<ChunkDecoder>(target, id_seed);
}

}  // namespace qq::dialects::openai_chat
