#include "wire/websocket.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "wire/utf8.h"

namespace qq::wire {
namespace {

constexpr std::size_t kControlMax = 125;
constexpr unsigned kLength16 = 126;
constexpr unsigned kLength64 = 127;

unsigned byte_at(const char* bytes, std::size_t i) noexcept {
  return static_cast<unsigned char>(bytes[i]);
}

std::uint64_t big_endian(const char* bytes, std::size_t size) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | byte_at(bytes, i);
  return value;
}

// Masks or unmasks `bytes`, which begin `offset` bytes behind the payload's start (RFC 6455 5.3).
void apply_mask(char* bytes, std::size_t size, const char* mask, std::uint64_t offset) noexcept {
  std::array<char, 8> turned;
  for (std::size_t i = 0; i < turned.size(); ++i) turned[i] = mask[(offset + i) % 4];
  std::uint64_t key = 0;
  std::memcpy(&key, turned.data(), sizeof key);
  std::size_t at = 0;
  for (; at + sizeof key <= size; at += sizeof key) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    word ^= key;
    std::memcpy(bytes + at, &word, sizeof word);
  }
  for (; at < size; ++at) bytes[at] = static_cast<char>(bytes[at] ^ turned[at % turned.size()]);
}

}  // namespace

bool may_be_sent(std::uint16_t close_code) noexcept {
  if (close_code >= 3000) return close_code <= 4999;
  return close_code >= 1000 && close_code <= 1014 && (close_code < 1004 || close_code > 1006);
}

bool WebsocketReader::refuse(Step& step, WebsocketClose code, const char* reason) noexcept {
  dead_ = true;
  std::string().swap(message_);
  step.error = code;
  step.reason = reason;
  return false;
}

void WebsocketReader::discard_message() noexcept {
  discarding_ = in_message_;
  std::string().swap(message_);
}

std::size_t WebsocketReader::head_size() const noexcept {
  if (head_have_ < 2) return 2;
  const unsigned length = byte_at(head_.data(), 1) & 0x7fU;
  const std::size_t of_length = length == kLength64 ? 8 : (length == kLength16 ? 2 : 0);
  return 2 + of_length + (from_ == From::Client ? 4 : 0);
}

// What the first two bytes say; a literal if they may not.
const char* WebsocketReader::check_start() noexcept {
  if ((byte_at(head_.data(), 0) & 0x70U) != 0) return "a reserved bit is set";
  const bool masked = (byte_at(head_.data(), 1) & 0x80U) != 0;
  if (masked != (from_ == From::Client)) {
    return masked ? "a server's frame is masked" : "a client's frame is not masked";
  }
  switch (opcode()) {
    case WebsocketOpcode::Continuation: return in_message_ ? nullptr : "a continuation of no message";
    case WebsocketOpcode::Text:
    case WebsocketOpcode::Binary: return in_message_ ? "a new message inside another" : nullptr;
    case WebsocketOpcode::Close:
    case WebsocketOpcode::Ping:
    case WebsocketOpcode::Pong:
      if (!is_final()) return "a fragmented control frame";
      return (byte_at(head_.data(), 1) & 0x7fU) > kControlMax ? "a control frame of more than 125 bytes"
                                                              : nullptr;
  }
  return "a reserved opcode";
}

bool WebsocketReader::read_head(std::string_view bytes, Step& step) {
  while (head_have_ < head_size()) {
    const std::size_t take = std::min(head_size() - head_have_, bytes.size() - step.consumed);
    if (take == 0) return false;
    std::memcpy(head_.data() + head_have_, bytes.data() + step.consumed, take);
    step.consumed += take;
    const bool started = head_have_ >= 2;
    head_have_ = static_cast<std::uint8_t>(head_have_ + take);
    if (started || head_have_ < 2) continue;
    if (const char* reason = check_start()) return refuse(step, WebsocketClose::ProtocolError, reason);
    if (opcode() == WebsocketOpcode::Binary) {
      return refuse(step, WebsocketClose::Unsupported, "binary messages are not understood; send text");
    }
  }
  return begin_frame(step);
}

bool WebsocketReader::begin_frame(Step& step) noexcept {
  const unsigned length = byte_at(head_.data(), 1) & 0x7fU;
  remaining_ = length;
  if (length == kLength16) {
    remaining_ = big_endian(head_.data() + 2, 2);
    if (remaining_ < kLength16) {
      return refuse(step, WebsocketClose::ProtocolError, "a length that takes more bytes than it needs");
    }
  } else if (length == kLength64) {
    remaining_ = big_endian(head_.data() + 2, 8);
    if (remaining_ <= 0xffff || remaining_ >> 63U != 0) {
      return refuse(step, WebsocketClose::ProtocolError,
                    remaining_ <= 0xffff ? "a length that takes more bytes than it needs"
                                         : "a length beyond all measure");
    }
  }
  offset_ = 0;
  in_payload_ = true;
  control_size_ = 0;
  if (is_control()) return true;
  if (!in_message_) message_bytes_ = 0;
  if (remaining_ > message_max_ - message_bytes_) {
    return refuse(step, WebsocketClose::TooBig, "the message is larger than it may be");
  }
  in_message_ = true;
  return true;
}

