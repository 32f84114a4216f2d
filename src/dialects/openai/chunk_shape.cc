#include "dialects/openai/chunk_shape.h"

#include <algorithm>
#include <cstring>

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
const char* skip_string(const char* at, const char* end) noexcept {
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

// Collects the holes of one event in the order of its bytes.
class ChunkShape::Builder {
 public:
  Builder(std::string_view data, ChunkShape& shape) : data_(data), shape_(shape) {
    shape_.shape_.clear();
    shape_.holes_count_ = 0;
    shape_.model_ = {};
    shape_.usage_null_ = {};
    shape_.always_content_ = false;
    ++shape_.tries_;
    good_ = data.size() <= kShapeMax;
  }
  void hole(std::string_view bytes, HoleKind kind) {
    if (shape_.holes_count_ == kHolesMax) good_ = false;
    if (!good_) return;
    const auto begin = static_cast<std::size_t>(bytes.data() - data_.data());
    shape_.shape_.append(data_.substr(at_, begin - at_));
    shape_.holes_[shape_.holes_count_++] = {static_cast<std::uint32_t>(shape_.shape_.size()), kind};
    at_ = begin + bytes.size();
  }
  void text(wire::JsonValue value, HoleKind kind) { hole(value.raw_string(), kind); }
  // `value` stands where the walk is: behind the last hole so far.
  void mark(wire::JsonValue value, Mark& mark) {
    const auto begin = static_cast<std::size_t>(value.text().data() - data_.data());
    mark.at = static_cast<std::uint32_t>(shape_.shape_.size() + begin - at_);
    mark.size = static_cast<std::uint32_t>(value.text().size());
  }
  void give_up() { good_ = false; }
  ~Builder() {
    if (good_) {
      shape_.shape_.append(data_.substr(at_));
    } else {
      shape_.shape_.clear();
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
  std::string_view data_;
  ChunkShape& shape_;
  std::size_t at_ = 0;
  bool good_ = true;
};

void ChunkShape::learn_chunk(std::string_view data, bool is_completion, wire::JsonValue model,
                             wire::JsonValue usage_null) {
  if (!may_learn()) return;
  Builder builder(data, *this);
  for (wire::JsonMembers members{wire::JsonValue(data)}; members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "choices") {
      builder.choices(value, is_completion);
    } else if (key == "created" && value.integer().value_or(-1) >= 0) {
      builder.hole(value.text(), HoleKind::Integer);
    } else if ((key == "obfuscation" || key == "p") && value.is_string()) {
      builder.text(value, HoleKind::Padding);
    } else if (value.text().data() == model.text().data()) {
      builder.mark(value, model_);
    } else if (value.text().data() == usage_null.text().data()) {
      builder.mark(value, usage_null_);
    } else if (is_one_of(kFigures, key)) {
      builder.give_up();
    }
  }
}

void ChunkShape::learn_delta(std::string_view data, HoleKind delta_kind) {
  if (!may_learn()) return;
  Builder builder(data, *this);
  for (wire::JsonMembers members{wire::JsonValue(data)}; members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "delta") {
      value.is_string() ? builder.text(value, delta_kind) : builder.give_up();
    } else if (key == "sequence_number" && value.integer().value_or(-1) >= 0) {
      builder.hole(value.text(), HoleKind::Integer);
    } else if (key == "obfuscation" && value.is_string()) {
      builder.text(value, HoleKind::Padding);
    }
  }
}

std::optional<ChunkShape::Match> ChunkShape::match(std::string_view data) noexcept {
  if (holes_count_ == 0) return std::nullopt;
  Match found;
  found.content = always_content_;
  const char* at = data.data();
  const char* const end = at + data.size();
  std::size_t from = 0;  // in shape_
  // Compares the shape up to `to` and sets the marks that lie in between.
  const auto fixed = [&](std::size_t to) {
    const std::size_t size = to - from;
    if (static_cast<std::size_t>(end - at) < size || std::memcmp(at, shape_.data() + from, size) != 0)
      return false;
    if (model_.size != 0 && model_.at >= from && model_.at < to) {
      found.model = wire::JsonValue(std::string_view(at + (model_.at - from), model_.size));
    }
    if (usage_null_.size != 0 && usage_null_.at >= from && usage_null_.at < to) {
      found.usage_null = wire::JsonValue(std::string_view(at + (usage_null_.at - from), usage_null_.size));
    }
    at += size;
    from = to;
    return true;
  };
  for (std::size_t i = 0; i < holes_count_; ++i) {
    const Hole hole = holes_[i];
    if (!fixed(hole.at)) return std::nullopt;
    const char* const begin = at;
    if (hole.kind == HoleKind::Integer) {
      at = skip_integer(at, end);
      if (at == begin) return std::nullopt;
      continue;
    }
    at = skip_string(at, end);
    if (at == nullptr) return std::nullopt;
    if (hole.kind == HoleKind::Filled) {
      found.content = found.content || at != begin;
    } else if (hole.kind == HoleKind::Prose && !found.content) {
      const std::string_view quoted(begin - 1, static_cast<std::size_t>(at - begin) + 2);
      found.content = !wire::JsonValue(quoted).is_blank_string();
    }
  }
  if (static_cast<std::size_t>(end - at) != shape_.size() - from || !fixed(shape_.size()))
    return std::nullopt;
  tries_ = 0;
  return found;
}

}  // namespace qq::dialects::openai
