#include "dialects/gemini/chunk_decode.h"

#include <algorithm>
#include <array>

#include "dialects/carried_state.h"
#include "dialects/gemini/logprobs.h"
#include "dialects/gemini/members.h"
#include "dialects/gemini/usage.h"
#include "dialects/gemini/words.h"
#include "dialects/made_ids.h"
#include "dialects/openai/error_body.h"
#include "wire/json_text.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using model::PartKind;
using model::StreamEvent;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;
using wire::text_in;

std::optional<std::int64_t> two_digits(std::string_view text, std::size_t at) noexcept {
  if (text[at] < '0' || text[at] > '9' || text[at + 1] < '0' || text[at + 1] > '9') return std::nullopt;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

// "2026-05-19T14:59:42.780296Z" in seconds since 1970, 0 for what is none.
std::int64_t seconds_of(std::string_view time) noexcept {
  if (time.size() < 19) return 0;
  std::array<std::int64_t, 7> numbers{};
  constexpr std::array<std::size_t, 7> kPlaces{0, 2, 5, 8, 11, 14, 17};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = two_digits(time, kPlaces[i]);
    if (!number) return 0;
    numbers[i] = *number;
  }
  // Days since 1970 of the Gregorian calendar, with years that begin in March (H. Hinnant, chrono
  // algorithms).
  const std::int64_t month = numbers[2];
  const std::int64_t year = numbers[0] * 100 + numbers[1] - (month <= 2 ? 1 : 0);
  const std::int64_t era = year / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t day = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + numbers[3] - 1;
  const std::int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719468;
  return days * 86400 + numbers[4] * 3600 + numbers[5] * 60 + numbers[6];
}

}  // namespace

ChunkDecoder::ChunkDecoder(std::string_view id_seed) : seed_(id_seed) {}

ChunkDecoder::ChoiceState& ChunkDecoder::choice(std::uint32_t index) {
  const auto found = std::ranges::find(choices_, index, &ChoiceState::index);
  if (found != choices_.end()) return *found;
  choices_.emplace_back().index = index;
  return choices_.back();
}

void ChunkDecoder::say(StreamEvent event, const ChoiceState& state, EventSink& sink) const {
  event.choice = state.index;
  event.part = state.part;
  event.dialect = Dialect::Gemini;
  sink.on_event(event);
}

void ChunkDecoder::open(PartKind kind, ChoiceState& state, EventSink& sink, StreamEvent event) {
  state.part = parts_++;
  event.kind = Kind::PartStarted;
  event.part_kind = kind;
  say(event, state, sink);
}

void ChunkDecoder::close(ChoiceState& state, EventSink& sink) {
  if (state.open == Open::Nothing) return;
  if (state.open == Open::Call) {
    pieces_.clear();
    state.args.finish(pieces_);
    // Of whole arguments nothing is left to say.
    if (!state.args_came || pieces_ != "{}")
      say({.kind = Kind::ArgumentsDelta, .text = pieces_}, state, sink);
    state.args = {};
  }
  state.open = Open::Nothing;
  state.sealed = false;
  say({.kind = Kind::PartFinished}, state, sink);
}

void ChunkDecoder::say_state(std::string_view signature, ChoiceState& state, EventSink& sink) {
  if (signature.empty()) return;
  const model::OpaqueState opaque = state_of_field(signature, Dialect::Gemini);
  if (opaque.empty()) return;
  say({.kind = Kind::StateDelta, .state = &opaque}, state, sink);
}

void ChunkDecoder::take_text(std::string_view text, bool thought, std::string_view signature,
                             ChoiceState& state, EventSink& sink) {
  const Open kind = thought ? Open::Thought : Open::Text;
  // Empty texts end many streams.
  if (text.empty() && signature.empty()) return;
  if (state.open != kind || state.sealed) {
    close(state, sink);
    open(thought ? PartKind::Reasoning : PartKind::Text, state, sink,
         {.reasoning = model::ReasoningPart::Kind::Summary});
    state.open = kind;
  }
  if (!text.empty()) say({.kind = Kind::TextDelta, .text = text}, state, sink);
  say_state(signature, state, sink);
  state.sealed = !signature.empty();
}

