#include "wire/http_head.h"

#include <algorithm>
#include <cstring>

#include "wire/byte_class.h"
#include "wire/request_target.h"

namespace qq::wire {
namespace {

// Signed 64 bits, so that nobody's arithmetic on lengths can wrap.
constexpr std::uint64_t kLengthMax = 0x7fff'ffff'ffff'ffff;

HeadVerdict incomplete() noexcept {
  return {};
}

HeadVerdict bad(const char* reason, int status = 400) noexcept {
  return {.kind = HeadVerdict::Kind::Bad, .status = status, .reason = reason};
}

HeadVerdict too_much(const char* reason, int status, HeadVerdict::Limit limit) noexcept {
  return {.kind = HeadVerdict::Kind::Bad, .status = status, .reason = reason, .limit = limit};
}

HeadVerdict complete(std::size_t consumed) noexcept {
  return {.kind = HeadVerdict::Kind::Complete, .consumed = consumed};
}

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

// What the fields say about framing and the connection, gathered while they are read.
struct Facts {
  std::string_view host;
  std::string_view length;
  std::string_view transfer_encoding;
  std::uint8_t hosts = 0;
  std::uint8_t lengths = 0;
  std::uint8_t transfer_encodings = 0;
  bool close = false;
  bool keep_alive = false;
  bool expect_continue = false;
};

void note_connection(std::string_view list, Facts& facts) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view option = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!option.empty() && is_blank(option.front())) option.remove_prefix(1);
    while (!option.empty() && is_blank(option.back())) option.remove_suffix(1);
    if (iequals(option, "close")) facts.close = true;
    if (iequals(option, "keep-alive")) facts.keep_alive = true;
  }
}

void note_field(const Field& field, Facts& facts) noexcept {
  switch (field.name.size()) {
    case 4:
      if (iequals(field.name, "host")) {
        facts.host = field.value;
        ++facts.hosts;
      }
      break;
    case 6:
      if (iequals(field.name, "expect") && iequals(field.value, "100-continue")) facts.expect_continue = true;
      break;
    case 10:
      if (iequals(field.name, "connection")) note_connection(field.value, facts);
      break;
    case 14:
      if (iequals(field.name, "content-length")) {
        facts.length = field.value;
        ++facts.lengths;
      }
      break;
    case 17:
      if (iequals(field.name, "transfer-encoding")) {
        facts.transfer_encoding = field.value;
        ++facts.transfer_encodings;
      }
      break;
    default: break;
  }
}

const char* why_no_name(const char* line, const char* at) noexcept {
  switch (*at) {
    case ' ':
    case '\t': return line == at ? "folded header line" : "white space before the colon";
    case '\n': return "bare LF";
    case '\r': return "header line without a colon";
    case ':': return "empty header name";
    default: return "bad character in a header name";
  }
}

const char* why_no_value(char c) noexcept {
  switch (c) {
    case '\r': return "bare CR";
    case '\n': return "bare LF";
    case '\0': return "NUL in a header value";
    default: return "control character in a header value";
  }
}

// Reads field lines and the empty line behind them. Complete's `consumed` counts from `begin`.
HeadVerdict read_fields(const char* begin, const char* at, const char* end, Fields& fields,
                        Facts& facts) noexcept {
  fields.clear();
  while (at != end) {
    const char* line = at;
    at = find_no_token(at, end);
    if (at == end) break;
    if (*at != ':' || at == line) {
      if (*at != '\r') return bad(why_no_name(line, at));
      if (at + 1 == end) break;
      if (at[1] != '\n') return bad("bare CR");
      if (at != line) return bad(why_no_name(line, at));
      return complete(static_cast<std::size_t>(at + 2 - begin));
    }
    const std::string_view name(line, static_cast<std::size_t>(at - line));
    ++at;
    while (at != end && is_blank(*at)) ++at;
    const char* value_end = find_control(at, end);
    if (value_end == end) break;
    if (*value_end != '\r') return bad(why_no_value(*value_end));
    if (value_end + 1 == end) break;
    if (value_end[1] != '\n') return bad("bare CR");
    const char* next = value_end + 2;
    while (value_end != at && is_blank(value_end[-1])) --value_end;
    const Field field{name, std::string_view(at, static_cast<std::size_t>(value_end - at))};
    if (!fields.add(field)) return too_much("too many header fields", 431, HeadVerdict::Limit::Fields);
    note_field(field, facts);
    at = next;
  }
  return incomplete();
}

