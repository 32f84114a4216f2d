#include "wire/multipart.h"

#include <cstring>
#include <string>

#include "wire/byte_class.h"
#include "wire/http_head.h"

namespace qq::wire {
namespace {

constexpr std::string_view kFormType = "multipart/form-data";
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kBoundaryMax = 70;

// RFC 2046's bchars, of which a space may not be the last.
bool is_boundary_byte(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("'()+_,-./:=? ").contains(c);
}

bool is_boundary(std::string_view text) noexcept {
  if (text.empty() || text.size() > kBoundaryMax || text.back() == ' ') return false;
  for (const char c : text) {
    if (!is_boundary_byte(c)) return false;
  }
  return true;
}

std::string_view skip_space(std::string_view text) noexcept {
  const std::size_t at = text.find_first_not_of(" \t");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// The parameters behind a value: `; name=value; name="value"`. Quoted values are shown as they stand.
class Parameters {
 public:
  explicit Parameters(std::string_view text) noexcept : rest_(skip_space(text)) {}

  // False at the end, and where it is malformed, which `bad` says then.
  bool next() noexcept {
    if (rest_.empty()) return false;
    bad_ = true;  // until it was read
    if (rest_.front() != ';') return false;
    rest_ = skip_space(rest_.substr(1));
    const std::size_t equals = rest_.find('=');
    if (equals == std::string_view::npos || !is_token(rest_.substr(0, equals))) return false;
    name_ = rest_.substr(0, equals);
    rest_.remove_prefix(equals + 1);
    if (!take_value()) return false;
    rest_ = skip_space(rest_);
    bad_ = false;
    return true;
  }
  [[nodiscard]] bool bad() const noexcept { return bad_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }

 private:
  bool take_value() noexcept {
    if (!rest_.starts_with('"')) {
      value_ = rest_.substr(0, rest_.find_first_of("; \t\""));
      rest_.remove_prefix(value_.size());
      return !value_.empty() && !rest_.starts_with('"');
    }
    const std::size_t quote = rest_.find('"', 1);
    if (quote == std::string_view::npos) return false;
    value_ = rest_.substr(1, quote - 1);
    // An escaped quote for some readers, the end for others.
    if (value_.ends_with('\\')) return false;
    rest_.remove_prefix(quote + 1);
    return true;
  }

  std::string_view rest_;
  std::string_view name_;
  std::string_view value_;
  bool bad_ = false;
};

const char* read_disposition(std::string_view value, FormPart& part) noexcept {
  const std::size_t end = value.find_first_of("; \t");
  if (!iequals(value.substr(0, end), "form-data")) return "a part that is not form-data";
  bool named = false;
  bool has_file_name = false;
  Parameters parameters(end == std::string_view::npos ? std::string_view() : value.substr(end));
  while (parameters.next()) {
    if (iequals(parameters.name(), "name")) {
      if (named) return "a part with two names";
      named = true;
      part.name = parameters.value();
    } else if (iequals(parameters.name(), "filename")) {
      if (has_file_name) return "a part with two file names";
      has_file_name = true;
    } else if (iequals(parameters.name(), "name*")) {
      return "a part whose name is encoded";
    }
    part.is_file =
        part.is_file || iequals(parameters.name(), "filename") || iequals(parameters.name(), "filename*");
  }
  if (parameters.bad()) return "a malformed Content-Disposition";
  if (!named || part.name.empty()) return "a part without a name";
  if (part.name.find_first_of("\\%") != std::string_view::npos) return "a name written with escapes";
  return nullptr;
}

bool is_plain_encoding(std::string_view encoding) noexcept {
  return iequals(encoding, "binary") || iequals(encoding, "8bit") || iequals(encoding, "7bit");
}

// One field of a part's head; `seen`: Content-Disposition came before.
const char* read_field(std::string_view line, FormPart& part, bool& seen) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return "a malformed header line";
  std::string_view value = skip_space(line.substr(colon + 1));
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  if (!is_safe_field_value(value)) return "a header line with control bytes";
  const std::string_view name = line.substr(0, colon);
  if (iequals(name, "content-disposition")) {
    if (seen) return "a part with two Content-Disposition";
    seen = true;
    return read_disposition(value, part);
  }
  if (iequals(name, "content-transfer-encoding") && !is_plain_encoding(value)) {
    return "a part whose content is encoded";
  }
  return nullptr;
}

// Where in `body` the bytes of `delimiter` stand next; its size if nowhere.
std::size_t find_delimiter(std::string_view body, std::string_view delimiter, std::size_t from) noexcept {
  const void* const found =
      ::memmem(body.data() + from, body.size() - from, delimiter.data(), delimiter.size());
  return found == nullptr ? body.size()
                          : static_cast<std::size_t>(static_cast<const char*>(found) - body.data());
}

class FormReader {
 public:
  FormReader(std::string_view body, std::string_view boundary, const FormLimits& limits)
      : body_(body), limits_(limits), delimiter_("--") {
    delimiter_ += boundary;
  }

