#include "dialects/openai/stream.h"

#include "base/text.h"
#include "dialects/openai/answer.h"
#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "model/cumulative_usage.h"

namespace qq::dialects::openai {
namespace {

bool is_chat_like(model::Endpoint endpoint) noexcept {
  return endpoint == model::Endpoint::ChatCompletions || endpoint == model::Endpoint::Completions;
}

}  // namespace

StreamJudge::StreamJudge(model::Endpoint endpoint, const model::Target& target) noexcept
    : endpoint_(endpoint), quirks_(target.quirks) {}

EventFacts StreamJudge::judge(const wire::SseEvent& event, std::string_view raw) {
  if (event.has_data) {
    const std::string_view data = trimmed(event.data);
    return judge_document(event.name, data, raw.empty() ? Framing{} : framing_of(raw, data));
  }
  EventFacts facts;
  facts.keep_alive = true;
  return facts;
}

EventFacts StreamJudge::judge_raw(std::string_view raw) {
  raw = trimmed(raw);
  if (!raw.empty() && (raw.front() == '{' || raw.front() == '[')) {
    EventFacts facts = judge_document({}, raw, {});
    if (facts.error && facts.error->kind != ErrorKind::BadJson) return facts;
  }
  EventFacts facts;
  facts.keep_alive = true;
  return facts;
}

EventFacts StreamJudge::judge_document(std::string_view name, std::string_view data, const Framing& framing) {
  EventFacts facts;
  // A shape that is known without its framing only is better learned anew.
  const bool learns_framing = !framing.behind.empty() && !shape_.framed();
  if (name != "error" && !learns_framing && shape_.match(data, facts)) {
    if (facts.content) content_seen_ = true;
    return facts;
  }
  static_cast<DeltaFacts&>(facts) = {};
  if (data == "[DONE]") {
    facts.done_marker = true;
    done_seen_ = true;
    return facts;
  }
  const bool is_json = !data.empty() && (data.front() == '{' || data.front() == '[') &&
                       !wire::check_json(data, {.check_utf8 = false});
  if (is_json) {
    facts = judge_json(data);
    if (facts.content && !facts.terminal && !facts.error && name != "error") learn(data, framing, facts);
  } else if (data.starts_with('{') && name != "error") {
    // A client's SDK would stumble over it in the middle of its answer.
    facts.error = Error::upstream(ErrorKind::BadJson, AttemptPhase::ReplyBegun,
                                  "an event of the provider's stream is not JSON");
    return facts;
  } else {
    // Other words are passed on and mean nothing to us, unless they are named an error.
    facts.keep_alive = true;
  }
  if (name == "error" && !facts.error) {
    facts.error = is_json ? find_error(wire::JsonValue(data)) : std::nullopt;
    if (!facts.error) facts.error = error_from_value(wire::JsonValue(is_json ? data : std::string_view()));
    if (!is_json && !data.empty()) facts.error->message = data;
    facts.keep_alive = false;
  }
  if (facts.content) content_seen_ = true;
  return facts;
}

EventFacts StreamJudge::judge_json(std::string_view data) {
  const wire::JsonValue document(data);
  if (!document.is_object()) {
    EventFacts facts;
    facts.error = find_error(document);
    facts.keep_alive = !facts.error;
    return facts;
  }
  return is_chat_like(endpoint_) ? judge_chat(document) : judge_responses(document);
}

void StreamJudge::learn(std::string_view data, const Framing& framing, const EventFacts& facts) {
  if (is_chat_like(endpoint_)) {
    shape_.learn_chunk(data, framing, endpoint_ == model::Endpoint::Completions, facts);
    return;
  }
  const auto type = wire::JsonValue(data).member("type");
  if (!type || !type->raw_string().ends_with(".delta")) return;
  using HoleKind = ChunkShape::HoleKind;
  shape_.learn_delta(data, framing, is_prose_delta(type->raw_string()) ? HoleKind::Prose : HoleKind::Filled);
}

void StreamJudge::take_usage(wire::JsonValue usage) {
  model::take_cumulative(usage_, decode_usage(usage, quirks_));
}

void StreamJudge::take_usage_of(const wire::SseEvent& event) {
  StreamJudge apart(*this);
  static_cast<void>(apart.judge(event));
  usage_ = apart.usage_;
}

void StreamJudge::take_finish(std::string_view reason, bool first_choice) {
  if (first_choice || finish_reason_.empty()) finish_reason_ = reason;
  if (meaning_of_finish(reason) == FinishMeaning::EmptyIsFine) empty_legitimate_ = true;
}

// {"id","object","created","model","choices":[…],"usage"}: the only reader of every chunk, so it looks at
// each member once and goes deeper only into choices.
EventFacts StreamJudge::judge_chat(wire::JsonValue chunk) {
  EventFacts facts;
  wire::JsonValue choices;
  wire::JsonValue usage;
  wire::JsonValue error;
  bool carries_more = false;  // beside usage: dropping the chunk would lose it
  bool says_done = false;
  for (wire::JsonMembers members(chunk); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    switch (key.size()) {
      case 5:
        if (key == "model") {
          facts.model_value = value;
        } else if (key == "usage") {
          usage = value;
        } else if (key == "error") {
          error = value;
        }
        break;
      case 6:
        if (key == "object") {
          says_done = value.text() == "\"chat.completion.done\"";  // Perplexity
          if (value.text() == "\"error\"") error = chunk;          // Mistral, old vLLM
        } else if (key == "x_groq" && value.is_object()) {
          if (const auto hidden = value.member("usage")) take_usage(*hidden);
        }
        break;
      case 7:
        if (key == "choices") choices = value;
        break;
      case 10: carries_more = carries_more || key == "moderation"; break;
      case 21: carries_more = carries_more || key == "prompt_filter_results"; break;  // Azure
      default: break;
    }
  }

  bool has_choice = false;
  if (choices.is_array()) {
    for (wire::JsonElements elements(choices); elements.next();) {
      has_choice = true;
      judge_choice(elements.value(), facts);
    }
  }
  if (usage.is_object()) {
    take_usage(usage);
    facts.usage_only = !has_choice && !carries_more;
    if (!facts.usage_only) facts.usage_beside = usage;
  } else if (usage.is_null()) {
    facts.usage_null_value = usage;
  }
  if (is_error_value(error)) {
    facts.error = error.is_string() ? find_error(chunk) : error_from_value(error);
  } else if (!has_choice && !choices.is_array() && !usage.is_object()) {
    facts.error = find_error(chunk);
    facts.keep_alive = !facts.error && !says_done;
  }
  if (facts.error) facts.usage_only = false;
  if (says_done) facts.terminal = true;
  // A choice that begins when all others have finished takes the end back.
  const std::uint32_t finished = choices_finished_.size();
  done_seen_ = done_seen_ || says_done;
  terminal_seen_ = finished >= choices_seen_.size() && finished >= choices_expected_;
  return facts;
}

void StreamJudge::judge_choice(wire::JsonValue choice, EventFacts& facts) {
  wire::JsonValue finish;
  std::int64_t index = 0;
  for (wire::JsonMembers members(choice); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    switch (key.size()) {
      case 4:
        if (key == "text") {
          const bool is_completion = endpoint_ == model::Endpoint::Completions;
          if (is_completion ? value.text().size() > 2 : has_text(value)) facts.content = true;
        }
        break;
      case 5:
        if (key == "delta") {
          if (!facts.content) facts.content = message_has_content(value);
          if (!facts.content && !content_seen_ && !blank_seen_) blank_seen_ = says_white_space(value);
        } else if (key == "index") {
          index = value.integer().value_or(0);
        } else if (key == "usage" && value.is_object()) {  // Moonshot
          take_usage(value);
        } else if (key == "error" && is_error_value(value)) {  // OpenRouter
          facts.error = error_from_value(value);
        }
        break;
      case 11:
      case 12:
        if (is_stop_string_mark(key, value)) empty_legitimate_ = true;
        break;
      case 13:
        if (key == "finish_reason") finish = value;
        break;
      default: break;
    }
  }
  choices_seen_.add(index);
  if (finish.text().empty() || finish.is_null() || finish.text() == "\"\"") return;
  facts.terminal = true;
  const std::string_view reason = finish.is_string() ? finish.raw_string() : finish.text();
  choices_finished_.add(index);
  take_finish(reason, index == 0);
  // A generation that failed before it gave anything may still be tried elsewhere. Later the client has the
  // finish reason to see for itself.
  if (meaning_of_finish(reason) == FinishMeaning::Broken && !facts.error && !content_seen_ &&
      !facts.content) {
    facts.error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                  "the provider ended its answer with \"" + std::string(reason) + "\"");
  }
}

std::optional<ErrorKind> StreamJudge::fault_at_end() const noexcept {
  return ended() ? std::nullopt : std::optional(ErrorKind::StreamCut);
}

}  // namespace qq::dialects::openai
