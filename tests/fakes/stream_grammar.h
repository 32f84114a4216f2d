// The grammar of model/stream_event.h as a check, for whoever reads or makes events: tests and fuzzers.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/stream_event.h"
#include "wire/json.h"
#include "wire/utf8.h"

namespace qq::testing {

// What breaks the grammar, in words; nothing while all is well. `provider`: whose words the stream has.
class StreamGrammar {
 public:
  explicit StreamGrammar(model::Dialect provider) : provider_(provider) {}

  std::optional<std::string> take(const model::StreamEvent& event) {
    if (failed_) return "an event after Failed";
    if (auto wrong = check_words(event)) return wrong;
    if (event.kind == Kind::Failed) {
      failed_ = true;
      return unless(event.error != nullptr, "Failed without an error");
    }
    if (ended_) return "an event after End";
    if (event.kind == Kind::Ping) return std::nullopt;
    if (event.kind == Kind::Started) return unless(!std::exchange(started_, true), "Started twice");
    if (!started_) return "an event before Started";
    switch (event.kind) {
      case Kind::PartStarted: return start(event);
      case Kind::Finished: return finish(event);
      case Kind::End:
        ended_ = true;
        return unless(std::ranges::none_of(parts_, &Part::open), "End while a part is open");
      case Kind::UsageSoFar: return unless(event.usage != nullptr, "no usage");
      case Kind::Logprobs:
        if (is_finished(event.choice)) return "log probabilities behind Finished";
        return unless(wire::JsonValue(event.json).is_array(), "log probabilities that are no array");
      default: return inside(event);
    }
  }
  [[nodiscard]] bool ended() const noexcept { return ended_ || failed_; }

 private:
  using Kind = model::StreamEvent::Kind;
  using PartKind = model::PartKind;
  struct Part {
    PartKind kind = PartKind::Text;
    std::uint32_t choice = 0;
    bool open = false;
    bool has_state = false;
  };

  static std::optional<std::string> unless(bool well, const char* wrong) {
    return well ? std::nullopt : std::optional<std::string>(wrong);
  }
  [[nodiscard]] bool is_finished(std::uint32_t choice) const {
    return std::ranges::find(finished_, choice) != finished_.end();
  }

  [[nodiscard]] std::optional<std::string> check_words(const model::StreamEvent& event) const {
    std::string repaired;
    for (const std::string_view text :
         {event.text, event.id, event.name, event.word, event.model, event.json, event.media_type}) {
      wire::as_utf8(text, repaired);
      if (!repaired.empty()) return "text that is no UTF-8";
    }
    if (!event.json.empty() && wire::check_json(event.json)) return "json that is none";
    const bool own_words = event.kind == Kind::Started || event.kind == Kind::CitationDelta ||
                           event.kind == Kind::OpaqueDelta || event.kind == Kind::Finished ||
                           (event.kind == Kind::PartStarted && event.part_kind == PartKind::Opaque);
    return unless(!own_words || event.dialect == provider_, "the provider's words under another's name");
  }

  std::optional<std::string> start(const model::StreamEvent& event) {
    if (event.part != parts_.size()) return "parts are not numbered in order";
    if (is_finished(event.choice)) return "a part after Finished";
    for (const Part& part : parts_) {
      const bool both_calls = part.kind == PartKind::ToolCall && event.part_kind == PartKind::ToolCall;
      if (part.open && part.choice == event.choice && !both_calls) return "a part inside another";
    }
    if (event.part_kind == PartKind::ToolCall && event.name.empty()) return "a call without a name";
    if (event.part_kind == PartKind::ToolCall && event.id.empty()) return "a call without an id";
    parts_.push_back({event.part_kind, event.choice, true});
    return std::nullopt;
  }

  std::optional<std::string> finish(const model::StreamEvent& event) {
    if (event.finish == model::Finish::None) return "Finished without a reason";
    if (is_finished(event.choice)) return "Finished twice";
    finished_.push_back(event.choice);
    return unless(std::ranges::none_of(
                      parts_, [&](const Part& part) { return part.open && part.choice == event.choice; }),
                  "Finished while a part is open");
  }

  // A delta of a part, or its end.
  std::optional<std::string> inside(const model::StreamEvent& event) {
    if (event.part >= parts_.size() || !parts_[event.part].open) return "a part that is not open";
    Part& part = parts_[event.part];
    if (event.choice != part.choice) return "a part of another choice";
    switch (event.kind) {
      case Kind::PartFinished: part.open = false; return std::nullopt;
      case Kind::StateDelta:
        if (event.state == nullptr || event.state->empty()) return "a state without anything";
        return unless(!std::exchange(part.has_state, true), "two states of one part");
      case Kind::TextDelta:
        if (event.text.empty()) return "an empty delta";
        return unless(
            part.kind == PartKind::Text || part.kind == PartKind::Reasoning || part.kind == PartKind::Refusal,
            "text where none belongs");
      case Kind::ArgumentsDelta:
        if (event.text.empty()) return "an empty delta";
        return unless(part.kind == PartKind::ToolCall, "arguments of what is no call");
      case Kind::CitationDelta:
        return unless(part.kind == PartKind::Text && !event.json.empty(), "a citation of what is no text");
      case Kind::MediaDelta: return unless(part.kind == PartKind::Media, "bytes of what is no media");
      case Kind::OpaqueDelta:
        return unless(part.kind == PartKind::Opaque && !event.json.empty(), "a delta of what is not opaque");
      default: return "an event that is none";
    }
  }

  model::Dialect provider_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> finished_;
  bool started_ = false;
  bool ended_ = false;
  bool failed_ = false;
};

}  // namespace qq::testing
