// WebSocket frames (RFC 6455, section 5), both directions, fed bytes. Strict, as the RFC lets it be: reserved
// bits and opcodes, lengths that are longer than they need be, fragmented or oversized control frames,
// fragments out of order and a mask where none belongs, or none where one does, are ends, not repaired.
//
// What is read are whole messages: fragments are put together, control frames between them come out as they
// arrive. Binary messages are refused (1003): nothing that we speak uses them. Text is checked to be UTF-8
// when it is whole (RFC 6455 8.1). A message beyond the limit is refused by what its frame's head announces.
//
// No extension is spoken: who uses this must not have agreed to one.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace qq::wire {

enum class WebsocketOpcode : std::uint8_t {
  Continuation = 0x0,
  Text = 0x1,
  Binary = 0x2,
  Close = 0x8,
  Ping = 0x9,
  Pong = 0xa,
};

// Why a connection ends (RFC 6455 7.4.1 and IANA's registry); others are sent, too.
enum class WebsocketClose : std::uint16_t {
  Normal = 1000,
  GoingAway = 1001,
  ProtocolError = 1002,
  Unsupported = 1003,
  NoCode = 1005,  // a Close without a code; never sent
  InvalidText = 1007,
  Policy = 1008,
  TooBig = 1009,
  InternalError = 1011,
  TryAgainLater = 1013,
};

// Whether such a code may stand in a Close frame.
bool may_be_sent(std::uint16_t close_code) noexcept;

class WebsocketReader {
 public:
  // Whose frames are read: a client's are masked, a server's are not.
  enum class From : bool { Client, Server };

  struct Event {
    enum class Kind : std::uint8_t { Text, Ping, Pong, Close };
    Kind kind = Kind::Text;
    // Of Ping and Pong their bytes, of Close the reason; valid until the next call. Of Text see take_message.
    std::string_view payload;
    WebsocketClose code = WebsocketClose::NoCode;  // of Close
  };
  struct Step {
    std::size_t consumed = 0;
    std::optional<Event> event{};
    // With a reason, a literal: the connection is to be closed with this code. The reader is dead then, as it
    // is behind a Close: it takes nothing more.
    WebsocketClose error = WebsocketClose::NoCode;
    const char* reason = nullptr;
  };

  // `message_max`: of a message, in bytes.
  WebsocketReader(From from, std::size_t message_max) noexcept : message_max_(message_max), from_(from) {}

  // Up to the next event. Call it with the rest until it takes everything and says nothing.
  Step feed(std::string_view bytes);

  // After a Text event, before the next call: the message, empty if it was discarded.
  [[nodiscard]] std::string take_message() noexcept { return std::exchange(message_, {}); }
  // A message has begun and its end has not come.
  [[nodiscard]] bool in_message() const noexcept { return in_message_; }
  // Bytes of the message that have come so far, or of the one that has ended last; and how many are held.
  [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }
  [[nodiscard]] std::size_t held() const noexcept { return message_.size(); }
  // In a message: keeps nothing of it, neither of what has come nor of the rest. Its end is told all the
  // same.
  void discard_message() noexcept;

 private:
  // Takes bytes of a frame's head until it is whole. Nothing more to do without more bytes: false.
  bool read_head(std::string_view bytes, Step& step);
  const char* check_start() noexcept;
  bool begin_frame(Step& step) noexcept;
  void take_payload(std::string_view bytes);
  void end_frame(Step& step);
  void end_control(Step& step);
  bool refuse(Step& step, WebsocketClose code, const char* reason) noexcept;

  [[nodiscard]] std::size_t head_size() const noexcept;
  [[nodiscard]] WebsocketOpcode opcode() const noexcept {
    return static_cast<WebsocketOpcode>(static_cast<unsigned char>(head_[0]) & 0x0fU);
  }
  [[nodiscard]] bool is_control() const noexcept { return (static_cast<unsigned char>(head_[0]) & 8U) != 0; }
  [[nodiscard]] bool is_final() const noexcept { return (static_cast<unsigned char>(head_[0]) & 0x80U) != 0; }

  std::size_t message_max_;
  std::string message_;
  std::size_t message_bytes_ = 0;
  std::uint64_t remaining_ = 0;  // of the frame's payload
  std::uint64_t offset_ = 0;     // in it; for the mask
  std::array<char, 14> head_{};
  std::uint8_t head_have_ = 0;
  std::uint8_t control_size_ = 0;
  std::array<char, 125> control_{};
  From from_;
  bool in_payload_ = false;
  bool in_message_ = false;
  bool discarding_ = false;
  bool dead_ = false;
};

// --- writing ---

// A client's frames are masked with four bytes that nobody can foretell (base/random.h,
// fill_with_secure_random); a server's are not.
using WebsocketMask = std::array<char, 4>;
enum class Fin : bool { No, Yes };

// The head of an unmasked frame with `size` bytes of payload, written into `out` (at least 10 bytes).
std::string_view websocket_head(WebsocketOpcode opcode, std::size_t size, char* out,
                                Fin fin = Fin::Yes) noexcept;
// A whole frame. `payload`: of control frames at most 125 bytes, of Text UTF-8.
void append_websocket_frame(std::string& out, WebsocketOpcode opcode, std::string_view payload,
                            std::optional<WebsocketMask> mask = std::nullopt, Fin fin = Fin::Yes);
// A Close; with NoCode an empty one. `reason`: UTF-8, cut to the 123 bytes there is room for.
void append_websocket_close(std::string& out, WebsocketClose code, std::string_view reason,
                            std::optional<WebsocketMask> mask = std::nullopt);

}  // namespace qq::wire
