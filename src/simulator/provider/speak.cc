#include "simulator/provider/speak.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "dialects/anthropic/dialect.h"
#include "dialects/gemini/count_tokens.h"
#include "model/answer_builder.h"
#include "simulator/provider/chat.h"
#include "simulator/provider/checks/check.h"
#include "simulator/provider/in_quotes.h"
#include "simulator/provider/raw_text.h"
#include "simulator/provider/signature.h"
#include "simulator/provider/stream_cut.h"
#include "simulator/provider/tokens.h"
#include "simulator/provider/voices/voice.h"

namespace qq::simulator {
namespace {

using model::PartKind;
using model::StreamEvent;
using EventKind = StreamEvent::Kind;

// The words that a script may say for any dialect; others go out as they are.
std::optional<model::Finish> finish_named(std::string_view word) noexcept {
  if (word == "stop") return model::Finish::Stop;
  if (word == "length") return model::Finish::Length;
  if (word == "tool_calls") return model::Finish::ToolCalls;
  if (word == "content_filter") return model::Finish::Filtered;
  if (word == "refusal") return model::Finish::Refusal;
  return std::nullopt;
}

// The events of one answer, in the grammar of model/stream_event.h. What they point at lives here.
class EventWriter {
 public:
  EventWriter(const Asked& asked, const Script& script, const Voice& voice)
      : asked_(asked), script_(script), voice_(voice) {}

  // Of one choice; those of several are put one behind the other, in turns.
  std::vector<StreamEvent> choice(const Answer& said, std::uint32_t index) {
    events_.clear();
    index_ = index;
    if (!said.reasoning.empty()) thoughts(said);
    if (!said.refusal.empty()) text(token_pieces(said.refusal), false);
    const bool signs_text = signs_calls() && said.calls.empty();
    if (!said.content.empty()) text(said.content, signs_text);
    if (voice_.dialect == model::Dialect::Cohere && !said.calls.empty()) plan(said);
    for (std::size_t i = 0; i < said.calls.size(); ++i) call(said.calls[i], i);
    finish(said);
    return std::move(events_);
  }

 private:
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  StreamEvent& add(EventKind kind) {
    StreamEvent& event = events_.emplace_back();
    event.kind = kind;
    event.choice = index_;
    event.part = part_;
    event.part_kind = part_kind_;
    event.dialect = voice_.dialect;
    return event;
  }
  void start(PartKind kind) {
    part_ = next_part_++;
    part_kind_ = kind;
    add(EventKind::PartStarted);
  }
  void end() { add(EventKind::PartFinished); }

  void deltas(std::span<const std::string> tokens, EventKind kind) {
    for (std::size_t i = 0; i < tokens.size(); i += script_.tokens_per_event) {
      std::string joined;
      for (std::size_t j = i; j < std::min<std::size_t>(i + script_.tokens_per_event, tokens.size()); ++j)
        joined += marked_raw(tokens[j]);
      if (!joined.empty()) add(kind).text = keep(std::move(joined));
    }
  }

  void sign(std::uint64_t salt) {
    model::OpaqueState& state = states_.emplace_back();
    state.maker = voice_.dialect;
    state.data = make_signature(voice_.dialect, asked_.hash + salt + index_ * 31);
    add(EventKind::StateDelta).state = &state;
  }
  // Calls are signed where the model thought, or where its likes always sign.
  [[nodiscard]] bool signs_calls() const {
    return voice_.signs == Voice::Signs::Calls && script_.signatures != "off" &&
           (needs_signatures(asked_.model, script_) || thinks_);
  }

