// What the fuzzers of providers' sides share: a stream is the same however it is cut, keeps the neutral
// grammar and ends; answers and streams can be written for a client; requests of every client become JSON or
// errors.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "fuzz/wire_support.h"
#include "model/answer_builder.h"
#include "wire/json.h"

namespace qq::fuzz {

inline constexpr wire::JsonLimits kDeep{.depth_max = 1000};

// Checks the grammar of model/stream_event.h and notes what came, deltas that follow each other joined.
class Events final : public dialects::EventSink {
 public:
  explicit Events(model::Dialect dialect) : builder_(dialect) {}
  void on_event(const model::StreamEvent& event) override {
    using Kind = model::StreamEvent::Kind;
    FUZZ_CHECK(!over_);
    over_ = event.kind == Kind::Failed || event.kind == Kind::End;
    ended_ |= event.kind == Kind::End;
    if (event.kind != Kind::Failed) FUZZ_CHECK(started_ != (event.kind == Kind::Started));
    started_ |= event.kind == Kind::Started;
    check(event);
    builder_.take(event);
    const bool joins = event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta;
    if (!joins || event.kind != last_ || event.part != part_) {
      notes_ += "\n" + std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.part) + " ";
    }
    last_ = event.kind;
    part_ = event.part;
    for (const std::string_view text : {event.text, event.id, event.name, event.word, event.json})
      notes_ += text;
    if (event.state != nullptr) notes_ += event.state->data;
    if (event.error != nullptr) notes_ += event.error->message;
  }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const std::string& notes() const { return notes_; }
  [[nodiscard]] const model::ChatAnswer& answer() const { return builder_.answer(); }

 private:
  void check(const model::StreamEvent& event) {
    using Kind = model::StreamEvent::Kind;
    switch (event.kind) {
      case Kind::PartStarted:
        FUZZ_CHECK(!finished_ && event.part == parts_.size());
        FUZZ_CHECK(event.part_kind != model::PartKind::ToolCall ||
                   (!event.id.empty() && !event.name.empty()));
        for (const bool open : parts_) FUZZ_CHECK(!open);  // none of these dialects has parallel parts
        parts_.push_back(true);
        break;
      case Kind::TextDelta:
      case Kind::ArgumentsDelta: FUZZ_CHECK(!event.text.empty() && parts_.at(event.part)); break;
      case Kind::StateDelta: FUZZ_CHECK(!event.state->empty() && parts_.at(event.part)); break;
      case Kind::CitationDelta:
      case Kind::OpaqueDelta:
        FUZZ_CHECK(!wire::check_json(event.json, kDeep) && parts_.at(event.part));
        break;
      case Kind::MediaDelta: FUZZ_CHECK(parts_.at(event.part)); break;
      case Kind::Logprobs: FUZZ_CHECK(!wire::check_json(event.json, kDeep)); break;
      case Kind::PartFinished:
        FUZZ_CHECK(parts_.at(event.part));
        parts_[event.part] = false;
        break;
      case Kind::Finished:
        for (const bool open : parts_) FUZZ_CHECK(!open);
        finished_ = true;
        break;
      default: break;
    }
  }

  model::AnswerBuilder builder_;
  std::vector<bool> parts_;
  std::string notes_;
  model::StreamEvent::Kind last_ = model::StreamEvent::Kind::Ping;
  std::uint32_t part_ = 0;
  bool started_ = false;
  bool finished_ = false;
  bool over_ = false;
  bool ended_ = false;
};

// Every client's encoder must be able to say it.
inline void check_written(const model::ChatAnswer& answer) {
  using model::Dialect;
  for (const Dialect client :
       {Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini}) {
    dialects::Losses losses;
    const std::string written = dialects::client_dialect(client)->encode_answer(
        answer, {}, {.model = "m", .request_id = "r"}, losses);
    FUZZ_CHECK(!wire::check_json(written, kDeep));
  }
}

inline void check_stream(model::Dialect dialect, const model::Target& target, std::string_view body) {
  const dialects::ProviderDialect& provider = *dialects::provider_dialect(dialect);
  Events whole(dialect);
  const auto decoder = provider.stream_decoder(target, "seed");
  decoder->feed(body, whole);
  decoder->finish(whole);
  FUZZ_CHECK(whole.over());
  Events pieces(dialect);
  const auto again = provider.stream_decoder(target, "seed");
  Cuts cuts(static_cast<std::uint32_t>(body.size()));
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t size = std::min(cuts.next(), body.size() - at);
    const Input piece(body.substr(at, size));
    again->feed(piece.view(), pieces);
    at += size;
  }
  again->finish(pieces);
  FUZZ_CHECK(whole.notes() == pieces.notes());
  if (whole.ended()) check_written(whole.answer());
}

inline void check_answer(model::Dialect dialect, const model::Target& target, std::string_view body) {
  const auto answer = dialects::provider_dialect(dialect)->decode_answer(body, target, "seed");
  if (answer) check_written(*answer);
}

// `body` is a request of one client or another.
inline void check_request(model::Dialect dialect, const model::Target& target, std::string_view body) {
  using model::Dialect;
  for (const Dialect client :
       {Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini}) {
    const auto request = dialects::client_dialect(client)->decode_request(body, {.path_model = "m"});
    if (!request) continue;
    dialects::Losses losses;
    const auto sent = dialects::provider_dialect(dialect)->encode_request(*request, target, losses);
    FUZZ_CHECK(sent ? !wire::check_json(sent->body, kDeep) : !sent.error().message.empty());
  }
}

// The first byte says what the rest is.
inline void check_provider(model::Dialect dialect, const std::vector<model::Target>& targets,
                           std::string_view input) {
  if (input.empty()) return;
  const Input rest(input.substr(1));
  const auto first = static_cast<unsigned char>(input[0]);
  const model::Target& target = targets[first / 3 % targets.size()];
  switch (first % 3) {
    case 0: check_request(dialect, target, rest.view()); break;
    case 1: check_answer(dialect, target, rest.view()); break;
    default: check_stream(dialect, target, rest.view()); break;
  }
}

inline model::Target target_named(std::string model) {
  model::Target target;
  target.upstream_model = std::move(model);
  target.reasons = true;
  return target;
}

}  // namespace qq::fuzz
