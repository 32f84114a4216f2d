// A provider's stream in another dialect than the client's: decoded to neutral events and encoded anew, each
// as soon as it is whole. A delta leaves in the turn of the loop in which it came.
#pragma once
#include <memory>

#include "dialects/line_breaks.h"
#include "relay/event_flow.h"
#include "relay/neutral_facts.h"

namespace qq::relay {

class TranslatedFlow final : public EventFlow {
 public:
  // The encoder outlives the flow: whoever ends the client's stream with an error needs it too.
  TranslatedFlow(std::unique_ptr<dialects::StreamDecoder> decoder, dialects::StreamEncoder& encoder,
                 bool join_line_breaks = false);

  void feed(std::string_view bytes, BodyEnd end, Output& output) override;
  void close(std::string& out) override;

  [[nodiscard]] bool content_seen() const noexcept override { return facts_.content_seen(); }
  [[nodiscard]] bool blank_seen() const noexcept override { return facts_.blank_seen(); }
  [[nodiscard]] bool ended() const noexcept override { return facts_.ended() && !facts_.broken(); }
  [[nodiscard]] bool empty_is_legitimate() const noexcept override { return facts_.empty_is_legitimate(); }
  [[nodiscard]] std::optional<ErrorKind> fault_at_end() const noexcept override;
  [[nodiscard]] const model::Usage& usage() const noexcept override { return facts_.usage(); }
  [[nodiscard]] std::string_view finish_reason() const noexcept override { return facts_.finish_word(); }

 private:
  // Encodes what the decoder says. After a failure nothing is encoded: it is the relay's to tell. A
  // generation that broke is one, whatever the dialects make of the word for it; its usage may still follow.
  class Encoding final : public NeutralFacts {
   public:
    Encoding(dialects::StreamEncoder& encoder, bool join_line_breaks);
    void on_event(const model::StreamEvent& event) override;
    void fail_if_broken();
    void close(std::string& out);
    [[nodiscard]] bool broken() const noexcept { return broken_.has_value(); }
    void write_to(std::string& out) noexcept { encoded_.out = &out; }

   private:
    void fail_with(const Error& error);
    struct Encoded final : dialects::EventSink {
      explicit Encoded(dialects::StreamEncoder& to) noexcept : encoder(to) {}
      void on_event(const model::StreamEvent& event) override { encoder.encode(event, *out); }
      dialects::StreamEncoder& encoder;
      std::string* out = nullptr;
    };
    Encoded encoded_;
    std::optional<dialects::JoinedLineBreaks> joined_;
    std::optional<Error> broken_;
    bool closed_ = false;
  };

  std::unique_ptr<dialects::StreamDecoder> decoder_;
  Encoding facts_;
};

}  // namespace qq::relay