  void thoughts(const Answer& said) {
    thinks_ = true;
    start(PartKind::Reasoning);
    deltas(said.reasoning, EventKind::TextDelta);
    if (voice_.signs == Voice::Signs::Thoughts && script_.signatures != "off") sign(1);
    end();
  }
  void text(std::span<const std::string> tokens, bool sign_it) {
    start(PartKind::Text);
    deltas(tokens, EventKind::TextDelta);
    if (script_.faults.has(Fault::TinyEvents)) add(EventKind::TextDelta).text = kTinyMark;
    if (sign_it) sign(2);
    end();
  }
  void plan(const Answer& said) {
    start(PartKind::Opaque);
    events_.back().word = "tool_plan";
    add(EventKind::OpaqueDelta).json = keep(
        in_quotes(fmt::format("I will use the {} tool to answer the question.", said.calls.front().name)));
    end();
  }
  void call(const ToolCall& call, std::size_t number) {
    start(PartKind::ToolCall);
    StreamEvent& started = events_.back();
    started.name = call.name;
    if (voice_.call_id_length > 0)
      started.id = keep(stable_id(voice_.call_id_prefix, stable_hash(call.id), voice_.call_id_length));
    // Of parallel calls the first alone is signed.
    if (number == 0 && signs_calls()) sign(3);
    deltas(token_pieces(call.arguments), EventKind::ArgumentsDelta);
    end();
  }

  void finish(const Answer& said) {
    StreamEvent& event = add(EventKind::Finished);
    event.finish = finish_named(said.finish).value_or(model::Finish::Stop);
    if (!finish_named(said.finish)) event.word = said.finish;
    if (!said.refusal.empty()) event.finish = model::Finish::Refusal;
    if (event.finish == model::Finish::Stop && !said.stop_string.empty()) {
      event.finish = model::Finish::StopString;
      event.text = said.stop_string;
    }
  }

  const Asked& asked_;
  const Script& script_;
  const Voice& voice_;
  std::deque<std::string> kept_;
  std::deque<model::OpaqueState> states_;
  std::vector<StreamEvent> events_;
  std::uint32_t index_ = 0;
  std::uint32_t part_ = 0;
  std::uint32_t next_part_ = 0;
  PartKind part_kind_ = PartKind::Text;
  bool thinks_ = false;
};

model::Usage spoken_usage(const Usage& bill) {
  model::Usage usage;
  usage.source = model::UsageSource::Provider;
  usage.input_uncached = bill.prompt - bill.cached - bill.cache_write;
  usage.cache_read = bill.cached;
  usage.cache_write = bill.cache_write;
  usage.output_text = bill.completion - bill.reasoning;
  if (bill.reasoning > 0) usage.reasoning = bill.reasoning;
  return usage;
}

class Speaker {
 public:
  Speaker(const Asked& asked, const Script& script, const Voice& voice)
      : asked_(asked),
        script_(script),
        voice_(voice),
        answers_(answer(asked, script)),
        bill_(bill(asked, answers_, script)),
        usage_(spoken_usage(bill_)),
        writer_(asked, script, voice),
        id_(answer_id()) {
    head_.model = asked.model;
    head_.request_id = id_;
    head_.now = kCreated;
    head_.array_stream = asked.array_stream;
  }

  Reply whole() {
    model::AnswerBuilder builder(voice_.dialect);
    for_all([&](const StreamEvent& event) { builder.take(event); });
    std::string body = voice_.whole(builder.release(), *asked_.request, head_);
    if (script_.faults.has(Fault::UsageMissing)) drop_usage(body);
    Reply reply = Reply::json(200, with_raw_text(std::move(body)));
    reply.what = voice_.name;
    return reply;
  }

  Reply stream() {
    const auto encoder = voice_.stream(*asked_.request, head_);
    std::string text;
    for_all([&](const StreamEvent& event) { encoder->encode(event, text); });
    Reply reply;
    reply.content_type = voice_.stream_type;
    reply.stream = true;
    reply.form = voice_.form;
    if (asked_.array_stream) {
      reply.content_type = "application/json; charset=UTF-8";
      reply.form = StreamForm::JsonArray;
    }
    reply.pieces = cut_stream(text, reply.form);
    if (asked_.form == model::MessagesForm::BedrockInvoke) as_chunks(reply);
    for (Piece& piece : reply.pieces) change(piece);
    repeat_usage(reply.pieces);
    reply.what = std::string(voice_.name) + " stream";
    return reply;
  }

