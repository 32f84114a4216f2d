// Claude may split a run of line breaks between two deltas of a text, which flickers in clients that draw
// each delta. Where the operator wants it (`join_line_breaks` of a provider), line breaks at the end of a
// delta wait for the next one or for the end of their part. Nothing is added or lost but by a stream that
// breaks off.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"

namespace qq::dialects {

// Between a decoder and whoever takes its events. Belongs to one stream.
class JoinedLineBreaks {
 public:
  // Hands on what `event` comes to: nothing, or itself, perhaps with other text or behind what had waited.
  void take(const model::StreamEvent& event, EventSink& sink);

 private:
  struct Held {
    std::uint32_t part = 0;
    std::string breaks;
  };
  std::vector<Held> held_;  // of the parts that are open: few
};

// The same for Anthropic's events that pass through as they are. Belongs to one stream.
class JoinedLineBreakEvents {
 public:
  // Of an event of that data: true if it has gone out or waits; false if it goes out as it is, behind what
  // may have been appended.
  bool take(std::string_view name, std::string_view data, std::string& out);

 private:
  std::string held_;
  std::string index_;  // of the block whose line breaks wait, as JSON
};

}  // namespace qq::dialects
