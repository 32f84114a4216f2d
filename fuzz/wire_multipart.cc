// Forms: what is read lies inside and in order; without a part, or with another value, it is still a form;
// and a content type gives a boundary that a form can have. The first line is the boundary, the rest the
// body.
#include <string>

#include "fuzz/wire_support.h"
#include "wire/multipart.h"

namespace {

using qq::wire::FormPart;
using qq::wire::read_form;

void check_without(std::string_view body, std::string_view boundary, const std::vector<FormPart>& parts,
                   std::size_t n) {
  const std::string rest = std::string(body.substr(0, parts[n].begin)).append(body.substr(parts[n].end));
  const auto form = read_form(rest, boundary);
  FUZZ_CHECK(form && form->size() == parts.size() - 1);
  for (std::size_t i = 0; i < form->size(); ++i) {
    const FormPart& same = parts[i < n ? i : i + 1];
    FUZZ_CHECK((*form)[i].name == same.name && (*form)[i].value == same.value);
  }
}

void check_replaced(std::string_view body, std::string_view boundary, const std::vector<FormPart>& parts,
                    std::size_t n) {
  constexpr std::string_view kOther = "other";
  const std::size_t begin = static_cast<std::size_t>(parts[n].value.data() - body.data());
  const std::string other =
      std::string(body.substr(0, begin)).append(kOther).append(body.substr(begin + parts[n].value.size()));
  const auto form = read_form(other, boundary);
  FUZZ_CHECK(form && form->size() == parts.size());
  for (std::size_t i = 0; i < form->size(); ++i) {
    FUZZ_CHECK((*form)[i].name == parts[i].name);
    FUZZ_CHECK((*form)[i].value == (i == n ? kOther : parts[i].value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  const std::string_view text = input.view();
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view first = text.substr(0, line);
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  (void)qq::wire::form_boundary(first);
  const std::string type = "multipart/form-data; boundary=\"" + std::string(first) + "\"";
  const auto boundary = qq::wire::form_boundary(type);
  if (!boundary) return 0;
  FUZZ_CHECK(!boundary->empty() && boundary->size() <= 70);
  const auto form = read_form(body, *boundary);
  if (!form) {
    FUZZ_CHECK(form.error().offset <= body.size());
    return 0;
  }
  std::size_t at = 0;
  for (std::size_t n = 0; n < form->size(); ++n) {
    const FormPart& part = (*form)[n];
    FUZZ_CHECK(part.begin == at && part.end > part.begin && part.end <= body.size());
    FUZZ_CHECK(part.value.data() > body.data() + part.begin &&
               part.value.data() + part.value.size() + 2 == body.data() + part.end);
    FUZZ_CHECK(part.value.find("\r\n--" + std::string(*boundary)) == std::string_view::npos);
    at = part.end;
    if (n < 4) {
      check_without(body, *boundary, *form, n);
      check_replaced(body, *boundary, *form, n);
    }
  }
  return 0;
}
