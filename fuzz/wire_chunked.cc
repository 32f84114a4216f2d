// Chunked bodies: the same payload, end and verdict however the bytes are cut, and as a reader says that
// sees the whole body at once and is written as the grammar is (RFC 9112 7.1).
#include <optional>
#include <string>

#include "fuzz/wire_support.h"
#include "wire/body_reader.h"
#include "wire/byte_class.h"

namespace {

struct Outcome {
  std::string payload;
  std::size_t consumed = 0;
  bool done = false;
  bool broken = false;
};

template <typename NextPiece>
Outcome read(std::string_view bytes, NextPiece next_piece) {
  Outcome outcome;
  qq::wire::BodyReader reader({qq::wire::Framing::Kind::Chunked, 0});
  while (!reader.done() && outcome.consumed < bytes.size()) {
    const std::string_view piece = bytes.substr(outcome.consumed, next_piece());
    const auto step = reader.feed(piece);
    FUZZ_CHECK(step.consumed <= piece.size());
    FUZZ_CHECK(step.payload.empty() ||
               (step.payload.data() >= piece.data() &&
                step.payload.data() + step.payload.size() <= piece.data() + step.consumed));
    outcome.payload += step.payload;
    outcome.consumed += step.consumed;
    if (step.error != nullptr) {
      FUZZ_CHECK(step.payload.empty());
      outcome.broken = true;
      break;
    }
    FUZZ_CHECK(step.consumed > 0);
  }
  FUZZ_CHECK(reader.payload_bytes() == outcome.payload.size());
  outcome.done = reader.done();
  return outcome;
}

// The grammar, over the whole text. Nothing: broken, or not complete.
class Grammar {
 public:
  explicit Grammar(std::string_view text) : text_(text) {}

  std::optional<Outcome> body() {
    Outcome outcome;
    for (;;) {
      const std::size_t digits_begin = at_;
      while (at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      const std::string digits(text_.substr(digits_begin, at_ - digits_begin));
      if (digits.empty() || digits.size() > 16) return std::nullopt;
      const auto size = std::stoull(digits, nullptr, 16);
      const std::size_t extensions_begin = at_;
      while (peek() != '\r') {
        if (!extension()) return std::nullopt;
      }
      const std::size_t extension_bytes = at_ - extensions_begin;
      overhead_ += extension_bytes;
      if (extension_bytes > 256 || overhead_ > 16 * 1024) return std::nullopt;
      if (!take("\r\n")) return std::nullopt;
      if (size == 0) break;
      if (size > text_.size() - at_) return std::nullopt;
      outcome.payload += text_.substr(at_, size);
      at_ += size;
      if (!take("\r\n")) return std::nullopt;
    }
    while (!text_.substr(at_).starts_with("\r\n")) {
      if (!trailer()) return std::nullopt;
    }
    overhead_ += 1;  // the reader counts the last CR, too
    if (overhead_ > 16 * 1024) return std::nullopt;
    at_ += 2;
    outcome.consumed = at_;
    outcome.done = true;
    return outcome;
  }

 private:
  int peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : -1; }
  bool take(std::string_view literal) {
    if (!text_.substr(at_).starts_with(literal)) return false;
    at_ += literal.size();
    return true;
  }
  void blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  bool token_byte() const { return peek() >= 0 && qq::wire::is_token_byte(static_cast<char>(peek())); }
  bool value_byte() const { return peek() >= 0 && qq::wire::is_value_byte(static_cast<char>(peek())); }

  // ";" name, then anything made of tokens, "=", blanks and quoted strings: laxer than the RFC where it
  // does not matter for the end of the line.
  bool extension() {
    blanks();
    if (!take(";")) return false;
    blanks();
    if (!token_byte()) return false;
    while (token_byte() || peek() == '=' || peek() == ' ' || peek() == '\t' || peek() == '"') {
      if (peek() != '"') {
        ++at_;
        continue;
      }
      ++at_;
      while (peek() != '"') {
        if (peek() == '\\') ++at_;
        if (!value_byte()) return false;
        ++at_;
      }
      ++at_;
    }
    return true;
  }

  bool trailer() {
    const std::size_t begin = at_;
    while (token_byte()) ++at_;
    if (at_ == begin || !take(":")) return false;
    while (value_byte()) ++at_;
    if (!take("\r\n")) return false;
    overhead_ += at_ - begin;
    return overhead_ <= 16 * 1024;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t overhead_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  const std::string_view bytes = input.view();
  const Outcome whole = read(bytes, [&] { return bytes.size(); });
  const Outcome single = read(bytes, [] { return std::size_t{1}; });
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(size));
  const Outcome cut = read(bytes, [&] { return cuts.next(); });
  for (const Outcome* other : {&single, &cut}) {
    FUZZ_CHECK(other->payload == whole.payload);
    FUZZ_CHECK(other->consumed == whole.consumed);
    FUZZ_CHECK(other->done == whole.done);
    FUZZ_CHECK(other->broken == whole.broken);
  }
  const auto expected = Grammar(bytes).body();
  FUZZ_CHECK(whole.done == expected.has_value());
  if (expected) {
    FUZZ_CHECK(whole.payload == expected->payload);
    FUZZ_CHECK(whole.consumed == expected->consumed);
  }
  return 0;
}
