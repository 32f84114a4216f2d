#include "relay/whole_transcript.h"

#include <algorithm>

#include "relay/answer.h"
#include "relay/binary_answer.h"
#include "relay/content_type.h"
#include "relay/delivery.h"
#include "relay/empty_reply.h"
#include "relay/read_body.h"
#include "relay/reply_head.h"
#include "relay/shown_word.h"
#include "relay/usage_drain.h"
#include "wire/json_writer.h"

namespace qq::relay {
namespace {

// What of the head outlives it.
struct TranscriptHead {
  int status = 200;
  bool is_text = false;  // or subtitles; else JSON
  std::string content_type;
  std::string passed_lines;
};

TranscriptHead read_transcript_head(const model::Attempt& attempt, const UpstreamReply& reply) {
  const wire::Fields& fields = reply.head().fields;
  const std::string_view said = fields.find("content-type").value_or(std::string_view());
  TranscriptHead head;
  head.status = reply.status();
  head.is_text = is_binary_answer(attempt.endpoint, said);
  const std::string_view plain = head.is_text ? "text/plain" : "application/json";
  head.content_type = may_be_shown(said, *attempt.target) ? said : plain;
  head.passed_lines = passed_header_lines(fields, *attempt.target);
  return head;
}

// Reads it into `into` within the time for the first content, or for a gap; what came before an error is
// there.
Task<Result<>> read_transcript(RequestState& state, const model::Attempt& attempt, UpstreamReply& reply,
                               std::string& into) {
  const Timers& timers = state.snapshot.timers_of(*attempt.target);
  const MonotonicTime now = state.services.loop.now();
  const net::Scope scope =
      state.scope().until(std::max(attempt.sent() + timers.first_content, now + timers.event_gap));
  const MonotonicTime from = state.services.loop.precise_now();
  BodyRead body = co_await read_body(reply, state.snapshot.limits.event_max, scope);
  into = std::move(body.bytes);
  switch (body.end) {
    case BodyRead::End::Whole: count_wait(state, from); break;
    case BodyRead::End::Full:
      count_wait(state, from);
      co_return fail(Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                     "the provider's transcript is too large (limits.event_max)"));
    case BodyRead::End::Broken:
      count_wait(state, from);
      co_return fail(Error::upstream(body.error, AttemptPhase::ReplyBegun, body.reason));
    case BodyRead::End::Late:
      QQ_CO_CHECK(after_wait(state, net::Wake::Deadline, scope, ErrorKind::FirstContentTimeout, from));
      break;
    case BodyRead::End::Cancelled:
      QQ_CO_CHECK(after_wait(state, net::Wake::Cancelled, scope, ErrorKind::FirstContentTimeout, from));
      break;
  }
  co_return Result<>();
}

// The rest of one that nobody waits for any more. What is text says nothing of its cost.
class RestOfTranscript final : public UsageReader {
 public:
  RestOfTranscript(std::string& body, std::size_t most) noexcept : body_(body), most_(most) {}
  bool read_usage(const UpstreamReply::Piece& piece) override {
    body_.append(piece.bytes.substr(0, most_ - std::min(most_, body_.size())));
    return body_.size() < most_;
  }

 private:
  std::string& body_;
  std::size_t most_;
};

// The end of an attempt whose transcript could not be read, for `ended`.
Task<Result<>> give_transcript_up(RequestState& state, model::Attempt& attempt, UpstreamReply& reply,
                                  bool is_text, std::string body, Error ended) {
  if (!is_text && wants_usage(attempt, ended)) {
    RestOfTranscript rest(body, state.snapshot.limits.event_max);
    co_await drain_for_usage(state, reply, rest);
    attempt.usage = dialects::openai::judge_answer(attempt.endpoint, body, *attempt.target).usage;
  }
  co_return fail(std::move(ended));
}

Result<> judge_transcript(RequestState& state, model::Attempt& attempt, bool is_text, std::string_view body) {
  if (is_text) {
    if (!body.empty()) return {};
    Error empty = Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun,
                                  "the provider's answer has nothing in it");
    note_empty_reply(state, empty, true, true);  // a recording of silence has an empty transcript
    return fail(std::move(empty));
  }
  const auto facts = dialects::openai::judge_answer(attempt.endpoint, body, *attempt.target);
  attempt.usage = facts.usage;
  if (!facts.fault) return {};
  Error error = fault_of(*attempt.target, facts);
  note_empty_reply(state, error, facts.blank, true);
  return fail(std::move(error));
}

// Source: openai-openapi openapi.yaml, TranscriptTextDoneEvent.
std::string done_event(bool is_text, std::string_view body) {
  std::string event = "data: ";
  wire::JsonWriter json(event);
  json.begin_object().member("type", "transcript.text.done");
  if (is_text) {
    json.member("text", body);
  } else {
    const wire::JsonValue document(body);
    for (const std::string_view name : {"text", "logprobs", "usage"}) {
      if (const auto value = document.member(name)) json.key(name).raw(value->text());
    }
  }
  json.end_object();
  return event += "\n\n";
}

}  // namespace

bool is_whole_transcript(const RequestState& state, model::Endpoint endpoint,
                         std::string_view content_type) noexcept {
  return endpoint == model::Endpoint::AudioTranscriptions && state.facts.stream && !content_type.empty() &&
         !is_event_stream(content_type) && !is_html(content_type);
}

Task<Result<>> relay_whole_transcript(RequestState& state, model::Attempt& attempt, UpstreamReply& reply) {
  const TranscriptHead head = read_transcript_head(attempt, reply);
  std::string body;
  Result<> read;
  if (state.client.gone().cancelled()) {  // while the head was awaited
    read = fail(net::cancelled_error(state.scope()));
  } else {
    read = co_await read_transcript(state, attempt, reply, body);
  }
  if (!read) {
    co_return co_await give_transcript_up(state, attempt, reply, head.is_text, std::move(body),
                                          std::move(read).error());
  }
  QQ_CO_CHECK(judge_transcript(state, attempt, head.is_text, body));

  state.heartbeat->stop();
  if (state.client.pending()) QQ_CO_CHECK(co_await state.client.flush(state.scope()));  // its last beat
  commit(state, attempt);
  state.incoming.free_body();
  ClientPort::Taken taken;
  if (state.client.begun()) {
    const std::string event = done_event(head.is_text, body);
    const std::string_view piece = event;
    taken = state.client.write({&piece, 1}, ClientPort::Last::Yes);
  } else {
    const std::string lines = reply_header_lines(state, attempt, head.content_type, head.passed_lines);
    const std::string_view piece = body;
    taken = state.client.reply(head.status, lines, {&piece, 1});
  }
  Result<> told = co_await taken_by_client(state, taken);
  co_return told;
}

}  // namespace qq::relay
