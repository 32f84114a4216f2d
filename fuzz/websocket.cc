// WebSocket frames: the same events however the bytes are cut, limits kept; and what is written is read back.
#include "wire/websocket.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/wire_support.h"
#include "wire/utf8.h"

namespace {

using qq::wire::WebsocketReader;
using Kind = WebsocketReader::Event::Kind;
using From = WebsocketReader::From;

struct Told {
  std::vector<std::string> events;
  qq::wire::WebsocketClose error = qq::wire::WebsocketClose::NoCode;
  bool bad = false;
  bool operator==(const Told&) const = default;
};

template <typename NextPiece>
Told read(From from, std::string_view bytes, std::size_t message_max, NextPiece next_piece) {
  Told told;
  WebsocketReader reader(from, message_max);
  std::string piece;
  bool over = false;
  for (std::size_t at = 0; at < bytes.size() && !over; at += piece.size()) {
    piece.assign(bytes.substr(at, next_piece()));
    const qq::fuzz::Input input(piece);
    std::string_view rest = input.view();
    for (;;) {
      const auto step = reader.feed(rest);
      FUZZ_CHECK(step.consumed <= rest.size());
      rest.remove_prefix(step.consumed);
      FUZZ_CHECK(reader.held() <= message_max && reader.message_bytes() <= message_max);
      if (step.reason != nullptr) {
        told.error = step.error;
        told.bad = true;
        FUZZ_CHECK(!step.event && qq::wire::may_be_sent(static_cast<std::uint16_t>(step.error)));
        over = true;
        break;
      }
      if (!step.event) {
        FUZZ_CHECK(rest.empty());
        break;
      }
      const auto& event = *step.event;
      std::string text(1, static_cast<char>('0' + static_cast<int>(event.kind)));
      if (event.kind == Kind::Text) {
        text += reader.take_message();
        FUZZ_CHECK(qq::wire::is_utf8(text));
      } else {
        FUZZ_CHECK(event.payload.size() <= 125);
        text += event.payload;
        text += std::to_string(static_cast<int>(event.code));
      }
      told.events.push_back(std::move(text));
      over = event.kind == Kind::Close;
      if (over) break;
    }
  }
  return told;
}

Told read_in_all_ways(From from, std::string_view bytes, std::size_t message_max) {
  const Told whole = read(from, bytes, message_max, [&] { return bytes.size(); });
  FUZZ_CHECK(read(from, bytes, message_max, [] { return std::size_t{1}; }) == whole);
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(bytes.size()));
  FUZZ_CHECK(read(from, bytes, message_max, [&] { return cuts.next(); }) == whole);
  return whole;
}

// Mends the input, writes it as a message in fragments, and reads it.
void write_and_read(std::string_view bytes) {
  qq::wire::Utf8Mender mender;
  std::string text;
  mender.feed(bytes, text);
  mender.finish(text);
  std::string frames;
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(bytes.size()) + 1);
  std::optional<qq::wire::WebsocketMask> mask;
  const From from = bytes.size() % 2 == 0 ? From::Client : From::Server;
  if (from == From::Client) mask = {'\x12', '\x34', static_cast<char>(bytes.size()), '\xff'};
  auto opcode = qq::wire::WebsocketOpcode::Text;
  for (std::size_t at = 0;;) {
    const std::string_view part = std::string_view(text).substr(at, cuts.next() * cuts.next());
    at += part.size();
    const bool last = at == text.size();
    qq::wire::append_websocket_frame(frames, opcode, part, mask,
                                     last ? qq::wire::Fin::Yes : qq::wire::Fin::No);
    opcode = qq::wire::WebsocketOpcode::Continuation;
    if (last) break;
  }
  const Told told = read_in_all_ways(from, frames, text.size());
  FUZZ_CHECK(!told.bad && told.events.size() == 1 && std::string_view(told.events[0]).substr(1) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = qq::fuzz::as_text(data, size);
  const Told wide = read_in_all_ways(From::Client, bytes, 1U << 20U);
  const Told narrow = read_in_all_ways(From::Client, bytes, size % 40);
  FUZZ_CHECK(narrow.bad || narrow == wide);
  FUZZ_CHECK(narrow.events.size() <= wide.events.size() &&
             std::equal(narrow.events.begin(), narrow.events.end(), wide.events.begin()));
  read_in_all_ways(From::Server, bytes, 1U << 20U);
  write_and_read(bytes);
  return 0;
}
