// Anthropic's and Gemini's streams to clients of the same dialect: events go on byte for byte while the
// dialect's decoder reads them. Only the model's name is put back where the client asked for another one, in
// an event that is then written anew, and Claude's line breaks are joined where that is wanted.
#pragma once
#include <memory>
#include <string>

#include "dialects/line_breaks.h"
#include "relay/event_flow.h"
#include "relay/neutral_facts.h"
#include "wire/sse.h"

namespace qq::relay {

class NativeFlow final : public EventFlow {
 public:
  // `rename_model`: the name that goes into answers; empty: the provider's own stays. Must outlive the flow.
  // `choices`: how many were asked for.
  NativeFlow(model::Dialect dialect, const model::Target& target, std::string_view id_seed,
             std::string_view rename_model, std::size_t event_max, std::uint32_t choices = 1);

  void feed(std::string_view bytes, BodyEnd end, Output& output) override;

  [[nodiscard]] bool content_seen() const noexcept override { return facts_.content_seen(); }
  [[nodiscard]] bool blank_seen() const noexcept override { return facts_.blank_seen(); }
  [[nodiscard]] bool ended() const noexcept override { return facts_.ended(); }
  [[nodiscard]] bool empty_is_legitimate() const noexcept override { return facts_.empty_is_legitimate(); }
  [[nodiscard]] std::optional<ErrorKind> fault_at_end() const noexcept override;
  [[nodiscard]] const model::Usage& usage() const noexcept override { return facts_.usage(); }
  [[nodiscard]] std::string_view finish_reason() const noexcept override { return facts_.finish_word(); }

 private:
  void take_event(std::string_view raw, const wire::SseEvent& event, std::string& out);

  model::Dialect dialect_;
  std::string_view rename_model_;
  NeutralFacts facts_;
  std::unique_ptr<dialects::StreamDecoder> decoder_;
  std::optional<dialects::JoinedLineBreakEvents> joined_;
  wire::SseDecoder borders_;
  std::string tail_;  // raw bytes of an unfinished event
};

}  // namespace qq::relay