const char* read_framing(const Facts& facts, int minor_version, Framing& framing) noexcept {
  framing = {};
  if (facts.transfer_encodings > 0) {
    if (facts.lengths > 0) return "Content-Length beside Transfer-Encoding";
    if (facts.transfer_encodings > 1) return "more than one Transfer-Encoding";
    if (minor_version == 0) return "Transfer-Encoding in HTTP/1.0";
    if (!iequals(facts.transfer_encoding, "chunked")) return "Transfer-Encoding other than chunked";
    framing.kind = Framing::Kind::Chunked;
    return nullptr;
  }
  if (facts.lengths == 0) return nullptr;
  if (facts.lengths > 1) return "more than one Content-Length";
  if (facts.length.empty()) return "empty Content-Length";
  std::uint64_t length = 0;
  for (const char c : facts.length) {
    if (!is_digit(c)) return "Content-Length is not a number";
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (kLengthMax - digit) / 10) return "Content-Length is too large";
    length = length * 10 + digit;
  }
  framing = {.kind = Framing::Kind::Length, .length = length};
  return nullptr;
}

bool keeps_alive(const Facts& facts, int minor_version) noexcept {
  return !facts.close && (minor_version == 1 || facts.keep_alive);
}

// Reads "HTTP/1.0" or "HTTP/1.1".
HeadVerdict read_version(std::string_view text, int& minor_version) noexcept {
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || !is_digit(text[5]) || text[6] != '.' ||
      !is_digit(text[7])) {
    return bad("bad HTTP version");
  }
  if (text[5] != '1' || text[7] > '1') return bad("HTTP version not supported", 505);
  minor_version = text[7] - '0';
  return complete(0);
}

HeadVerdict read_request_line(std::string_view line, RequestHead& head, RequestTarget& target) noexcept {
  const std::size_t method_end = line.find(' ');
  if (method_end == std::string_view::npos) return bad("bad request line");
  const std::string_view rest = line.substr(method_end + 1);
  const std::size_t target_end = rest.find(' ');
  if (target_end == std::string_view::npos) return bad("bad request line");
  head.method = line.substr(0, method_end);
  head.target = rest.substr(0, target_end);
  if (!is_token(head.method)) return bad("bad method");
  if (const auto verdict = read_version(rest.substr(target_end + 1), head.minor_version);
      verdict.kind == HeadVerdict::Kind::Bad) {
    return verdict;
  }
  if (head.method == "CONNECT") return bad("CONNECT is not supported", 501);
  target = check_target(head.method, head.target);
  if (target.error != nullptr) return bad(target.error);
  return complete(0);
}

HeadVerdict read_status_line(std::string_view line, ResponseHead& head) noexcept {
  if (line.size() < 12 || line[8] != ' ') return bad("bad status line");
  if (const auto verdict = read_version(line.substr(0, 8), head.minor_version);
      verdict.kind == HeadVerdict::Kind::Bad) {
    return verdict;
  }
  if (!is_digit(line[9]) || !is_digit(line[10]) || !is_digit(line[11])) return bad("bad status code");
  head.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  if (head.status < 100) return bad("bad status code");
  // A status line that ends behind the code, without the space, is taken: common and unambiguous.
  if (line.size() > 12 && line[12] != ' ') return bad("bad status line");
  head.reason = line.substr(std::min<std::size_t>(13, line.size()));
  if (!is_safe_field_value(head.reason)) return bad("control character in the reason phrase");
  return complete(0);
}

// The first line without its CRLF, or why there is none.
struct FirstLine {
  HeadVerdict verdict;
  std::string_view text;
};

FirstLine take_line(const char* at, const char* end, const HeadLimits& limits) noexcept {
  if (at == end) return {incomplete(), {}};
  if (*at != '\r' && *at != '\n' && !is_token_byte(*at)) return {bad("not HTTP"), {}};
  const auto size = std::min(static_cast<std::size_t>(end - at), limits.line_max + 2);
  const auto* newline = static_cast<const char*>(std::memchr(at, '\n', size));
  if (newline == nullptr) {
    if (size == limits.line_max + 2)
      return {too_much("first line too long", 414, HeadVerdict::Limit::Line), {}};
    return {incomplete(), {}};
  }
  if (newline == at || newline[-1] != '\r') return {bad("bare LF"), {}};
  return {complete(0), std::string_view(at, static_cast<std::size_t>(newline - 1 - at))};
}

// What a head that is not complete at the end of `size` bytes means.
HeadVerdict still_incomplete(std::size_t size, const HeadLimits& limits) noexcept {
  return size >= limits.head_max ? too_much("header too large", 431, HeadVerdict::Limit::Head) : incomplete();
}