void WebsocketReader::take_payload(std::string_view bytes) {
  char* at = nullptr;
  if (is_control()) {
    QQ_ASSERT(control_size_ + bytes.size() <= control_.size());
    at = control_.data() + control_size_;
    std::memcpy(at, bytes.data(), bytes.size());
    control_size_ = static_cast<std::uint8_t>(control_size_ + bytes.size());
  } else {
    message_bytes_ += bytes.size();
    if (!discarding_) {
      message_.append(bytes);
      at = message_.data() + message_.size() - bytes.size();
    }
  }
  if (at != nullptr && from_ == From::Client) {
    apply_mask(at, bytes.size(), head_.data() + head_have_ - 4, offset_);
  }
  offset_ += bytes.size();
  remaining_ -= bytes.size();
}

void WebsocketReader::end_frame(Step& step) {
  in_payload_ = false;
  head_have_ = 0;
  if (is_control()) return end_control(step);
  if (!is_final()) return;
  in_message_ = false;
  discarding_ = false;
  if (!is_utf8(message_)) {
    refuse(step, WebsocketClose::InvalidText, "the message is not UTF-8");
    return;
  }
  step.event = Event();
}

void WebsocketReader::end_control(Step& step) {
  Event event;
  event.payload = {control_.data(), control_size_};
  event.kind = opcode() == WebsocketOpcode::Ping ? Event::Kind::Ping : Event::Kind::Pong;
  if (opcode() == WebsocketOpcode::Close) {
    event.kind = Event::Kind::Close;
    if (control_size_ == 1) {
      refuse(step, WebsocketClose::ProtocolError, "half a close code");
      return;
    }
    if (control_size_ >= 2) {
      const auto code = static_cast<std::uint16_t>(big_endian(control_.data(), 2));
      event.payload.remove_prefix(2);
      event.code = WebsocketClose{code};
      if (!may_be_sent(code)) {
        refuse(step, WebsocketClose::ProtocolError, "a close code that may not be sent");
        return;
      }
      if (!is_utf8(event.payload)) {
        refuse(step, WebsocketClose::InvalidText, "the reason is not UTF-8");
        return;
      }
    }
    dead_ = true;
  }
  step.event = event;
}

WebsocketReader::Step WebsocketReader::feed(std::string_view bytes) {
  Step step;
  while (!dead_ && !step.event) {
    if (!in_payload_) {
      const bool begun = read_head(bytes, step);
      if (!begun) break;
    }
    const std::size_t take = std::min<std::uint64_t>(remaining_, bytes.size() - step.consumed);
    if (take > 0) take_payload(bytes.substr(step.consumed, take));
    step.consumed += take;
    if (remaining_ > 0) break;
    end_frame(step);
  }
  return step;
}

std::string_view websocket_head(WebsocketOpcode opcode, std::size_t size, char* out, Fin fin) noexcept {
  out[0] = static_cast<char>((fin == Fin::Yes ? 0x80U : 0U) | static_cast<unsigned>(opcode));
  std::size_t of_length = 0;
  if (size < kLength16) {
    out[1] = static_cast<char>(size);
  } else if (size <= 0xffff) {
    out[1] = static_cast<char>(kLength16);
    of_length = 2;
  } else {
    out[1] = static_cast<char>(kLength64);
    of_length = 8;
  }
  for (std::size_t i = 0; i < of_length; ++i) {
    out[2 + i] = static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * (of_length - 1 - i)));
  }
  return {out, 2 + of_length};
}

void append_websocket_frame(std::string& out, WebsocketOpcode opcode, std::string_view payload,
                            std::optional<WebsocketMask> mask, Fin fin) {
  QQ_ASSERT((static_cast<unsigned>(opcode) & 8U) == 0 || payload.size() <= kControlMax);
  std::array<char, 10> head;
  const std::string_view written = websocket_head(opcode, payload.size(), head.data(), fin);
  if (mask) head[1] = static_cast<char>(byte_at(head.data(), 1) | 0x80U);
  out.append(written);
  if (mask) out.append(mask->data(), mask->size());
  out.append(payload);
  if (mask) apply_mask(out.data() + out.size() - payload.size(), payload.size(), mask->data(), 0);
}

void append_websocket_close(std::string& out, WebsocketClose code, std::string_view reason,
                            std::optional<WebsocketMask> mask) {
  std::string payload;
  if (code != WebsocketClose::NoCode) {
    const auto number = std::to_underlying(code);
    payload.push_back(static_cast<char>(number >> 8U));
    payload.push_back(static_cast<char>(number & 0xffU));
    std::size_t size = std::min(reason.size(), kControlMax - 2);
    // Not inside a character.
    while (size > 0 && size < reason.size() && (byte_at(reason.data(), size) & 0xc0U) == 0x80) --size;
    payload.append(reason.substr(0, size));
  }
  append_websocket_frame(out, WebsocketOpcode::Close, payload, mask);
}

}  // namespace qq::wire