  std::expected<std::vector<FormPart>, FormError> read() {
    if (!body_.starts_with(delimiter_)) return refused("no boundary at the beginning", 0);
    std::vector<FormPart> parts;
    for (std::size_t at = 0;;) {  // a boundary's line begins here
      const std::size_t behind = at + delimiter_.size();
      if (body_.substr(behind).starts_with("--")) {
        const std::string_view rest = body_.substr(behind + 2);
        if (!rest.empty() && rest != kLineEnd) return refused("bytes behind the last boundary", behind + 2);
        return parts;
      }
      if (!body_.substr(behind).starts_with(kLineEnd)) {
        return refused("a boundary that is not alone on its line", at);
      }
      if (parts.size() == limits_.parts_max) return refused("too many parts", at, FormError::Limit::Parts);
      FormPart& part = parts.emplace_back();
      part.begin = at;
      if (const auto error = read_part(behind + kLineEnd.size(), part)) return std::unexpected(*error);
      at = part.end;
    }
  }

 private:
  static std::unexpected<FormError> refused(const char* reason, std::size_t offset,
                                            FormError::Limit limit = FormError::Limit::None) {
    return std::unexpected(FormError{reason, offset, limit});
  }

  // The part whose head begins at `at`; `part.end` is where the next boundary's line does.
  std::optional<FormError> read_part(std::size_t at, FormPart& part) const {
    const std::size_t head_begin = at;
    bool has_disposition = false;
    for (;;) {
      const std::string_view window = body_.substr(at, limits_.part_head_max + 2 - (at - head_begin));
      const std::size_t length = window.find(kLineEnd);
      if (length == std::string_view::npos) {
        if (at + window.size() < body_.size()) {
          return FormError{"too long a head of a part", head_begin, FormError::Limit::PartHead};
        }
        return FormError{"an unfinished part", head_begin};
      }
      const std::string_view line = window.substr(0, length);
      at += length + kLineEnd.size();
      if (line.empty()) break;
      if (line.starts_with(delimiter_)) return FormError{"a boundary in the head of a part", head_begin};
      if (const char* const reason = read_field(line, part, has_disposition)) {
        return FormError{reason, head_begin};
      }
      if (at - head_begin > limits_.part_head_max) {
        return FormError{"too long a head of a part", head_begin, FormError::Limit::PartHead};
      }
    }
    if (!has_disposition) return FormError{"a part without Content-Disposition", head_begin};
    return find_end(at, part);
  }

  // A boundary counts behind CRLF only; behind half of it some readers would see one.
  std::optional<FormError> find_end(std::size_t begin, FormPart& part) const {
    for (std::size_t at = begin;; ++at) {
      at = find_delimiter(body_, delimiter_, at);
      if (at == body_.size()) return FormError{"an unfinished part", part.begin};
      const char before = body_[at - 1];  // what precedes the content is the head's CRLF
      if (before != '\n' && before != '\r') continue;
      if (before == '\r' || body_[at - 2] != '\r') return FormError{"a boundary behind half a line end", at};
      if (at == begin) return FormError{"a part that is not separated from the next boundary", at};
      part.value = body_.substr(begin, at - kLineEnd.size() - begin);
      part.end = at;
      return std::nullopt;
    }
  }

  std::string_view body_;
  const FormLimits& limits_;
  std::string delimiter_;
};

}  // namespace

bool is_form_type(std::string_view content_type) noexcept {
  if (!iequals(content_type.substr(0, kFormType.size()), kFormType)) return false;
  return content_type.size() == kFormType.size() ||
         std::string_view("; \t").contains(content_type[kFormType.size()]);
}

std::optional<std::string_view> form_boundary(std::string_view content_type) noexcept {
  if (!is_form_type(content_type)) return std::nullopt;
  std::optional<std::string_view> boundary;
  Parameters parameters(content_type.substr(kFormType.size()));
  while (parameters.next()) {
    if (!iequals(parameters.name(), "boundary")) continue;
    if (boundary) return std::nullopt;
    boundary = parameters.value();
  }
  if (parameters.bad() || !boundary || !is_boundary(*boundary)) return std::nullopt;
  return boundary;
}

std::expected<std::vector<FormPart>, FormError> read_form(std::string_view body, std::string_view boundary,
                                                          const FormLimits& limits) {
  return FormReader(body, boundary, limits).read();
}

}  // namespace qq::wire