// True if no line ended since the previous call: a slow head is parsed again once a line, not once a byte.
bool nothing_new(std::string_view bytes, std::size_t already_scanned, const HeadLimits& limits) noexcept {
  if (already_scanned == 0 || already_scanned > bytes.size() || bytes[already_scanned - 1] == '\r')
    return false;
  const std::string_view fresh = bytes.substr(already_scanned);
  if (fresh.empty() || std::memchr(fresh.data(), '\n', fresh.size()) != nullptr) return false;
  if (bytes.size() < limits.line_max) return true;
  return std::memchr(bytes.data() + 2, '\n', std::min(bytes.size() - 2, limits.line_max)) != nullptr;
}

}  // namespace

std::string_view RequestHead::path() const noexcept {
  const std::string_view rest = strip_authority(target);
  const std::string_view found = rest.substr(0, rest.find('?'));
  return found.empty() ? std::string_view("/") : found;
}

std::string_view RequestHead::query() const noexcept {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

HeadVerdict read_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& head,
                              std::size_t already_scanned) noexcept {
  if (nothing_new(bytes, already_scanned, limits)) return still_incomplete(bytes.size(), limits);
  const char* begin = bytes.data();
  const char* end = begin + std::min(bytes.size(), limits.head_max);
  const char* at = begin;
  if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') at += 2;
  const FirstLine line = take_line(at, end, limits);
  if (line.verdict.kind == HeadVerdict::Kind::Bad) return line.verdict;
  if (line.verdict.kind == HeadVerdict::Kind::Incomplete) return still_incomplete(bytes.size(), limits);
  RequestTarget target;
  if (const auto verdict = read_request_line(line.text, head, target);
      verdict.kind == HeadVerdict::Kind::Bad) {
    return verdict;
  }
  Facts facts;
  const auto verdict = read_fields(begin, at + line.text.size() + 2, end, head.fields, facts);
  if (verdict.kind == HeadVerdict::Kind::Incomplete) return still_incomplete(bytes.size(), limits);
  if (verdict.kind == HeadVerdict::Kind::Bad) return verdict;
  if (const char* error = read_framing(facts, head.minor_version, head.framing)) return bad(error);
  if (facts.hosts > 1) return bad("more than one Host");
  if (facts.hosts == 0 && head.minor_version == 1) return bad("no Host");
  if (facts.hosts == 1 && !is_host(facts.host)) return bad("bad Host");
  head.host = target.authority.empty() ? facts.host : target.authority;
  head.keep_alive = keeps_alive(facts, head.minor_version);
  head.expect_continue = facts.expect_continue && head.minor_version == 1;
  return verdict;
}

HeadVerdict read_response_head(std::string_view bytes, const HeadLimits& limits, ResponseHead& head,
                               std::size_t already_scanned) noexcept {
  if (nothing_new(bytes, already_scanned, limits)) return still_incomplete(bytes.size(), limits);
  const char* begin = bytes.data();
  const char* end = begin + std::min(bytes.size(), limits.head_max);
  const FirstLine line = take_line(begin, end, limits);
  if (line.verdict.kind == HeadVerdict::Kind::Bad) return line.verdict;
  if (line.verdict.kind == HeadVerdict::Kind::Incomplete) return still_incomplete(bytes.size(), limits);
  if (const auto verdict = read_status_line(line.text, head); verdict.kind == HeadVerdict::Kind::Bad)
    return verdict;
  Facts facts;
  const auto verdict = read_fields(begin, begin + line.text.size() + 2, end, head.fields, facts);
  if (verdict.kind == HeadVerdict::Kind::Incomplete) return still_incomplete(bytes.size(), limits);
  if (verdict.kind == HeadVerdict::Kind::Bad) return verdict;
  if (const char* error = read_framing(facts, head.minor_version, head.framing)) return bad(error);
  head.keep_alive = keeps_alive(facts, head.minor_version);
  if (head.status < 200 || head.status == 204) {
    // These have no body whatever they say; one that announces a body may yet send it, so its
    // connection is not used again.
    if (head.framing.kind == Framing::Kind::Chunked || head.framing.length > 0) head.keep_alive = false;
    head.framing = {};
  } else if (head.status == 304) {
    head.framing = {};
  } else if (head.framing.kind == Framing::Kind::None) {
    head.framing.kind = Framing::Kind::UntilClose;
    head.keep_alive = false;
  }
  return verdict;
}

}  // namespace qq::wire
