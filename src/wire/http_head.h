// HTTP/1.1 message heads: strict readers for both directions. RFC 9112 (framing) and RFC 9110 (fields).
//
// One verdict, no repair: CL with TE, two CL, a TE other than exactly "chunked", obs-fold, bare LF or CR,
// white space before the colon, NUL and control bytes, no or two Host, a bad request line: Bad.
// HTTP/1.0 is understood (no chunked, close unless "keep-alive"). HTTP/2's preface is Bad.
//
// Pure and allocation-free: views point into the bytes that were given. Nothing is lower-cased; compare
// names with `iequals`. Readers are restarted from the first byte when more bytes have come; heads are
// small and usually arrive whole. Leading empty lines before a request line are skipped (RFC 9112 2.2, one
// CRLF at most).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace qq::wire {

struct Field {
  std::string_view name;
  std::string_view value;  // outer white space removed
};

bool iequals(std::string_view a, std::string_view b) noexcept;

inline constexpr std::size_t kFieldsMax = 100;

class Fields {
 public:
  // The slots are left uninitialised: clearing 3 KB would cost more than parsing a usual head.
  Fields() noexcept {}  // NOLINT(modernize-use-equals-default)
  // The first field of that name, or nothing.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
  [[nodiscard]] std::span<const Field> all() const noexcept { return {fields_, size_}; }
  // False when there are kFieldsMax already.
  bool add(Field field) noexcept;
  void clear() noexcept { size_ = 0; }

 private:
  union {
    Field fields_[kFieldsMax];
  };
  std::size_t size_ = 0;
};

struct Framing {
  enum class Kind : std::uint8_t {
    None,    // no body
    Length,  // `length` bytes
    Chunked,
    UntilClose,  // responses only
  };
  Kind kind = Kind::None;
  std::uint64_t length = 0;
};

struct HeadLimits {
  std::size_t head_max = 64 * 1024;  // whole head, bytes
  std::size_t line_max = 8 * 1024;   // request or status line, bytes
};

struct RequestHead {
  std::string_view method;  // case-sensitive token
  std::string_view target;  // as sent; origin-form, or absolute-form reduced by `path()`
  std::string_view host;    // Host's value; of an absolute-form target its authority. Empty in HTTP/1.0
  int minor_version = 1;
  Framing framing;
  bool keep_alive = true;
  bool expect_continue = false;
  Fields fields;

  // The path without query, and the query without '?', of origin-form and absolute-form targets.
  [[nodiscard]] std::string_view path() const noexcept;
  [[nodiscard]] std::string_view query() const noexcept;
};

struct ResponseHead {
  int status = 0;
  std::string_view reason;
  int minor_version = 1;
  Framing framing;  // for a reply to a POST or GET; 1xx, 204 and 304 have none
  bool keep_alive = true;
  Fields fields;
};

// What a reader makes of the bytes so far.
struct HeadVerdict {
  enum class Kind : std::uint8_t { Complete, Incomplete, Bad };
  enum class Limit : std::uint8_t { None, Line, Head, Fields };  // line_max, head_max, kFieldsMax
  Kind kind = Kind::Incomplete;
  std::size_t consumed = 0;   // Complete: bytes of the head, its empty line included
  int status = 400;           // Bad: what a server answers (400, 414, 431, 501, 505)
  const char* reason = "";    // Bad: one short phrase for the error message, a literal
  Limit limit = Limit::None;  // Bad: what the head exceeds, if that is why
};

// `head` holds something meaningful only when Complete. `already_scanned`: bytes known to hold no end of head
// (the size at the previous Incomplete), so that a slow head is not searched again and again.
HeadVerdict read_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& head,
                              std::size_t already_scanned = 0) noexcept;
HeadVerdict read_response_head(std::string_view bytes, const HeadLimits& limits, ResponseHead& head,
                               std::size_t already_scanned = 0) noexcept;

// True if `value` may be written as a field value: no CR, LF, NUL or other control byte but tab.
bool is_safe_field_value(std::string_view value) noexcept;
bool is_token(std::string_view text) noexcept;

}  // namespace qq::wire