 private:
  std::string answer_id() const {
    if (voice_.dialect == model::Dialect::Cohere) {
      const std::string hex = fmt::format("{:016x}{:016x}", asked_.hash, stable_hash("id", asked_.hash));
      return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                         hex.substr(16, 4), hex.substr(20));
    }
    if (voice_.dialect == model::Dialect::Gemini) return stable_id("", asked_.hash, 22);
    return stable_id(asked_.form == model::MessagesForm::BedrockInvoke ? "msg_bdrk_01" : "msg_01",
                     asked_.hash, 22);
  }

  // One event of each choice in turn, as several candidates really arrive. Ends come together.
  template <typename Take>
  void for_all(const Take& take) {
    take({.kind = EventKind::Started,
          .id = id_,
          .model = asked_.model,
          .created = kCreated,
          .dialect = voice_.dialect});
    model::Usage first = usage_;  // what is known before the first word
    first.output_text = 1;
    first.reasoning.reset();
    if (asked_.stream) take({.kind = EventKind::UsageSoFar, .usage = &first});
    std::vector<std::vector<StreamEvent>> choices;
    for (std::size_t i = 0; i < answers_.size(); ++i)
      choices.push_back(writer_.choice(answers_[i], static_cast<std::uint32_t>(i)));
    const bool pings = asked_.stream && voice_.dialect == model::Dialect::Anthropic;
    std::size_t longest = 0;
    for (const auto& events : choices) longest = std::max(longest, events.size() - 1);
    for (std::size_t i = 0; i < longest; ++i) {
      for (const auto& events : choices) {
        if (i + 1 >= events.size()) continue;
        take(events[i]);
        if (i == 0 && pings) take({.kind = EventKind::Ping});
      }
    }
    for (const auto& events : choices) take(events.back());
    take({.kind = EventKind::UsageSoFar, .usage = &usage_});
    take({.kind = EventKind::End});
  }

  // The name of the member that is the bill.
  std::string_view usage_member() const {
    return voice_.dialect == model::Dialect::Gemini ? "usageMetadata" : "usage";
  }
  // Takes the bill out of an event or a body. Its values hold no brackets in strings.
  void drop_usage(std::string& json) const {
    const std::string member = fmt::format("\"{}\":{{", usage_member());
    for (std::size_t at = json.find(member); at != std::string::npos; at = json.find(member)) {
      std::size_t end = at + member.size();
      for (unsigned depth = 1; depth > 0 && end < json.size(); ++end) {
        if (json[end] == '{') ++depth;
        if (json[end] == '}') --depth;
      }
      if (at > 0 && json[at - 1] == ',') {
        --at;
      } else if (end < json.size() && json[end] == ',') {
        ++end;
      }
      json.erase(at, end - at);
    }
    // Ollama's counts are members of the last line.
    for (const std::string_view count : {",\"prompt_eval_count\":", ",\"eval_count\":"}) {
      const std::size_t at = json.find(count);
      if (at != std::string::npos) json.erase(at, json.find_first_of(",}", at + 1) - at);
    }
  }

  void change(Piece& piece) const {
    if (script_.faults.has(Fault::UsageMissing)) drop_usage(piece.bytes);
    const std::size_t tiny = piece.bytes.find(kTinyMark);
    if (tiny != std::string::npos) {
      piece.bytes.replace(tiny, kTinyMark.size(), "x");
      piece.repeat = script_.count > 0 ? script_.count : 100'000;
    }
    piece.bytes = with_raw_text(std::move(piece.bytes));
  }

  // What has the bill comes twice.
  void repeat_usage(std::vector<Piece>& pieces) const {
    if (!script_.faults.has(Fault::UsageRepeated)) return;
    const bool own_event = voice_.form == StreamForm::AwsEvents;
    const auto at = std::ranges::find(pieces, own_event ? PieceKind::Usage : PieceKind::Finish, &Piece::kind);
    if (at == pieces.end()) return;
    Piece again = *at;
    pieces.insert(at, std::move(again));
  }

