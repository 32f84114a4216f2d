// Server-sent events, fed bytes (WHATWG HTML, 9.2.6): LF, CRLF or CR line ends, one leading BOM,
// multi-line data, comments, split anywhere. Used to read a provider's stream for metering while its
// bytes pass through untouched.
//
// Differences from the browser's algorithm, because providers do so: leading white space before a field
// name is skipped (and reported: who follows the algorithm does not see such a field), a line of white space
// only is ignored; an event not closed by an empty line is reported at end of stream (`finish`); so is an
// event of other fields only, with `has_data` false. `id` and `retry` are not kept.
//
// Fast path: an event that lies whole in the given bytes with a single data line is reported as views
// into them, without a copy. Otherwise what it says is kept in the decoder.
//
// The limit is one on an event's bytes on the wire, from its first line's beginning on, whatever the lines
// are: who keeps the raw bytes of an event that is not whole yet keeps no more than `event_max` and what one
// call brings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::wire {

struct SseEvent {
  std::string_view name;  // the `event:` field, empty if there was none
  std::string_view data;  // `data:` lines joined with LF
  bool has_data = false;  // an event without any data line is not dispatched by browsers; we report it
  bool indented = false;  // white space stands before the name of a `data` or `event` field
  std::size_t end = 0;    // offset in the bytes given to `feed` just behind the event's closing blank line
};

class SseDecoder {
 public:
  explicit SseDecoder(std::size_t event_max = 16 * 1024 * 1024);

  enum class Verdict : std::uint8_t { Ok, EventTooBig };

  // Feeds `bytes` and returns the next event in them, if one is complete; `consumed` is advanced past
  // what was taken. Call in a loop until it returns false. Views are valid until the next call.
  //   std::size_t consumed = 0; SseEvent event;
  //   while (decoder.next(bytes, consumed, event)) {...}
  bool next(std::string_view bytes, std::size_t& consumed, SseEvent& event);
  // End of stream: true and the event if unfinished data was pending.
  bool finish(SseEvent& event);

  [[nodiscard]] Verdict verdict() const noexcept { return verdict_; }
  // True between events: everything fed so far ended with a complete event, comment line or blank line,
  // so that something of ours may be written here.
  [[nodiscard]] bool at_border() const noexcept {
    return !pending_ && line_.empty() && verdict_ == Verdict::Ok;
  }
  // How many of the bytes fed last, or before them, belong to what is not complete: 0 at a border.
  [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }
  // What is kept for it until the next call.
  [[nodiscard]] std::size_t kept() const noexcept { return line_.size() + name_.size() + data_.size(); }
  // How large an event that comes next may be to be passed over without being fed, by someone who knows it to
  // be whole; 0 if none may: only at a border where the next byte begins a line, whatever it is.
  [[nodiscard]] std::size_t may_pass() const noexcept {
    return at_border() && started_ && !saw_cr_ ? event_max_ : 0;
  }

 private:
  // What is known of the event that is being read, as views into the bytes of the current call. Parts
  // that came in earlier calls, or were joined, lie in name_ and data_ and the views point there.
  struct Partial {
    std::string_view name;
    std::string_view data;
  };
  void take_line(std::string_view line, bool carried, Partial& partial);
  void take_data(std::string_view value, bool carried, Partial& partial);
  void keep(const Partial& partial);
  void report(const Partial& partial, std::size_t end, SseEvent& event);
  void forget_reported();

  // What `may_pass` needs comes first.
  bool pending_ = false;  // a field line came since the last event
  bool has_data_ = false;
  bool indented_ = false;
  bool saw_cr_ = false;    // the previous byte was CR: a LF that follows belongs to it
  bool started_ = false;   // past a possible BOM
  bool reported_ = false;  // name_ and data_ may be in use by the event reported last
  Verdict verdict_ = Verdict::Ok;
  std::size_t event_max_;
  std::size_t unfinished_ = 0;
  std::string line_;  // an unfinished line from earlier calls
  std::string name_;
  std::string data_;
};

}  // namespace qq::wire
