// For decoders whose provider sends the parts of one answer one after the other: they say what came, and this
// keeps the grammar of model/stream_event.h. It numbers the parts, says Started before all else, ends the
// open part before the next begins, and lets nothing out behind the finish but usage and the end, and nothing
// at all behind End and Failed.
//
// Views that are passed in live as long as the call. Belongs to one stream.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects {

class PartEvents {
 public:
  // `id_seed` makes the ids of calls that have none.
  PartEvents(model::Dialect dialect, std::string_view id_seed) : id_seed_(id_seed), dialect_(dialect) {}

  // Where all that follows goes; before every other call.
  void to(EventSink& sink) noexcept { sink_ = &sink; }

  // End or Failed was said.
  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] bool is_open(model::PartKind kind) const noexcept { return open_ && kind_ == kind; }
  // The parts so far.
  [[nodiscard]] std::uint32_t count() const noexcept { return parts_; }

  // Once: later ones say nothing.
  void start(std::string_view id = {}, std::string_view model = {}, std::int64_t created = 0);
  // Begins a part; `like` holds what its PartStarted says beyond the kind.
  void open(model::PartKind kind, model::StreamEvent like = {});
  void open_call(std::string_view id, std::string_view name);
  // Ends the open part, if there is one.
  void close();
  // A piece of a text of this kind: of the open part, or of one that begins with it.
  void text(model::PartKind kind, std::string_view piece);
  // Of the open part, and nothing where it is of another kind. Arguments that are "null" are none.
  void arguments(std::string_view piece);
  void state(std::string_view data);  // of the dialect's own making; once a part, before arguments
  void citation(std::string_view json);
  void media(std::string_view base64);
  // A whole part of the dialect's own kind.
  void opaque(std::string_view word, std::string_view json);
  void logprobs(std::string_view json);

  void usage(const model::Usage& usage);
  void finish(model::Finish finish, std::string_view word, std::string_view stop_string = {});
  // A stream that did not say how it finished has stopped.
  void end();
  void fail(Error error);
  void fail(ErrorKind kind, std::string text);
  // The body is over: the end of an answer that has finished, and otherwise a cut.
  void body_ended();

 private:
  void say(const model::StreamEvent& event) { sink_->on_event(event); }
  [[nodiscard]] bool may_speak() const noexcept { return !finished_ && !done_; }

  EventSink* sink_ = nullptr;
  std::string id_seed_;
  model::Dialect dialect_;
  model::PartKind kind_ = model::PartKind::Text;
  std::uint32_t parts_ = 0;
  bool started_ = false;
  bool open_ = false;
  bool has_arguments_ = false;
  bool has_state_ = false;
  bool finished_ = false;
  bool done_ = false;
};

}  // namespace qq::dialects
