#include "wire/body_reader.h"

#include <algorithm>
#include <bit>

#include "base/hex.h"
#include "wire/byte_class.h"

namespace qq::wire {
namespace {

constexpr std::uint8_t kSizeDigitsMax = 16;
constexpr std::uint32_t kExtensionMax = 256;       // bytes in one chunk-size line
constexpr std::uint32_t kOverheadMax = 16 * 1024;  // extensions and trailers of one body

// A size of a few digits and CRLF at `at` of `bytes`, which is moved behind them: nearly every size line is
// so. 0 if it is anything else, or not all here.
std::size_t read_usual_size(std::string_view bytes, std::size_t& at) noexcept {
  constexpr std::size_t kDigitsMax = 7;
  const std::size_t stop = std::min(bytes.size(), at + kDigitsMax);
  std::size_t size = 0;
  std::size_t next = at;
  for (; next < stop && bytes[next] != '\r'; ++next) {
    const int digit = hex_digit(static_cast<unsigned char>(bytes[next]));
    if (digit < 0) return 0;
    size = size << 4 | static_cast<unsigned>(digit);
  }
  if (bytes.size() - next < 2 || bytes[next] != '\r' || bytes[next + 1] != '\n') return 0;
  at = next + 2;
  return size;
}

}  // namespace

BodyReader::BodyReader(Framing framing) noexcept : state_(State::Done) {
  switch (framing.kind) {
    case Framing::Kind::None: break;
    case Framing::Kind::Length:
      remaining_ = framing.length;
      if (remaining_ > 0) state_ = State::Length;
      break;
    case Framing::Kind::Chunked: state_ = State::Size; break;
    case Framing::Kind::UntilClose: state_ = State::UntilClose; break;
  }
}

BodyReader::Step BodyReader::feed(std::string_view bytes) noexcept {
  Step step;
  while (step.consumed < bytes.size()) {
    const std::string_view rest = bytes.substr(step.consumed);
    switch (state_) {
      case State::Done: return step;
      case State::Dead: step.error = "the body was broken before"; return step;
      case State::UntilClose:
        payload_bytes_ += rest.size();
        return {.payload = rest, .consumed = bytes.size()};
      case State::Length:
      case State::Data: {
        if (!step.payload.empty()) return step;  // one contiguous piece a call
        step.payload = rest.substr(0, std::min<std::uint64_t>(rest.size(), remaining_));
        step.consumed += step.payload.size();
        payload_bytes_ += step.payload.size();
        remaining_ -= step.payload.size();
        if (remaining_ == 0) state_ = state_ == State::Length ? State::Done : State::DataCr;
        break;
      }
      case State::DataCr:
        if (const std::size_t taken = take_usual_framing(rest); taken > 0) {
          step.consumed += taken;
          break;
        }
        [[fallthrough]];
      default:
        if (const char* error = take_framing(static_cast<unsigned char>(rest[0]))) {
          // The payload before the bad byte is given out first; the next call meets the byte again.
          if (!step.payload.empty()) return step;
          state_ = State::Dead;
          step.error = error;
          return step;
        }
        ++step.consumed;
    }
  }
  return step;
}

// Between two chunks nearly always stand CRLF, a size of a few digits and CRLF. Whatever else it is, or is
// not all here, is left to the byte-wise reader.
std::size_t BodyReader::take_usual_framing(std::string_view bytes) noexcept {
  if (bytes.size() < 5 || bytes[0] != '\r' || bytes[1] != '\n') return 0;
  std::size_t at = 2;
  const std::size_t size = read_usual_size(bytes, at);
  if (size == 0) return 0;
  remaining_ = size;
  state_ = State::Data;
  return at;
}

std::string_view BodyReader::take_whole_chunk(std::string_view bytes) noexcept {
  if (state_ != State::Size || size_digits_ != 0) return {};
  std::size_t at = 0;
  const std::size_t size = read_usual_size(bytes, at);
  if (size == 0 || bytes.size() - at != size + 2) return {};
  const char* const payload = bytes.data() + at;
  if (payload[size] != '\r' || payload[size + 1] != '\n') return {};
  payload_bytes_ += size;
  return {payload, size};
}

const char* BodyReader::take_framing(unsigned char byte) noexcept {
  switch (state_) {
    case State::Size:
      if (const int digit = hex_digit(byte); digit >= 0) {
        if (size_digits_ == kSizeDigitsMax) return "chunk size too long";
        ++size_digits_;
        remaining_ = remaining_ << 4 | static_cast<unsigned>(digit);
        return nullptr;
      }
      if (size_digits_ == 0) return "chunk without a size";
      if (remaining_ >> 63 != 0) return "chunk too large";
      if (byte == '\r') {
        state_ = State::SizeLf;
        return nullptr;
      }
      line_bytes_ = 0;
      state_ = State::SizeSpace;
      return take_extension(byte);
    case State::SizeLf:
      if (byte != '\n') return "chunk size not followed by CRLF";
      state_ = remaining_ == 0 ? State::TrailerStart : State::Data;
      size_digits_ = 0;
      return nullptr;
    case State::DataCr:
      if (byte != '\r') return "chunk not followed by CRLF";
      state_ = State::DataLf;
      return nullptr;
    case State::DataLf:
      if (byte != '\n') return "chunk not followed by CRLF";
      state_ = State::Size;
      return nullptr;
    case State::SizeSpace:
    case State::ExtensionStart:
    case State::Extension:
    case State::ExtensionQuoted:
    case State::ExtensionEscape: return take_extension(byte);
    default: return take_trailer(byte);
  }
}

// chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ). Its contents mean nothing
// to us; the grammar is followed as far as needed to agree with other readers where the line ends.
const char* BodyReader::take_extension(unsigned char byte) noexcept {
  if (state_ == State::Extension && byte == '\r') {
    state_ = State::SizeLf;
    return nullptr;
  }
  if (!is_value_byte(static_cast<char>(byte))) return "bad chunk extension";
  if (++line_bytes_ > kExtensionMax || ++overhead_bytes_ > kOverheadMax) return "chunk extensions too large";
  const bool blank = byte == ' ' || byte == '\t';
  switch (state_) {
    case State::SizeSpace:
      if (byte == ';') {
        state_ = State::ExtensionStart;
      } else if (!blank) {
        return "bad chunk size";
      }
      return nullptr;
    case State::ExtensionStart:
      if (is_token_byte(static_cast<char>(byte))) {
        state_ = State::Extension;
      } else if (!blank) {
        return "bad chunk extension";
      }
      return nullptr;
    case State::Extension:
      if (byte == ';') {
        state_ = State::ExtensionStart;
      } else if (byte == '"') {
        state_ = State::ExtensionQuoted;
      } else if (byte != '=' && !blank && !is_token_byte(static_cast<char>(byte))) {
        return "bad chunk extension";
      }
      return nullptr;
    case State::ExtensionQuoted:
      if (byte == '"') state_ = State::Extension;
      if (byte == '\\') state_ = State::ExtensionEscape;
      return nullptr;
    default:  // ExtensionEscape
      state_ = State::ExtensionQuoted;
      return nullptr;
  }
}

const char* BodyReader::take_trailer(unsigned char byte) noexcept {
  if (state_ != State::EndLf && ++overhead_bytes_ > kOverheadMax) return "trailers too large";
  switch (state_) {
    case State::TrailerStart:
      if (byte == '\r') {
        state_ = State::EndLf;
        return nullptr;
      }
      if (!is_token_byte(static_cast<char>(byte))) return "bad trailer";
      state_ = State::TrailerName;
      return nullptr;
    case State::TrailerName:
      if (byte == ':') {
        state_ = State::TrailerValue;
      } else if (!is_token_byte(static_cast<char>(byte))) {
        return "bad trailer";
      }
      return nullptr;
    case State::TrailerValue:
      if (byte == '\r') {
        state_ = State::TrailerLf;
      } else if (!is_value_byte(static_cast<char>(byte))) {
        return "bad trailer";
      }
      return nullptr;
    case State::TrailerLf:
      if (byte != '\n') return "bare CR in a trailer";
      state_ = State::TrailerStart;
      return nullptr;
    default:  // EndLf
      if (byte != '\n') return "body not ended by CRLF";
      state_ = State::Done;
      return nullptr;
  }
}

bool BodyReader::finish() noexcept {
  if (state_ == State::UntilClose) state_ = State::Done;
  if (state_ != State::Done) state_ = State::Dead;
  return state_ == State::Done;
}

std::string_view chunk_header(std::size_t size, char* out) noexcept {
  const auto bits = static_cast<std::size_t>(std::bit_width(size | 1));
  const std::size_t count = (bits + 3) / 4;
  for (std::size_t i = count; i-- > 0; size >>= 4) out[i] = "0123456789abcdef"[size & 15];
  out[count] = '\r';
  out[count + 1] = '\n';
  return {out, count + 2};
}

}  // namespace qq::wire
