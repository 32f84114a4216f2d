// Heads of requests and replies: what is complete stays so however it is cut, lies inside the bytes,
// is unambiguous, and reads the same when it is written anew.
#include <string>

#include "fuzz/wire_support.h"
#include "wire/http_head.h"

namespace {

using qq::wire::HeadVerdict;
using Kind = qq::wire::HeadVerdict::Kind;

constexpr qq::wire::HeadLimits kLimits{.head_max = 2048, .line_max = 256};

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// Reads growing prefixes. A verdict before the last byte must be the verdict on everything.
template <typename Head, typename Read>
void check_growing(std::string_view bytes, const HeadVerdict& whole, Read read) {
  HeadVerdict verdict;
  std::size_t have = 0;
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(bytes.size()));
  while (have < bytes.size() && verdict.kind == Kind::Incomplete) {
    const std::size_t before = have;
    have = std::min(bytes.size(), have + (bytes.size() % 2 == 0 ? 1 : cuts.next()));
    Head head;
    verdict = read(bytes.substr(0, have), kLimits, head, before);
  }
  if (whole.kind == Kind::Complete) {
    FUZZ_CHECK(verdict.kind == Kind::Complete);
    FUZZ_CHECK(verdict.consumed == whole.consumed);
  }
  if (verdict.kind != Kind::Incomplete) FUZZ_CHECK(verdict.kind == whole.kind);
  if (whole.kind == Kind::Incomplete) FUZZ_CHECK(verdict.kind == Kind::Incomplete);
}

void check_fields(const qq::wire::Fields& fields, std::string_view head) {
  for (const auto& field : fields.all()) {
    FUZZ_CHECK(qq::wire::is_token(field.name));
    FUZZ_CHECK(qq::wire::is_safe_field_value(field.value));
    FUZZ_CHECK(inside(field.name, head));
    FUZZ_CHECK(inside(field.value, head));
  }
  const std::size_t lengths = fields.count("content-length");
  const std::size_t codings = fields.count("transfer-encoding");
  FUZZ_CHECK(lengths + codings <= 1);
}

std::string write_fields(std::string start_line, const qq::wire::Fields& fields) {
  start_line += "\r\n";
  for (const auto& field : fields.all()) {
    start_line += field.name;
    start_line += ": ";
    start_line += field.value;
    start_line += "\r\n";
  }
  return start_line + "\r\n";
}

void check_request(std::string_view bytes) {
  qq::wire::RequestHead head;
  const HeadVerdict verdict = qq::wire::read_request_head(bytes, kLimits, head);
  check_growing<qq::wire::RequestHead>(bytes, verdict, qq::wire::read_request_head);
  if (verdict.kind != Kind::Complete) return;
  FUZZ_CHECK(verdict.consumed <= bytes.size() && verdict.consumed <= kLimits.head_max);
  const std::string_view text = bytes.substr(0, verdict.consumed);
  FUZZ_CHECK(text.ends_with("\r\n\r\n"));
  FUZZ_CHECK(text.find("\r\n\r\n", 2) == text.size() - 4);
  FUZZ_CHECK(text.find('\0') == std::string_view::npos);
  check_fields(head.fields, text);
  FUZZ_CHECK(head.fields.count("host") <= 1);
  FUZZ_CHECK(head.minor_version == 0 || !head.host.empty());
  FUZZ_CHECK(head.host.find_first_of("@/?#\\ ,") == std::string_view::npos);
  FUZZ_CHECK(!head.path().empty());
  FUZZ_CHECK(head.framing.kind != qq::wire::Framing::Kind::UntilClose);

  const std::string again = write_fields(std::string(head.method) + " " + std::string(head.target) +
                                             " HTTP/1." + std::to_string(head.minor_version),
                                         head.fields);
  qq::wire::RequestHead second;
  // It may be longer than it was by a space a field.
  FUZZ_CHECK(qq::wire::read_request_head(again, {}, second).consumed == again.size());
  FUZZ_CHECK(second.host == head.host && second.path() == head.path() && second.query() == head.query());
  FUZZ_CHECK(second.framing.kind == head.framing.kind && second.framing.length == head.framing.length);
  FUZZ_CHECK(second.keep_alive == head.keep_alive && second.expect_continue == head.expect_continue);
}

void check_response(std::string_view bytes) {
  qq::wire::ResponseHead head;
  const HeadVerdict verdict = qq::wire::read_response_head(bytes, kLimits, head);
  check_growing<qq::wire::ResponseHead>(bytes, verdict, qq::wire::read_response_head);
  if (verdict.kind != Kind::Complete) return;
  const std::string_view text = bytes.substr(0, verdict.consumed);
  check_fields(head.fields, text);
  FUZZ_CHECK(head.status >= 100 && head.status <= 999);
  FUZZ_CHECK(inside(head.reason, text));
  if (head.framing.kind == qq::wire::Framing::Kind::UntilClose) FUZZ_CHECK(!head.keep_alive);

  const std::string again = write_fields("HTTP/1." + std::to_string(head.minor_version) + " " +
                                             std::to_string(head.status) + " " + std::string(head.reason),
                                         head.fields);
  qq::wire::ResponseHead second;
  FUZZ_CHECK(qq::wire::read_response_head(again, {}, second).consumed == again.size());
  FUZZ_CHECK(second.status == head.status && second.reason == head.reason);
  FUZZ_CHECK(second.framing.kind == head.framing.kind && second.framing.length == head.framing.length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  check_request(input.view());
  check_response(input.view());
  return 0;
}