void ChunkDecoder::take_call_pieces(JsonValue partial_args, ChoiceState& state, EventSink& sink) {
  pieces_.clear();
  for (JsonElements each(partial_args); each.next();) state.args.take(each.value(), pieces_);
  if (pieces_.empty()) return;
  say({.kind = Kind::ArgumentsDelta, .text = pieces_}, state, sink);
}

void ChunkDecoder::take_call(JsonValue call, std::string_view signature, ChoiceState& state,
                             EventSink& sink) {
  std::string name;
  std::string id;
  JsonValue args;
  JsonValue pieces;
  bool goes_on = false;
  for (JsonMembers members(call); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "name") name = members.value().string();
    if (key == "id") id = members.value().string();
    if (key == "args" && members.is_object()) args = members.value();
    if (key == "partialArgs") pieces = members.value();
    if (key == "willContinue") goes_on = members.value().is_true();
  }
  if (!name.empty()) {
    close(state, sink);
    // Google's own ids are few; the others' must last as long as the conversation.
    if (id.empty()) id = made_call_id(seed_, calls_);
    ++calls_;
    open(PartKind::ToolCall, state, sink, {.id = id, .name = name});
    state.open = Open::Call;
    state.has_calls = true;
    state.args_came = false;
  } else if (state.open != Open::Call) {
    return;
  }
  // Google sends it with the call's first piece, where it can go into the call's id.
  if (!signature.empty() && !state.sealed) {
    say_state(signature, state, sink);
    state.sealed = true;
  }
  if (!args.text().empty()) {
    const model::Json whole = compact(args.text());
    say({.kind = Kind::ArgumentsDelta, .text = whole}, state, sink);
    state.args_came = true;
  }
  take_call_pieces(pieces, state, sink);
  if (!goes_on) close(state, sink);
}

void ChunkDecoder::take_media(JsonValue media, ChoiceState& state, EventSink& sink) {
  std::string type;
  JsonValue data;
  for (JsonMembers members(media); members.next();) {
    if (members.raw_key() == "mimeType") type = members.value().string();
    if (members.raw_key() == "data") data = members.value();
  }
  close(state, sink);
  open(PartKind::Media, state, sink, {.media_type = type});
  say({.kind = Kind::MediaDelta, .text = text_in(data, text_), .media_type = type}, state, sink);
  say({.kind = Kind::PartFinished}, state, sink);
}

void ChunkDecoder::take_opaque(std::string_view type, JsonValue part, ChoiceState& state, EventSink& sink) {
  close(state, sink);
  open(PartKind::Opaque, state, sink, {.word = type});
  say({.kind = Kind::OpaqueDelta, .json = part.text()}, state, sink);
  say({.kind = Kind::PartFinished}, state, sink);
}

void ChunkDecoder::take_part(JsonValue part, ChoiceState& state, EventSink& sink) {
  JsonValue text;
  JsonValue call;
  JsonValue media;
  std::string_view other;
  std::string_view signature;
  bool thought = false;
  for (JsonMembers members(part); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "text") {
      text = members.value();
    } else if (key == "thought") {
      thought = members.value().is_true();
    } else if (key == "thoughtSignature") {
      signature = text_in(members.value(), signature_);
    } else if (key == "functionCall") {
      call = members.value();
    } else if (key == "inlineData") {
      media = members.value();
    } else if (!members.is_null() && other.empty()) {
      other = key;
    }
  }
  if (call.is_object()) return take_call(call, signature, state, sink);
  // A picture that was only thought of is nobody's answer.
  if (media.is_object() && !thought) return take_media(media, state, sink);
  if (media.is_object()) return take_opaque("inlineData", part, state, sink);
  if (!other.empty() && text.text().empty()) return take_opaque(other, part, state, sink);
  take_text(text_in(text, text_), thought, signature, state, sink);
}

void ChunkDecoder::take_citation(std::string_view type, JsonValue value, ChoiceState& state,
                                 EventSink& sink) {
  if (!value.is_object() || !JsonMembers(value).next()) return;
  if (state.open != Open::Text) {
    close(state, sink);
    open(PartKind::Text, state, sink);
    state.open = Open::Text;
  }
  std::string json;
  json.append("{\"").append(type).append("\":").append(value.text()).append(1, '}');
  say({.kind = Kind::CitationDelta, .json = json}, state, sink);
}

