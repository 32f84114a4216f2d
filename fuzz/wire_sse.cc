// Server-sent events: the same events however the stream is cut, and as a decoder says that splits the
// whole stream into lines first.
#include <algorithm>
#include <span>
#include <string>

#include "fuzz/wire_support.h"
#include "wire/sse.h"

namespace {

struct Event {
  std::string name;
  std::string data;
  bool has_data = false;
  bool operator==(const Event&) const = default;
};

struct Outcome {
  std::vector<Event> events;
  bool at_border = false;
  bool too_big = false;
  bool operator==(const Outcome&) const = default;
};

constexpr std::size_t kNoLimit = 16U << 20U;

template <typename NextPiece>
Outcome decode(std::string_view stream, std::size_t event_max, NextPiece next_piece) {
  using Verdict = qq::wire::SseDecoder::Verdict;
  Outcome outcome;
  qq::wire::SseDecoder decoder(event_max);
  qq::wire::SseEvent event;
  const auto keep = [&] {
    outcome.events.push_back({std::string(event.name), std::string(event.data), event.has_data});
  };
  std::string piece;
  for (std::size_t at = 0; at < stream.size();) {
    // A copy that is overwritten after its turn: the decoder must not remember views into it.
    piece.assign(stream.substr(at, next_piece()));
    std::size_t consumed = 0;
    while (decoder.next(piece, consumed, event)) {
      FUZZ_CHECK(event.end == consumed && consumed <= piece.size());
      FUZZ_CHECK(decoder.at_border());
      keep();
    }
    FUZZ_CHECK(consumed == piece.size());
    at += consumed;
    piece.assign(piece.size(), '#');
    FUZZ_CHECK(decoder.kept() <= event_max);
    // Of raw bytes: a line that just fits, and its end.
    if (decoder.verdict() == Verdict::Ok) FUZZ_CHECK(decoder.unfinished() <= std::min(event_max + 2, at));
    FUZZ_CHECK(!decoder.at_border() || decoder.unfinished() == 0);
  }
  outcome.at_border = decoder.at_border();
  if (decoder.finish(event)) keep();
  outcome.too_big = decoder.verdict() != Verdict::Ok;
  return outcome;
}

// However it is cut.
Outcome decode_in_all_ways(std::string_view stream, std::size_t event_max) {
  const Outcome whole = decode(stream, event_max, [&] { return stream.size(); });
  const Outcome single = decode(stream, event_max, [] { return std::size_t{1}; });
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(stream.size()));
  const Outcome cut = decode(stream, event_max, [&] { return cuts.next(); });
  FUZZ_CHECK(single == whole);
  FUZZ_CHECK(cut == whole);
  return whole;
}

// WHATWG HTML 9.2.6 with the differences that sse.h states, over the whole stream.
Outcome reference(std::string_view stream) {
  Outcome outcome;
  if (stream.starts_with("\xef\xbb\xbf")) stream.remove_prefix(3);
  Event event;
  bool pending = false;
  const auto dispatch = [&] {
    if (pending) outcome.events.push_back(event);
    event = {};
    pending = false;
  };
  const auto take = [&](std::string_view line) {
    if (line.empty()) return dispatch();
    while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
    if (line.empty() || line[0] == ':') return;
    pending = true;
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view field = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (!value.empty() && value[0] == ' ') value.remove_prefix(1);
    if (field == "event") event.name = value;
    if (field != "data") return;
    if (event.has_data) event.data += '\n';
    event.data += value;
    event.has_data = true;
  };
  while (!stream.empty()) {
    const std::size_t end = stream.find_first_of("\r\n");
    take(stream.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool crlf = stream.substr(end).starts_with("\r\n");
    stream.remove_prefix(end + (crlf ? 2 : 1));
  }
  dispatch();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream = qq::fuzz::as_text(data, size);
  const Outcome whole = decode_in_all_ways(stream, kNoLimit);
  FUZZ_CHECK(!whole.too_big);
  FUZZ_CHECK(whole.events == reference(stream).events);
  // A limit that some meet: the events before it are the same.
  const Outcome limited = decode_in_all_ways(stream, 1 + size % 48);
  FUZZ_CHECK(limited.too_big || limited.events == whole.events);
  FUZZ_CHECK(std::ranges::equal(limited.events, std::span(whole.events).first(limited.events.size())));
  return 0;
}
