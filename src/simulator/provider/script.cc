#include "simulator/provider/script.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace qq::simulator {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Fault::Count_)> kNames = {
    "close_before_head",
    "reset_before_head",
    "stall_before_head",
    "stall_in_head",
    "stall_after_head",
    "stall_after_content",
    "close_mid_body",
    "reset_mid_body",
    "stall_mid_body",
    "keep_alive_lie",
    "close_on_reuse",
    "early_reply",
    "http10",
    "junk",
    "huge_head",
    "continue_100",
    "early_hints",
    "insufficient_quota",
    "context_length",
    "content_filter",
    "empty_role_only",
    "empty_null",
    "empty_blank",
    "empty_reasoning_only",
    "empty_no_choices",
    "empty_body",
    "html",
    "wrong_type",
    "no_content",
    "redirect",
    "error_200",
    "error_first",
    "error_middle",
    "error_last",
    "truncated_json",
    "length_too_long",
    "length_too_short",
    "length_and_chunked",
    "bad_chunk",
    "no_last_chunk",
    "chunk_extensions",
    "no_done",
    "no_finish",
    "double_done",
    "after_done",
    "usage_repeated",
    "usage_missing",
    "usage_negative",
    "usage_absurd",
    "big_event",
    "tiny_events",
    "cr_only",
    "crlf",
    "bom",
    "comments",
    "blank_lines",
    "leading_space",
    "no_space",
    "invalid_utf8",
    "lone_surrogate",
    "nul",
    "gzip",
    "deflate",
    "br",
    "zstd",
    "broken_gzip",
    "bomb"};

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Result<std::uint64_t> number(std::string_view key, std::string_view value) {
  std::uint64_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return fail(Error::client(ErrorKind::InvalidRequest,
                              fmt::format("the directive {} takes a whole number, not \"{}\"", key, value)));
  }
  return parsed;
}

// An HTTP status as a fault's name: "429".
std::optional<int> status_named(std::string_view name) noexcept {
  int status = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), status);
  if (error != std::errc{} || end != name.data() + name.size() || status < 200 || status > 599) {
    return std::nullopt;
  }
  return status;
}

Result<> add_fault(Script& script, std::string_view name) {
  if (name == "none") {
    script.faults.clear();
    script.status.reset();
    return {};
  }
  if (const auto status = status_named(name)) {
    script.status = *status;
    return {};
  }
  if (const auto fault = fault_named(name)) {
    script.faults.add(*fault);
    return {};
  }
  return fail(Error::client(ErrorKind::InvalidRequest,
                            fmt::format("there is no fault \"{}\"; use none, an HTTP status or one of: {}",
                                        name, fmt::join(kNames, ", "))));
}

// Adds each name of a list "a,b".
Result<> add_faults(Script& script, std::string_view names) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    QQ_CHECK(add_fault(script, trimmed(names.substr(0, comma))));
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  return {};
}

// A bomb's worth: more would be the simulator's own end.
constexpr std::uint64_t kSizeMax = 256U << 20U;