void ChunkDecoder::take_candidate(JsonValue candidate, std::uint32_t position, EventSink& sink) {
  std::uint32_t index = position;
  if (const auto given = candidate.member("index")) {
    index =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(given->integer().value_or(position), 0, 1023));
  }
  ChoiceState& state = choice(index);
  for (JsonMembers members(candidate); members.next();) {
    if (members.raw_key() != "content") continue;
    for (auto content = JsonMembers::inside(members); content.next();) {
      if (content.raw_key() != "parts") continue;
      for (auto parts = JsonElements::inside(content); parts.next();) take_part(parts.value(), state, sink);
    }
  }
  // What is about the parts comes behind them, in whatever order it is written.
  for (JsonMembers members(candidate); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "content" || key == "index" || value.is_null()) continue;
    if (key == "finishReason") {
      const std::string_view word = finish_reason(value);
      if (word != "FINISH_REASON_UNSPECIFIED" && !word.empty()) state.finish = word;
    } else if (key == "groundingMetadata" || key == "citationMetadata" || key == "urlContextMetadata") {
      take_citation(key, value, state, sink);
    } else if (key == "logprobsResult") {
      const model::Json logprobs = decode_logprobs(value);
      if (!logprobs.empty()) say({.kind = Kind::Logprobs, .json = logprobs}, state, sink);
    } else if (extra_ != nullptr) {
      extra_->push_back(extra_field("candidates[" + std::to_string(index) + "]", key, value));
    }
  }
}

void ChunkDecoder::take_blocked(JsonValue feedback) {
  const auto reason = feedback.member("blockReason");
  if (!reason) return;
  const std::string_view word = block_reason(*reason);
  if (word.empty()) return;
  // A prompt that was blocked has no candidates: it is the first one's end.
  ChoiceState& first = choice(0);
  first.finish = word;
  first.blocked = true;
}

void ChunkDecoder::begin(JsonValue document, EventSink& sink) {
  std::string id;
  std::string model;
  std::int64_t created = 0;
  for (JsonMembers members(document); members.next();) {
    if (members.raw_key() == "responseId") id = members.value().string();
    if (members.raw_key() == "modelVersion") model = members.value().string();
    if (members.raw_key() == "createTime") created = seconds_of(members.value().raw_string());
  }
  started_ = true;
  sink.on_event(
      {.kind = Kind::Started, .id = id, .model = model, .created = created, .dialect = Dialect::Gemini});
}

std::optional<Error> ChunkDecoder::take(JsonValue document, EventSink& sink) {
  if (!document.is_object()) {
    return Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun, "the provider sent no JSON object");
  }
  if (const auto error = document.member("error"); error && openai::is_error_value(*error)) {
    return openai::error_from_value(*error);
  }
  if (!started_) begin(document, sink);
  for (JsonMembers members(document); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "candidates") {
      std::uint32_t position = 0;
      for (auto each = JsonElements::inside(members); each.next();) {
        take_candidate(each.value(), position++, sink);
      }
    } else if (key == "promptFeedback") {
      take_blocked(members.value());
      if (extra_ != nullptr) extra_->push_back(extra_field({}, key, members.value()));
    } else if (key == "usageMetadata") {
      const model::Usage usage = decode_usage(members.value());
      if (usage.source == model::UsageSource::None || usage == usage_) continue;
      usage_ = usage;
      sink.on_event({.kind = Kind::UsageSoFar, .usage = &usage_});
    }
  }
  return std::nullopt;
}

bool ChunkDecoder::finish(EventSink& sink) {
  const auto goes_on = [](const ChoiceState& state) { return state.finish.empty(); };
  if (choices_.empty() || std::ranges::any_of(choices_, goes_on)) return false;
  const bool is_blocked = std::ranges::any_of(choices_, &ChoiceState::blocked);
  if (choices_.size() < choices_expected_ && !is_blocked) return false;
  for (ChoiceState& state : choices_) close(state, sink);
  for (const ChoiceState& state : choices_) {
    const model::Finish finish =
        state.blocked ? model::Finish::Filtered : finish_of(state.finish, state.has_calls);
    say({.kind = Kind::Finished, .finish = finish, .word = state.finish}, state, sink);
  }
  sink.on_event({.kind = Kind::End});
  return true;
}

}  // namespace qq::dialects::gemini
