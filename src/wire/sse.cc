#include "wire/sse.h"

#include <algorithm>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace qq::wire {
namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";

// What a decoder keeps allocated between events. Above it the buffer is given back: many streams idle.
constexpr std::size_t kKeptCapacity = 2048;

const char* find_line_end(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i cr = _mm_set1_epi8('\r');
  const __m128i lf = _mm_set1_epi8('\n');
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int mask = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, cr), _mm_cmpeq_epi8(bytes, lf)));
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && *at != '\r' && *at != '\n') ++at;
  return at;
}

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

void empty(std::string& text) {
  if (text.capacity() > kKeptCapacity) {
    text = std::string();
  } else {
    text.clear();
  }
}

}  // namespace

SseDecoder::SseDecoder(std::size_t event_max) : event_max_(event_max) {}

bool SseDecoder::next(std::string_view bytes, std::size_t& consumed, SseEvent& event) {
  forget_reported();
  Partial partial{name_, data_};
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* at = begin + consumed;
  const char* from = at;  // what the event that is being read has of these bytes begins here
  while (at != end && verdict_ == Verdict::Ok) {
    if (saw_cr_) {
      saw_cr_ = false;
      if (*at == '\n') {
        ++at;
        if (!pending_) from = at;
        continue;
      }
    }
    const char* line_end = find_line_end(at, end);
    std::string_view line = between(at, line_end);
    if (!line.empty() && unfinished_ + static_cast<std::size_t>(line_end - from) > event_max_) {
      verdict_ = Verdict::EventTooBig;
      break;
    }
    if (line_end == end) {
      line_ += line;
      at = end;
      break;
    }
    at = line_end + 1;
    if (*line_end == '\r') {
      if (at == end) {
        saw_cr_ = true;
      } else if (*at == '\n') {
        ++at;
      }
    }
    const bool carried = !line_.empty();
    if (carried) {
      line_ += line;
      line = line_;
    }
    if (!started_) {
      started_ = true;
      if (line.starts_with(kBom)) line.remove_prefix(kBom.size());
    }
    if (!line.empty()) {
      take_line(line, carried, partial);
      if (carried) empty(line_);
    } else {
      if (carried) empty(line_);  // it held the byte order mark only
      if (pending_) {
        consumed = static_cast<std::size_t>(at - begin);
        report(partial, consumed, event);
        return true;
      }
    }
    if (!pending_) {  // a comment, or nothing
      from = at;
      unfinished_ = 0;
    }
  }
  if (verdict_ != Verdict::Ok) at = end;
  unfinished_ += static_cast<std::size_t>(at - from);
  keep(partial);
  consumed = static_cast<std::size_t>(at - begin);
  return false;
}

bool SseDecoder::finish(SseEvent& event) {
  forget_reported();
  if (verdict_ != Verdict::Ok) return false;
  Partial partial{name_, data_};
  if (!line_.empty()) {
    std::string_view line = line_;
    if (!started_ && line.starts_with(kBom)) line.remove_prefix(kBom.size());
    started_ = true;
    if (!line.empty()) take_line(line, true, partial);
    empty(line_);
  }
  if (!pending_) return false;
  report(partial, 0, event);
  return true;
}

// `carried`: the line lies in line_, which dies with it; else it lies in the bytes of the current call.
void SseDecoder::take_line(std::string_view line, bool carried, Partial& partial) {
  const bool indented = line[0] == ' ' || line[0] == '\t';
  if (indented) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return;
  }
  if (line[0] == ':') return;  // a comment
  pending_ = true;
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (indented) indented_ = true;
    take_data(value, carried, partial);
  } else if (field == "event") {
    if (indented) indented_ = true;
    if (carried) {
      name_ = value;
      value = name_;
    }
    partial.name = value;
  }
}

void SseDecoder::take_data(std::string_view value, bool carried, Partial& partial) {
  if (!has_data_) {
    has_data_ = true;
    if (carried) {
      data_ = value;
      value = data_;
    }
    partial.data = value;
    return;
  }
  if (partial.data.data() != data_.data()) data_ = partial.data;
  data_ += '\n';
  data_ += value;
  partial.data = data_;
}

// Copies what still lies in the caller's bytes, for the next call.
void SseDecoder::keep(const Partial& partial) {
  if (partial.name.data() != name_.data()) name_ = partial.name;
  if (partial.data.data() != data_.data()) data_ = partial.data;
}

void SseDecoder::report(const Partial& partial, std::size_t end, SseEvent& event) {
  event = {
      .name = partial.name, .data = partial.data, .has_data = has_data_, .indented = indented_, .end = end};
  pending_ = false;
  has_data_ = false;
  indented_ = false;
  unfinished_ = 0;
  reported_ = true;
}

void SseDecoder::forget_reported() {
  if (!reported_) return;
  reported_ = false;
  empty(name_);
  empty(data_);
}

}  // namespace qq::wire
