// What the fuzzers of dialects share. Whatever a stranger sends as a request, an answer or a stream, what is
// written of it for any dialect is JSON; a stream's events keep their grammar and are the same however its
// bytes are cut; and what a client gets of a stream, its own provider's side can read.
#pragma once
#include <fakes/stream_grammar.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "fuzz/wire_support.h"
#include "wire/json.h"

namespace qq::fuzz {

// Those with both sides.
inline constexpr std::array kDialects{model::Dialect::OpenAiChat, model::Dialect::OpenAiResponses,
                                      model::Dialect::Anthropic, model::Dialect::Gemini};
inline constexpr dialects::AnswerHead kHead{.model = "m", .request_id = "01REQ", .now = 1};
// What is put together may be deeper than what was taken in.
inline constexpr wire::JsonLimits kDeep{.depth_max = 1000};

// One model of each dialect; what else a target can be is the fuzzers' own.
inline model::Target target_of(model::Dialect dialect) {
  model::Target target;
  target.kind = dialect == model::Dialect::Gemini ? "gemini" : "any";
  target.upstream_model = "m";
  if (dialect == model::Dialect::Anthropic) target.upstream_model = "claude-sonnet-4-5";
  if (dialect == model::Dialect::Gemini) target.upstream_model = "gemini-3-flash";
  return target;
}

// A request that was understood is JSON for every target. OpenAI's dialects understand it again; the others
// leave out turns that hold nothing, and then there may be none.
inline void check_request(model::Dialect dialect, std::string_view body, const dialects::RequestHead& head) {
  const auto request = dialects::client_dialect(dialect)->decode_request(body, head);
  if (!request) {
    FUZZ_CHECK(request.error().kind == ErrorKind::InvalidRequest && !request.error().message.empty());
    return;
  }
  for (const model::Dialect to : kDialects) {
    dialects::Losses losses;
    const auto sent = dialects::provider_dialect(to)->encode_request(*request, target_of(to), losses);
    if (!sent) continue;
    FUZZ_CHECK(!wire::check_json(sent->body, kDeep));
    FUZZ_CHECK(sent->header_lines.empty() || sent->header_lines.ends_with("\r\n"));
    const bool keeps_turns = to == model::Dialect::OpenAiChat || to == model::Dialect::OpenAiResponses;
    if (to == dialect && keeps_turns)
      FUZZ_CHECK(dialects::client_dialect(to)->decode_request(sent->body, head).has_value());
  }
}

// An answer that was understood is JSON for every client.
inline void check_answer(model::Dialect dialect, const model::Target& target, std::string_view body) {
  const auto answer = dialects::provider_dialect(dialect)->decode_answer(body, target, "seed");
  if (!answer) return;
  for (const model::Dialect to : kDialects) {
    dialects::Losses losses;
    FUZZ_CHECK(
        !wire::check_json(dialects::client_dialect(to)->encode_answer(*answer, {}, kHead, losses), kDeep));
  }
}

// Notes events as text, joined where their cuts may differ, checks their grammar, and writes what a client of
// each dialect gets.
class StreamNotes final : public dialects::EventSink {
 public:
  explicit StreamNotes(model::Dialect provider, bool encodes) : grammar_(provider) {
    for (const model::Dialect to : kDialects) {
      if (encodes) encoders_.push_back(dialects::client_dialect(to)->stream_encoder(request_, kHead));
    }
  }
  void on_event(const model::StreamEvent& event) override {
    using Kind = model::StreamEvent::Kind;
    if (const auto wrong = grammar_.take(event)) {
      std::fprintf(stderr, "grammar: %s\n%s\n", wrong->c_str(), text.c_str());
      std::abort();
    }
    ended = ended || event.kind == Kind::End;
    if (event.kind == Kind::Failed) failed = event.error->kind;
    const bool joins = event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta;
    if (!joins || event.kind != last_ || event.part != part_) {
      text += "\n" + std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.choice) + "." +
              std::to_string(event.part) + " ";
    }
    last_ = event.kind;
    part_ = event.part;
    text.append(event.text).append(event.id).append(event.name).append(event.word).append(event.json);
    if (event.state != nullptr) text += event.state->data;
    if (event.usage != nullptr) {
      FUZZ_CHECK(event.usage->input_total() >= 0 && event.usage->output_total() >= 0);
      text += std::to_string(event.usage->input_total());
    }
    if (event.error != nullptr) text += event.error->message;
    for (std::size_t i = 0; i < encoders_.size(); ++i) encoders_[i]->encode(event, written[i]);
  }

  std::string text;
  std::array<std::string, kDialects.size()> written;
  std::optional<ErrorKind> failed;
  bool ended = false;

 private:
  model::ChatRequest request_;
  testing::StreamGrammar grammar_;
  std::vector<std::unique_ptr<dialects::StreamEncoder>> encoders_;
  model::StreamEvent::Kind last_ = model::StreamEvent::Kind::Ping;
  std::uint32_t part_ = 0;
};

enum class Cut : std::uint8_t { Nowhere, Anywhere, EveryByte };

inline void decode(model::Dialect dialect, const model::Target& target, std::string_view stream, Cut cut,
                   StreamNotes& notes) {
  const auto decoder = dialects::provider_dialect(dialect)->stream_decoder(target, "seed");
  Cuts cuts(static_cast<std::uint32_t>(stream.size()));
  std::size_t size = 0;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    size = cut == Cut::Nowhere ? stream.size() : cut == Cut::EveryByte ? 1 : cuts.next();
    const Input piece(stream.substr(at, size));
    size = piece.view().size();
    decoder->feed(piece.view(), notes);
  }
  decoder->finish(notes);
  FUZZ_CHECK(notes.ended || notes.failed);
}

inline void check_stream(model::Dialect dialect, const model::Target& target, std::string_view stream) {
  StreamNotes whole(dialect, true);
  decode(dialect, target, stream, Cut::Nowhere, whole);
  for (const Cut cut : {Cut::Anywhere, Cut::EveryByte}) {
    StreamNotes pieces(dialect, false);
    decode(dialect, target, stream, cut, pieces);
    FUZZ_CHECK(pieces.text == whole.text);
  }
  for (std::size_t i = 0; i < kDialects.size(); ++i) {
    StreamNotes reread(kDialects[i], false);
    decode(kDialects[i], target_of(kDialects[i]), whole.written[i], Cut::Nowhere, reread);
    FUZZ_CHECK(reread.failed != ErrorKind::BadJson);
    if (whole.failed) FUZZ_CHECK(reread.failed);
  }
}

}  // namespace qq::fuzz