struct NumberDirective {
  std::string_view key;
  void (*set)(Script&, std::uint64_t);
};
constexpr auto kNumbers = std::to_array<NumberDirective>({
    {"at", [](Script& s, std::uint64_t n) { s.at = n; }},
    {"at_byte", [](Script& s, std::uint64_t n) { s.at_byte = n; }},
    {"delay", [](Script& s, std::uint64_t n) { s.delay = Milliseconds(n); }},
    {"ttft", [](Script& s, std::uint64_t n) { s.ttft = Milliseconds(n); }},
    {"gap", [](Script& s, std::uint64_t n) { s.gap = Milliseconds(n); }},
    {"jitter", [](Script& s, std::uint64_t n) { s.jitter = static_cast<unsigned>(n < 100 ? n : 100); }},
    {"seed", [](Script& s, std::uint64_t n) { s.seed = n; }},
    {"rate", [](Script& s, std::uint64_t n) { s.rate = n; }},
    {"split", [](Script& s, std::uint64_t n) { s.split = n; }},
    {"chunk", [](Script& s, std::uint64_t n) { s.chunk = n; }},
    {"size", [](Script& s, std::uint64_t n) { s.size = n < kSizeMax ? n : kSizeMax; }},
    {"count", [](Script& s, std::uint64_t n) { s.count = n < 1'000'000 ? n : 1'000'000; }},
    {"tokens_per_event",
     [](Script& s, std::uint64_t n) { s.tokens_per_event = n == 0 ? 1U : static_cast<unsigned>(n); }},
    {"words", [](Script& s, std::uint64_t n) { s.words = n < 1'000'000 ? n : 1'000'000; }},
    {"cached", [](Script& s, std::uint64_t n) { s.cached = static_cast<std::int64_t>(n); }},
    {"cache_write", [](Script& s, std::uint64_t n) { s.cache_write = static_cast<std::int64_t>(n); }},
    {"calls", [](Script& s, std::uint64_t n) { s.calls = static_cast<unsigned>(n < 100 ? n : 100); }},
});

struct TextDirective {
  std::string_view key;
  std::string Script::* member;
};
constexpr auto kTexts = std::to_array<TextDirective>({
    {"retry_after", &Script::retry_after},
    {"retry_after_ms", &Script::retry_after_ms},
    {"should_retry", &Script::should_retry},
    {"vendor", &Script::vendor},
    {"play", &Script::play},
    {"finish", &Script::finish},
    {"reasoning_field", &Script::reasoning_field},
    {"reasoning", &Script::reasoning},
    {"signatures", &Script::signatures},
});

}  // namespace

std::string_view to_string(Fault fault) noexcept {
  return kNames[static_cast<std::size_t>(fault)];
}

std::optional<Fault> fault_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

Result<> set_directive(Script& script, std::string_view key, std::string_view value) {
  if (key == "fault") return add_faults(script, value);
  if (key == "refusal" || key == "strict") {
    (key == "strict" ? script.strict : script.refusal) = value != "off" && value != "false";
    return {};
  }
  if (key == "status") {
    const auto status = status_named(value);
    if (!status) {
      return fail(Error::client(ErrorKind::InvalidRequest,
                                fmt::format("status takes 200 to 599, not \"{}\"", value)));
    }
    script.status = *status;
    return {};
  }
  for (const NumberDirective& directive : kNumbers) {
    if (directive.key != key) continue;
    QQ_TRY(const std::uint64_t parsed, number(key, value));
    directive.set(script, parsed);
    return {};
  }
  for (const TextDirective& directive : kTexts) {
    if (directive.key != key) continue;
    script.*directive.member = std::string(value);
    return {};
  }
  std::string known = "fault, status, refusal, strict";
  for (const auto& directive : kNumbers) known.append(", ").append(directive.key);
  for (const auto& directive : kTexts) known.append(", ").append(directive.key);
  return fail(Error::client(ErrorKind::InvalidRequest,
                            fmt::format("there is no directive \"{}\"; use one of: {}", key, known)));
}

Result<> apply_directives(Script& script, std::string_view text, char separator) {
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) {
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        QQ_CHECK(add_faults(script, part));
      } else {
        QQ_CHECK(set_directive(script, trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1))));
      }
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

Result<> apply_json(Script& script, wire::JsonValue object) {
  for (wire::JsonMembers members(object); members.next();) {
    const wire::JsonValue value = members.value();
    if (value.is_array()) {
      for (wire::JsonElements items(value); items.next();) {
        QQ_CHECK(set_directive(script, members.raw_key(), items.value().string()));
      }
    } else {
      QQ_CHECK(set_directive(script, members.raw_key(),
                             value.is_string() ? value.string() : std::string(value.text())));
    }
  }
  return {};
}

}  // namespace qq::simulator