  // Bedrock's own figures, in the last chunk of the model's stream.
  void as_chunks(Reply& reply) const {
    reply.form = StreamForm::AwsChunks;
    reply.content_type = kConverseVoice.stream_type;
    const auto last = std::ranges::find(reply.pieces, PieceKind::Done, &Piece::kind);
    if (last == reply.pieces.end()) return;
    const std::size_t at = last->bytes.rfind('}');
    last->bytes.insert(
        at, fmt::format(R"(,"amazon-bedrock-invocationMetrics":{{"inputTokenCount":{},"outputTokenCount":{},)"
                        R"("invocationLatency":5,"firstByteLatency":1}})",
                        bill_.prompt - bill_.cached, bill_.completion));
  }

  const Asked& asked_;
  const Script& script_;
  const Voice& voice_;
  std::vector<Answer> answers_;
  Usage bill_;
  model::Usage usage_;
  EventWriter writer_;
  std::string id_;
  dialects::AnswerHead head_;
};

std::string with_model(std::string_view model, std::string_view body) {
  std::string direct = fmt::format("{{\"model\":{}", in_quotes(model));
  for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
    if (!members.key_is("model"))
      direct.append(",\"").append(members.raw_key()).append("\":").append(members.value().text());
  }
  return direct + "}";
}

// In an envelope the model and the stream are said by the path.
std::string unwrapped(const RoutedPath& path, std::string_view body) {
  if (path.route == Route::CountMessages && path.form == model::MessagesForm::BedrockInvoke)
    return with_model(path.model, counted_body(body));
  if (path.form == model::MessagesForm::Direct || path.route != Route::Messages) return std::string(body);
  std::string direct = fmt::format("{{\"model\":{},\"stream\":{}", in_quotes(path.model), path.stream);
  for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
    if (members.key_is("model") || members.key_is("stream")) continue;
    direct.append(",\"").append(members.raw_key()).append("\":").append(members.value().text());
  }
  return direct + "}";
}

}  // namespace

bool needs_signatures(std::string_view model, const Script& script) noexcept {
  if (!script.signatures.empty()) return script.signatures == "required";
  return model.find("gemini-3") != std::string_view::npos;
}

Result<Asked> read_spoken(const RoutedPath& path, std::string_view body) {
  const Voice& voice = *voice_of(path.route);
  dialects::RequestHead head;
  head.path_model = path.model;
  head.path_stream = path.stream;
  head.array_stream = path.array_stream;
  Result<model::ChatRequest> request;
  if (path.route == Route::CountMessages) {
    request = dialects::anthropic::decode_count_request(unwrapped(path, body), head);
  } else if (path.route == Route::CountContent) {
    request = dialects::gemini::decode_count_request(body, head);
  } else {
    request = voice.read(unwrapped(path, body), head);
  }
  if (!request) return fail(request.error());
  const bool sealed = path.route == Route::CountMessages && path.form == model::MessagesForm::BedrockInvoke;
  Asked asked = asked_of(std::make_shared<const model::ChatRequest>(*std::move(request)),
                         prompt_of(sealed ? counted_body(body) : std::string(body)));
  asked.route = path.route;
  asked.body = wire::JsonValue(body);
  asked.form = path.form;
  asked.array_stream = path.array_stream;
  return asked;
}

Reply spoken_reply(const Asked& asked, const Script& script) {
  Speaker speaker(asked, script, *voice_of(asked.route));
  return asked.stream ? speaker.stream() : speaker.whole();
}

Reply count_reply(const Asked& asked) {
  const std::int64_t tokens = prompt_tokens(asked.prompt_bytes);
  Reply reply = Reply::json(
      200, asked.route != Route::CountMessages                ? dialects::gemini::encode_count_answer(tokens)
           : asked.form == model::MessagesForm::BedrockInvoke ? fmt::format(R"({{"inputTokens":{}}})", tokens)
                                                              : dialects::anthropic::encode_count(tokens));
  reply.what = "count";
  return reply;
}

}  // namespace qq::simulator
