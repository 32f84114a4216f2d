#include "relay/held/held_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/http_head.h"
#include "wire/multipart.h"

namespace qq::relay {
namespace {

Error bad_file_form(std::string message, std::string_view param) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::string(param));
  error.type = "invalid_request_error";
  return error;
}

// One of the fields we act on; `part` stays null where it is not given.
Result<> take_part(std::string_view name, bool is_file, const wire::FormPart& found,
                   const wire::FormPart*& part) {
  if (part != nullptr || found.name != name) {
    return fail(
        bad_file_form(fmt::format("the field \"{}\" must be given once, in small letters", name), name));
  }
  if (found.is_file != is_file) {
    return fail(
        bad_file_form(fmt::format("the field \"{}\" must be {}", name, is_file ? "a file" : "text"), name));
  }
  part = &found;
  return {};
}

}  // namespace

Result<HeldForm> read_held_form(HoldingKind kind, std::string_view content_type, std::string_view body) {
  const auto boundary = wire::form_boundary(content_type);
  if (!boundary) {
    return fail(
        bad_file_form("a file is sent as a form: multipart/form-data with the field \"file\"", "file"));
  }
  const auto parts = wire::read_form(body, *boundary);
  if (!parts) {
    return fail(bad_file_form(
        fmt::format("the form cannot be read: {} at byte {}", parts.error().reason, parts.error().offset),
        {}));
  }
  const wire::FormPart* file = nullptr;
  const wire::FormPart* purpose = nullptr;
  const wire::FormPart* model = nullptr;
  for (const wire::FormPart& part : *parts) {
    if (wire::iequals(part.name, "file")) QQ_CHECK(take_part("file", true, part, file));
    if (wire::iequals(part.name, "purpose")) QQ_CHECK(take_part("purpose", false, part, purpose));
    if (wire::iequals(part.name, "model")) QQ_CHECK(take_part("model", false, part, model));
  }
  if (file == nullptr) return fail(bad_file_form("the form has no field \"file\"; add the file", "file"));
  if (kind == HoldingKind::File && (purpose == nullptr || purpose->value.empty())) {
    return fail(bad_file_form("the form has no field \"purpose\"; say what the file is for, such as batch",
                              "purpose"));
  }
  HeldForm form;
  form.file = file->value;
  if (purpose != nullptr) form.purpose = purpose->value;
  if (model != nullptr) {
    form.model = model->value;
    form.model_begin = model->begin;
    form.model_end = model->end;
  }
  return form;
}

std::vector<std::string_view> form_pieces(const HeldForm& form, std::string_view body,
                                          std::string_view file) {
  struct Cut {
    std::size_t begin;
    std::size_t end;
    std::string_view instead;
  };
  const auto file_begin = static_cast<std::size_t>(form.file.data() - body.data());
  std::vector<Cut> cuts = {{file_begin, file_begin + form.file.size(), file}};
  if (form.model_end > form.model_begin) cuts.push_back({form.model_begin, form.model_end, {}});
  std::ranges::sort(cuts, {}, &Cut::begin);
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  const auto add = [&](std::string_view piece) {
    if (!piece.empty()) pieces.push_back(piece);
  };
  for (const Cut& cut : cuts) {
    add(body.substr(from, cut.begin - from));
    add(cut.instead);
    from = cut.end;
  }
  add(body.substr(from));
  return pieces;
}

}  // namespace qq::relay
