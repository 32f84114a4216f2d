// From the events of a stream to the whole answer they make, and from an answer to such events: for clients
// and providers of which one streams and the other does not, for what the gateway stores, and for tests.
#pragma once
#include <functional>
#include <vector>

#include "model/chat_answer.h"
#include "model/stream_event.h"

namespace qq::model {

// Folds events, which must keep the grammar of stream_event.h: what belongs to no part is left out.
class AnswerBuilder {
 public:
  explicit AnswerBuilder(Dialect dialect) { answer_.dialect = dialect; }

  void take(const StreamEvent& event);
  // A stream that was cut leaves what had come.
  [[nodiscard]] const ChatAnswer& answer() const noexcept { return answer_; }
  [[nodiscard]] ChatAnswer release() noexcept { return std::move(answer_); }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  struct Place {
    std::size_t choice = 0;  // in answer_.choices
    std::size_t part = 0;    // in its parts
    bool begun = false;
  };
  Choice& choice(std::uint32_t index);
  // Null if it has not begun.
  Part* part(std::uint32_t number) noexcept {
    if (number >= places_.size() || !places_[number].begun) return nullptr;
    const Place& place = places_[number];
    return &answer_.choices[place.choice].parts[place.part];
  }

  ChatAnswer answer_;
  std::vector<Place> places_;  // by StreamEvent::part
  std::optional<Error> error_;
  bool ended_ = false;
};

// The events of an answer, each part in one delta.
void for_each_event(const ChatAnswer& answer, const std::function<void(const StreamEvent&)>& take);

}  // namespace qq::model
