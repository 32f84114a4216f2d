// A provider's reply. A stream is lines of JSON, and a whole answer is one such line that is also the last.
#include <utility>

#include "base/text.h"
#include "dialects/empty_answer.h"
#include "dialects/ollama/sides.h"
#include "dialects/ollama/time.h"
#include "dialects/part_events.h"
#include "dialects/provider_json.h"
#include "model/answer_builder.h"
#include "wire/json_text.h"
#include "wire/json_writer.h"

namespace qq::dialects::ollama {
namespace {

using model::Finish;
using model::PartKind;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::size_t kLineMax = std::size_t{16} * 1024 * 1024;

Finish finish_of(std::string_view done_reason, bool has_calls) noexcept {
  if (done_reason == "length") return Finish::Length;
  return has_calls ? Finish::ToolCalls : Finish::Stop;
}

// What was read from the cache is part of the prompt (since 0.33.3; before, a prompt that was cached as a
// whole was not counted at all).
model::Usage usage_of(JsonValue line) noexcept {
  model::Usage out;
  out.input_uncached = count_in(line.member("prompt_eval_count"));
  out.output_text = count_in(line.member("eval_count"));
  if (!out.input_uncached && !out.output_text) return out;
  out.source = model::UsageSource::Provider;
  if (const auto cached = count_in(line.member("prompt_eval_cached_count")); cached && out.input_uncached) {
    out.cache_read = std::min(*cached, *out.input_uncached);
    *out.input_uncached -= *out.cache_read;
  }
  return out;
}

// OpenAI's array, whose members Ollama leaves out where they say nothing.
std::string logprobs_of(JsonValue tokens) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_array();
  const auto member = [&](JsonValue token, std::string_view key, std::string_view otherwise) {
    const auto value = token.member(key);
    json.raw_member(key, value ? value->text() : otherwise);
  };
  for (JsonElements each(tokens); each.next();) {
    if (!each.is_object()) continue;
    json.begin_object();
    member(each.value(), "token", "\"\"");
    member(each.value(), "logprob", "0");
    member(each.value(), "bytes", "null");
    member(each.value(), "top_logprobs", "[]");
    json.end_object();
  }
  json.end_array();
  return out;
}

class ReplyEvents {
 public:
  explicit ReplyEvents(std::string_view id_seed) : events(model::Dialect::Ollama, id_seed) {}

  void take(JsonValue line) {
    if (const auto error = line.member("error"); error && !error->is_null()) {
      const auto message = error->member("message");
      std::string text = wire::text_of(message ? *message : *error);
      if (text.empty()) text = "the provider sent an error without a message";
      return events.fail(ErrorKind::StreamError, std::move(text));
    }
    std::string scratch;
    std::string time_room;
    const auto message = line.member("message");
    const auto done = line.member("done");
    if (!message && !done) return;
    events.start({}, text_in(line.member("model"), scratch),
                 unix_time(text_in(line.member("created_at"), time_room)));
    if (message) {
      events.text(PartKind::Reasoning, text_in(message->member("thinking"), scratch));
      events.text(PartKind::Text, text_in(message->member("content"), scratch));
      if (const auto calls = message->member("tool_calls")) {
        for (JsonElements each(*calls); each.next();) call(each.value());
      }
    }
    if (const auto tokens = line.member("logprobs"); tokens && tokens->is_array())
      events.logprobs(logprobs_of(*tokens));
    if (!done || !done->is_true()) return;
    events.usage(usage_of(line));
    const std::string_view word = text_in(line.member("done_reason"), scratch);
    events.finish(finish_of(word, has_calls_), word);
    events.end();
  }

  PartEvents events;

 private:
  void call(JsonValue value) {
    const auto function = value.member("function");
    if (!function) return;
    std::string id_room;
    std::string name_room;
    const std::string_view name = text_in(function->member("name"), name_room);
    if (name.empty()) return;
    has_calls_ = true;
    events.open_call(text_in(value.member("id"), id_room), name);
    if (const auto arguments = function->member("arguments")) events.arguments(wire::text_of(*arguments));
    events.close();
  }

  bool has_calls_ = false;
};

class LineStream final : public StreamDecoder {
 public:
  explicit LineStream(std::string_view id_seed) : reply_(id_seed) {}

  void feed(std::string_view bytes, EventSink& sink) override {
    reply_.events.to(sink);
    while (!reply_.events.done() && !bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (kept_.size() + piece.size() > kLineMax)
        return reply_.events.fail(ErrorKind::EventTooBig, "a line of the stream is too big");
      if (end == std::string_view::npos) {
        kept_ += piece;
        return;
      }
      bytes.remove_prefix(end + 1);
      if (kept_.empty()) {
        take(piece);
        continue;
      }
      kept_ += piece;
      take(kept_);
      kept_.clear();
    }
  }
  void finish(EventSink& sink) override {
    reply_.events.to(sink);
    if (!reply_.events.done()) take(kept_);
    reply_.events.body_ended();
  }

 private:
  void take(std::string_view line) {
    line = trimmed(line);
    if (line.empty()) return;
    std::string room;
    const auto checked = provider_json(line, room);
    if (!checked) return reply_.events.fail(ErrorKind::BadJson, "a line of the stream is not JSON");
    reply_.take(*checked);
  }

  ReplyEvents reply_;
  std::string kept_;  // a line's beginning
};

class AnswerSink final : public EventSink {
 public:
  void on_event(const model::StreamEvent& event) override { builder.take(event); }
  model::AnswerBuilder builder{model::Dialect::Ollama};
};

constexpr std::array<std::string_view, 9> kTaken{
    "model",       "created_at",        "message",    "done",
    "done_reason", "prompt_eval_count", "eval_count", "prompt_eval_cached_count",
    "logprobs"};

}  // namespace

std::unique_ptr<StreamDecoder> stream_decoder(std::string_view id_seed) {
  return std::make_unique<LineStream>(id_seed);
}

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed) {
  const auto broken = [](ErrorKind kind, std::string text) {
    return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)));
  };
  std::string room;
  const auto document = provider_json(body, room);
  if (!document) return broken(ErrorKind::BadJson, "the answer is not JSON");
  AnswerSink sink;
  ReplyEvents reply(id_seed);
  reply.events.to(sink);
  reply.take(*document);
  if (sink.builder.error()) return fail(*sink.builder.error());
  if (!reply.events.done()) return broken(ErrorKind::EmptyReply, "the answer holds no message");
  model::ChatAnswer answer = sink.builder.release();
  for (model::Choice& choice : answer.choices) {
    for (model::Part& part : choice.parts) {
      auto* call = part.as<model::ToolCallPart>();
      if (call != nullptr && call->arguments.empty()) call->arguments = "{}";
    }
  }
  if (is_empty(answer)) return broken(ErrorKind::EmptyReply, "the answer is empty");
  for (JsonMembers members(*document); members.next();) {
    if (members.is_null() || std::ranges::find(kTaken, members.raw_key()) != kTaken.end()) continue;
    answer.extra.push_back({std::string(members.raw_key()), std::string(members.value().text())});
  }
  return answer;
}

}  // namespace qq::dialects::ollama
