#include "wire/json.h"

#include <charconv>

#include "wire/json_scan.h"

namespace qq::wire {
namespace {

[[gnu::noinline]] const char* find_far_quote(const char* at, const char* end, bool& escapes) noexcept {
  return find_closing_quote(at, end, escapes);
}

// As find_closing_quote; most strings end within sixteen bytes and hold no escape.
[[gnu::always_inline]] inline const char* find_near_quote(const char* at, const char* end,
                                                          bool& escapes) noexcept {
#if defined(__SSE2__)
  if (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto quotes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))));
    const auto backslashes =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    const unsigned before = (quotes & (~quotes + 1)) - 1;
    if (quotes != 0 && (backslashes & before) == 0) return at + __builtin_ctz(quotes);
  }
#endif
  return find_far_quote(at, end, escapes);
}

// Behind the value at `at` of a checked document. Trusts the grammar but never leaves [at, end].
[[gnu::always_inline]] inline const char* skip_value(const char* at, const char* end) noexcept {
  if (at == end) return end;
  if (*at == '"') {
    bool escapes = false;
    const char* close = find_near_quote(at + 1, end, escapes);
    return close == end ? end : close + 1;
  }
  if (*at == '{' || *at == '[') return skip_container(at, end);
  while (at != end && *at != ',' && *at != ']' && *at != '}' && !is_json_space(*at)) ++at;
  return at;
}

}  // namespace

JsonType JsonValue::type() const noexcept {
  switch (text_.empty() ? 'n' : text_[0]) {
    case '{': return JsonType::Object;
    case '[': return JsonType::Array;
    case '"': return JsonType::String;
    case 't': return JsonType::True;
    case 'f': return JsonType::False;
    case 'n': return JsonType::Null;
    default: return JsonType::Number;
  }
}

std::string_view JsonValue::raw_string() const noexcept {
  return is_string() && text_.size() >= 2 ? text_.substr(1, text_.size() - 2) : std::string_view();
}

std::optional<std::int64_t> JsonValue::integer() const noexcept {
  // Figures are short, and of so few digits none overflows.
  if (!text_.empty() && text_.size() <= 18) {
    std::int64_t small = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      small = small * 10 + (text_[digits] - '0');
    }
    if (digits == text_.size()) return small;
  }
  std::int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<JsonValue> JsonValue::member(std::string_view key) const noexcept {
  for (JsonMembers members(*this); members.next();) {
    if (members.key_is(key)) return members.value();
  }
  return std::nullopt;
}

JsonWalk::JsonWalk(JsonValue container, char open) noexcept {
  const std::string_view text = container.text();
  if (text.empty() || text.front() != open) return;
  begin_ = after_ = text.data() + 1;
  end_ = text.data() + text.size();
}

JsonWalk::JsonWalk(JsonValue container, char open, const JsonOutline& outline) noexcept
    : JsonWalk(container, open) {
  if (!outline.complete || begin_ == nullptr) return;
  next_ = outline.nodes.data();
  stop_ = next_ + outline.count;
}

JsonWalk::JsonWalk(JsonWalk& outer, char open) noexcept {
  if (outer.begin_ == outer.end_ || *outer.begin_ != open) return;
  begin_ = after_ = outer.begin_ + 1;
  end_ = outer.end_;
  if (outer.stop_ == nullptr) {
    outer_ = &outer;
    return;
  }
  // The outer walk knows already where it goes on.
  if (!outer.node_->opened) return;
  next_ = outer.node_ + 1;
  stop_ = outer.node_->next;
}

const char* JsonWalk::behind_value() const noexcept {
  return skip_value(begin_, end_);
}

[[gnu::always_inline]] inline bool JsonWalk::step() noexcept {
  const char* at = after_ != nullptr ? after_ : skip_value(begin_, end_);
  at = skip_json_space(at, end_);
  if (at != end_ && *at == ',') at = skip_json_space(at + 1, end_);
  begin_ = at;
  after_ = nullptr;
  if (at != end_ && *at != ']' && *at != '}') return true;
  if (outer_ != nullptr && at != end_) outer_->after_ = at + 1;
  // A walk that is over stays over.
  begin_ = after_ = end_;
  outer_ = nullptr;
  return false;
}

bool JsonWalk::advance() noexcept {
  return step();
}

bool JsonMembers::read_next() noexcept {
  if (!step()) return false;
  key_escapes_ = false;
  const char* key_end = *begin_ == '"' ? find_near_quote(begin_ + 1, end_, key_escapes_) : end_;
  if (key_end == end_) {  // not a checked document: never stand still
    begin_ = after_ = end_;
    outer_ = nullptr;
    return false;
  }
  key_ = std::string_view(begin_ + 1, static_cast<std::size_t>(key_end - begin_ - 1));
  begin_ = skip_json_space(key_end + 1, end_);
  if (begin_ != end_ && *begin_ == ':') begin_ = skip_json_space(begin_ + 1, end_);
  return true;
}

}  // namespace qq::wire
