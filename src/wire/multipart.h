// Forms (multipart/form-data), read as a whole: RFC 2046 5.1 (boundaries) and RFC 7578 (fields).
//
// One verdict, no repair: two readers that disagree about where a part ends or what it is called are a way
// around every rule. So these are no forms, though lenient readers take them: anything in front of the first
// boundary or behind the last, white space behind a boundary, a line that begins with the boundary and goes
// on, a boundary behind a bare CR or LF, folded or otherwise malformed header lines, none or two
// Content-Disposition, a name with escapes, an encoding of a part's content.
//
// Pure; views point into the bytes that were given.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <vector>

namespace qq::wire {

struct FormLimits {
  std::size_t parts_max = 256;           // a guess: forms of these APIs have a dozen fields and sixteen files
  std::size_t part_head_max = 4 * 1024;  // bytes of a part's header lines; file names are the longest of them
};

struct FormPart {
  std::string_view name;   // of its field
  bool is_file = false;    // it has a file name
  std::string_view value;  // its content
  std::size_t begin = 0;   // of its boundary's line ...
  std::size_t end = 0;     // ... and of the next one's: without these bytes the rest is a form as well
};

struct FormError {
  enum class Limit : std::uint8_t { None, Parts, PartHead };
  const char* reason = "";  // "a part without a name", a literal
  std::size_t offset = 0;   // in the body
  Limit limit = Limit::None;
};

// Whether a content type says multipart/form-data, with whatever else.
bool is_form_type(std::string_view content_type) noexcept;

// The boundary that a content type names; nothing if it is no multipart/form-data, names none or two, or one
// that RFC 2046 does not allow.
std::optional<std::string_view> form_boundary(std::string_view content_type) noexcept;

// The parts in their order. `boundary` as `form_boundary` gave it. Time linear in `body`.
std::expected<std::vector<FormPart>, FormError> read_form(std::string_view body, std::string_view boundary,
                                                          const FormLimits& limits = {});

}  // namespace qq::wire
