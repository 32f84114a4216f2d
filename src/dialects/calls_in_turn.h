// Calls of tools one behind the other, for dialects whose streams have one part open at a time. The grammar
// of model/stream_event.h lets the calls of a choice overlap, as some chat providers send them (a piece of
// the first, a piece of the second, another of the first); here a call that begins while another is open
// waits, with all that is said of it, until that one is finished.
//
//   in    call 0 { | args 0 | call 1 { | args 1 | args 0 | } 0 | args 1 | } 1
//   out   call 0 { | args 0 |                     args 0 | } 0 | call 1 { | args 1 1 | } 1
//
// Between the events of one choice and whoever takes them. Nothing waits where nothing overlaps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "dialects/dialect.h"

namespace qq::dialects {

class CallsInTurn {
 public:
  // What may wait: a guess, far more than a model says in its calls.
  static constexpr std::size_t kHeldMax = 1U << 20U;

  // Hands on what `event` comes to. False: more would wait than may, and nothing is to be given any more.
  [[nodiscard]] bool take(const model::StreamEvent& event, EventSink& sink);

 private:
  struct Held {
    std::uint32_t choice = 0;
    std::uint32_t part = 0;
    std::string id;
    std::string name;
    std::string arguments;
    model::OpaqueState state;
    model::Dialect dialect = model::Dialect::OpenAiChat;
    bool custom = false;
    bool finished = false;
  };
  [[nodiscard]] bool hold(const model::StreamEvent& event);
  void tell(const Held& call, EventSink& sink);

  std::optional<std::uint32_t> open_;  // the part that is being told
  std::deque<Held> waiting_;           // in their order
  std::size_t bytes_ = 0;              // that wait
};

}  // namespace qq::dialects
