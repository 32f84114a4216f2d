#include "dialects/openai/chunk_shape.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "wire/json_scan.h"

namespace qq::dialects::openai {
namespace {

// What message_has_content looks at.
constexpr std::array kTexts = {std::string_view("content"), std::string_view("reasoning_content"),
                               std::string_view("reasoning"), std::string_view("refusal")};
constexpr std::array kOthers = {std::string_view("function_call"), std::string_view("reasoning_details"),
                                std::string_view("audio"), std::string_view("images")};
// Figures change what the judge knows beyond the event's own facts, so such events are read in full.
constexpr std::array kFigures = {std::string_view("usage"), std::string_view("x_groq")};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

bool is_empty_value(wire::JsonValue value) noexcept {
  return value.is_null() || value.text().size() <= 2;
}

const char* skip_integer(const char* at, const char* end) noexcept {
  const char* const begin = at;
  while (at != end && *at >= '0' && *at <= '9') ++at;
  const bool leading_zero = at - begin > 1 && *begin == '0';
  return leading_zero ? begin : at;
}

// Behind the string's last byte, at its closing quote; nullptr if it is no valid string. `at` is behind the
// opening quote.
inline const char* skip_string(const char* at, const char* end) noexcept {
  const char* const begin = at;
  std::uint8_t high = 0;
  bool plain = true;
  for (;;) {
    at = wire::find_string_stop(at, end, high);
    if (at == end || static_cast<unsigned char>(*at) < ' ') return nullptr;
    if (*at == '"') break;
    if (end - at < 2) return nullptr;
    plain = false;
    at += 2;  // a backslash and what it escapes
  }
  if (plain && (high & 0x80) == 0) return at;
  const std::string_view quoted(begin - 1, static_cast<std::size_t>(at - begin) + 2);
  return wire::check_json(quoted) ? nullptr : at;
}

}  // namespace

Framing framing_of(std::string_view raw, std::string_view data) noexcept {
  const std::size_t at =
      reinterpret_cast<std::uintptr_t>(data.data()) - reinterpret_cast<std::uintptr_t>(raw.data());
  if (raw.size() < data.size() || at > raw.size() - data.size()) return {};  // not in it: decoded from parts
  const Framing framing{raw.substr(0, at), raw.substr(at + data.size())};
  // A byte order mark, or the line feed of a line end cut in two, would stand in front.
  const bool begins = framing.before.starts_with("data:") || framing.before.starts_with("event:");
  const bool ends = framing.behind == "\n\n" || framing.behind == "\r\n\r\n";
  return begins && ends ? framing : Framing{};
}

// Collects the holes of one event in the order of its bytes.
class ChunkShape::Builder {
 public:
  Builder(std::string_view data, const Framing& framing, ChunkShape& shape)
      : data_(data), behind_(framing.behind), shape_(shape) {
    shape_.shape_ = framing.before;
    shape_.before_ = static_cast<std::uint16_t>(framing.before.size());
    shape_.behind_ = static_cast<std::uint8_t>(framing.behind.size());
    shape_.holes_count_ = 0;
    shape_.model_ = {};
    shape_.usage_null_ = {};
    shape_.marks_begin_ = kShapeMax;
    shape_.marks_end_ = 0;
    shape_.always_content_ = false;
    ++shape_.tries_;
    good_ = data.size() + framing.before.size() <= kShapeMax;
  }
  void text(wire::JsonValue value, HoleKind kind) {
    const std::string_view bytes = value.raw_string();
    hole(bytes, 0, kind);
    at_ += bytes.size();
  }
  void integer(wire::JsonValue value) { hole(value.text(), value.text().size(), HoleKind::Integer); }
  // `value` stands where the walk is: behind the last hole so far.
  void mark(wire::JsonValue value, Mark& mark) {
    if (!good_) return;
    const auto begin = static_cast<std::size_t>(value.text().data() - data_.data());
    mark.at = static_cast<std::uint16_t>(shape_.shape_.size() + begin - at_);
    mark.size = static_cast<std::uint16_t>(value.text().size());
    shape_.marks_begin_ = std::min(shape_.marks_begin_, mark.at);
    shape_.marks_end_ = std::max(shape_.marks_end_, static_cast<std::uint16_t>(mark.at + mark.size));
  }
  void give_up() { good_ = false; }
  ~Builder() {
    if (good_ && shape_.holes_count_ > 0) {
      shape_.shape_.append(data_.substr(at_)).append(behind_);
    } else {
      std::string().swap(shape_.shape_);
      shape_.holes_count_ = 0;
    }
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  void delta(wire::JsonValue delta) {
    for (wire::JsonMembers members(delta); members.next();) {
      const wire::JsonValue value = members.value();
      const bool is_text = is_one_of(kTexts, members.raw_key());
      if (is_text && value.is_string()) {
        text(value, HoleKind::Prose);
      } else if (members.raw_key() == "tool_calls" && value.is_array()) {
        calls(value);
      } else if ((is_text || is_one_of(kOthers, members.raw_key())) && !is_empty_value(value)) {
        give_up();
      }
    }
  }

  void calls(wire::JsonValue calls) {
    for (wire::JsonElements elements(calls); elements.next();) call(elements.value());
  }

  void call(wire::JsonValue call) {
    for (wire::JsonMembers members(call); members.next();) {
      const std::string_view key = members.raw_key();
      const wire::JsonValue value = members.value();
      if (key == "function") {
        this->call(value);
      } else if (key == "arguments" && value.is_string()) {
        text(value, HoleKind::Filled);
      } else if ((key == "id" || key == "name") && value.is_string()) {
        shape_.always_content_ = shape_.always_content_ || !is_empty_value(value);
      } else if ((key == "id" || key == "name" || key == "arguments" || key == "input" || key == "custom") &&
                 !value.is_null()) {
        give_up();
      }
    }
  }

  void choices(wire::JsonValue choices, bool is_completion) {
    wire::JsonElements elements(choices);
    if (!elements.next()) return give_up();
    for (wire::JsonMembers members(elements.value()); members.next();) {
      const std::string_view key = members.raw_key();
      if (key == "delta") {
        delta(members.value());
      } else if (key == "text" && members.value().is_string()) {
        text(members.value(), is_completion ? HoleKind::Filled : HoleKind::Prose);
      } else if (key == "text" || is_one_of(kFigures, key)) {
        give_up();
      }
    }
    if (elements.next()) give_up();
  }

 private:
  // `kept`: how many of its bytes stay in the shape.
  void hole(std::string_view bytes, std::size_t kept, HoleKind kind) {
    if (shape_.holes_count_ == kHolesMax) good_ = false;
    if (!good_) return;
    const auto begin = static_cast<std::size_t>(bytes.data() - data_.data());
    shape_.shape_.append(data_.substr(at_, begin - at_));
    shape_.holes_[shape_.holes_count_++] = {static_cast<std::uint16_t>(shape_.shape_.size()),
                                            static_cast<std::uint8_t>(kept), kind};
    at_ = begin;
  }

  std::string_view data_;
  std::string_view behind_;
  ChunkShape& shape_;
  std::size_t at_ = 0;
  bool good_ = true;
};

void ChunkShape::learn_chunk(std::string_view data, const Framing& framing, bool is_completion,
                             const DeltaFacts& facts) {
  if (!may_learn()) return;
  Builder builder(data, framing, *this);
  for (wire::JsonMembers members{wire::JsonValue(data)}; members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "choices") {
      builder.choices(value, is_completion);
    } else if (key == "created" && value.integer().value_or(-1) >= 0) {
      builder.integer(value);
    } else if ((key == "obfuscation" || key == "p") && value.is_string()) {
      builder.text(value, HoleKind::Padding);
    } else if (value.text().data() == facts.model_value.text().data()) {
      builder.mark(value, model_);
    } else if (value.text().data() == facts.usage_null_value.text().data()) {
      builder.mark(value, usage_null_);
    } else if (is_one_of(kFigures, key)) {
      builder.give_up();
    }
  }
}

void ChunkShape::learn_delta(std::string_view data, const Framing& framing, HoleKind delta_kind) {
  if (!may_learn()) return;
  Builder builder(data, framing, *this);
  for (wire::JsonMembers members{wire::JsonValue(data)}; members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "delta") {
      value.is_string() ? builder.text(value, delta_kind) : builder.give_up();
    } else if (key == "sequence_number" && value.integer().value_or(-1) >= 0) {
      builder.integer(value);
    } else if (key == "obfuscation" && value.is_string()) {
      builder.text(value, HoleKind::Padding);
    }
  }
}

