// What the relay must know of a stream whose dialect is decoded to neutral events: has it content, has it
// ended, what did it use? Stands between a decoder and, in a translation, the client's encoder.
#pragma once
#include <optional>
#include <string>

#include "base/error.h"
#include "dialects/dialect.h"
#include "model/cumulative_usage.h"

namespace qq::relay {

class NeutralFacts : public dialects::EventSink {
 public:
  virtual ~NeutralFacts() = default;
  void on_event(const model::StreamEvent& event) override;
  void take_usage(const model::Usage& told) noexcept { model::take_cumulative(usage_, told); }

  [[nodiscard]] bool content_seen() const noexcept { return content_seen_; }
  [[nodiscard]] bool blank_seen() const noexcept { return blank_seen_; }
  [[nodiscard]] bool empty_is_legitimate() const noexcept { return empty_legitimate_; }
  // Every choice that was begun is finished, or the provider said that it has ended.
  [[nodiscard]] bool ended() const noexcept { return end_seen_ || (finished_ > 0 && finished_ >= choices_); }
  [[nodiscard]] bool end_seen() const noexcept { return end_seen_; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] const model::Usage& usage() const noexcept { return usage_; }
  [[nodiscard]] const std::string& finish_word() const noexcept { return finish_word_; }

 private:
  void take_finish(const model::StreamEvent& event);

  bool content_seen_ = false;
  bool blank_seen_ = false;
  bool empty_legitimate_ = false;
  bool end_seen_ = false;
  std::uint32_t choices_ = 0;  // seen
  std::uint32_t finished_ = 0;
  model::Usage usage_;
  std::string finish_word_;
  std::optional<Error> error_;
};

// Of what a stream did not live to say in full, only the usage counts.
class UsageOnly final : public dialects::EventSink {
 public:
  explicit UsageOnly(NeutralFacts& facts) noexcept : facts_(facts) {}
  void on_event(const model::StreamEvent& event) override {
    if (event.kind == model::StreamEvent::Kind::UsageSoFar) facts_.take_usage(*event.usage);
  }

 private:
  NeutralFacts& facts_;
};

// Whether an end that has nothing before it is an answer all the same: cut by a limit, stopped by a filter or
// a stop string, declined.
bool is_fine_without_content(model::Finish finish) noexcept;

// An answer whose generation failed, by the provider's word for it.
Error broken_generation(std::string_view word);

// More than white space.
bool has_something_to_see(std::string_view text) noexcept;

// The same of a whole answer.
bool has_content(const model::ChatAnswer& answer) noexcept;
// White space, of an answer that has no content.
bool says_white_space(const model::ChatAnswer& answer) noexcept;

}  // namespace qq::relay
