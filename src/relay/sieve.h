// Streams of the OpenAI dialects to clients of the same one: events are judged where they lie and go on byte
// for byte.
#pragma once
#include <cstdint>
#include <string>

#include "dialects/openai/event_edit.h"
#include "dialects/openai/stream.h"
#include "relay/event_flow.h"
#include "wire/sse.h"

namespace qq::relay {

class Sieve final : public EventFlow {
 public:
  Sieve(const RequestState& state, const model::Target& target);

  std::span<const std::string_view> pass(std::string_view bytes, Pieces& pieces) noexcept override;
  void feed(std::string_view bytes, BodyEnd end, Output& output) override;

  [[nodiscard]] bool content_seen() const noexcept override { return judge_.content_seen(); }
  [[nodiscard]] bool blank_seen() const noexcept override { return judge_.blank_seen(); }
  [[nodiscard]] bool ended() const noexcept override { return judge_.ended(); }
  [[nodiscard]] bool empty_is_legitimate() const noexcept override { return judge_.empty_is_legitimate(); }
  [[nodiscard]] std::optional<ErrorKind> fault_at_end() const noexcept override {
    return judge_.fault_at_end();
  }
  [[nodiscard]] const model::Usage& usage() const noexcept override { return judge_.usage(); }
  [[nodiscard]] std::string_view finish_reason() const noexcept override { return judge_.finish_reason(); }

 private:
  // The next event of `bytes` behind `consumed`, judged.
  bool next(std::string_view bytes, std::size_t& consumed, wire::SseEvent& event,
            dialects::openai::EventFacts& facts);

  // What `pass` needs comes first.
  std::size_t may_pass_ = 0;  // the decoder's word, 0 while there is a tail
  bool edits_alike_ = false;  // whether events of this shape may have to be edited
  dialects::openai::StreamJudge judge_;
  std::string tail_;  // raw bytes of an unfinished event
  wire::SseDecoder decoder_;
  dialects::openai::EventRules rules_;
  std::string model_json_;  // of the name that is put back
};

}  // namespace qq::relay