// The way along the shape: where it is in the event and in the shape, and what was found.
class ChunkShape::Walk {
 public:
  Walk(const ChunkShape& shape, const char* at, const char* end, std::size_t from, DeltaFacts& found) noexcept
      : shape_(shape), at_(at), end_(end), from_(from), found_(found) {}

  // Whether the bytes are the shape's up to `to`; goes there, and sets the marks that lie in between.
  [[gnu::always_inline]] bool same(std::size_t to) noexcept {
    const std::size_t size = to - from_;
    if (static_cast<std::size_t>(end_ - at_) < size ||
        std::memcmp(at_, shape_.shape_.data() + from_, size) != 0) {
      return false;
    }
    if (to > shape_.marks_begin_ && from_ < shape_.marks_end_) {
      set(shape_.model_, to, found_.model_value);
      set(shape_.usage_null_, to, found_.usage_null_value);
    }
    at_ += size;
    from_ = to;
    return true;
  }
  // The same where integers differ; their digits are kept for the next time.
  [[gnu::noinline]] bool same_but_for(std::span<const Hole> integers, std::size_t to, char* shape) noexcept {
    for (const Hole& hole : integers) {
      if (!same(hole.at)) return false;
      const char* const digits = at_;
      at_ = skip_integer(at_, end_);
      if (at_ == digits) return false;
      if (at_ - digits == hole.size) std::memcpy(shape + hole.at, digits, hole.size);
      from_ += hole.size;
    }
    return same(to);
  }
  [[gnu::always_inline]] bool text(HoleKind kind) noexcept {
    const char* const begin = at_;
    at_ = skip_string(at_, end_);
    if (at_ == nullptr) return false;
    if (!found_.content && at_ != begin && kind != HoleKind::Padding) {
      found_.content = kind == HoleKind::Filled ||
                       (static_cast<unsigned char>(*begin) > ' ' && *begin != '\\') ||
                       !quoted(begin).is_blank_string();
    }
    return true;
  }
  [[nodiscard]] const char* at() const noexcept { return at_; }

 private:
  void set(const Mark& mark, std::size_t to, wire::JsonValue& value) const noexcept {
    if (mark.size == 0 || mark.at < from_ || mark.at >= to) return;
    value = wire::JsonValue(std::string_view(at_ + (mark.at - from_), mark.size));
  }
  [[nodiscard]] wire::JsonValue quoted(const char* begin) const noexcept {
    return wire::JsonValue(std::string_view(begin - 1, static_cast<std::size_t>(at_ - begin) + 2));
  }

  const ChunkShape& shape_;
  const char* at_;
  const char* end_;
  std::size_t from_;
  DeltaFacts& found_;
};

const char* ChunkShape::walk(const char* at, const char* end, std::size_t from, std::size_t to,
                             DeltaFacts& found) noexcept {
  found.content = always_content_;
  Walk walk(*this, at, end, from, found);
  std::size_t next = 0;
  for (;;) {
    // Integers are mostly those of the event before: tried together with what is around them.
    std::size_t text = next;
    while (text < holes_count_ && holes_[text].kind == HoleKind::Integer) ++text;
    const std::size_t upto = text < holes_count_ ? holes_[text].at : to;
    if (!walk.same(upto)) {
      const std::span integers(holes_.data() + next, text - next);
      if (integers.empty() || !walk.same_but_for(integers, upto, shape_.data())) return nullptr;
    }
    if (text == holes_count_) return walk.at();
    if (!walk.text(holes_[text].kind)) return nullptr;
    next = text + 1;
  }
}

bool ChunkShape::match(std::string_view data, DeltaFacts& found) noexcept {
  if (holes_count_ == 0) return false;
  const char* const end = data.data() + data.size();
  if (walk(data.data(), end, before_, shape_.size() - behind_, found) != end) return false;
  tries_ = 0;
  return true;
}

std::size_t ChunkShape::match_framed(std::string_view bytes, std::string_view& data,
                                     DeltaFacts& found) noexcept {
  if (holes_count_ == 0 || behind_ == 0) return 0;
  const char* const behind = walk(bytes.data(), bytes.data() + bytes.size(), 0, shape_.size(), found);
  if (behind == nullptr) return 0;
  tries_ = 0;
  data = {bytes.data() + before_, behind - behind_};
  return static_cast<std::size_t>(behind - bytes.data());
}

}  // namespace qq::dialects::openai
