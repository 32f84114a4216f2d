#include "dialects/openai/form_request.h"

#include "wire/http_head.h"
#include "wire/multipart.h"

namespace qq::dialects::openai {
namespace {

Error invalid_form(std::string message, std::string_view param = {}, std::string_view code = "invalid_form") {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::string(param));
  error.type = "invalid_request_error";
  error.code = code;
  return error;
}

std::string quoted_field(std::string_view name) {
  return "the field \"" + std::string(name) + "\"";
}

// One of the fields we act on.
struct OwnedField {
  std::string_view name;
  const wire::FormPart* part = nullptr;

  Result<> take(const wire::FormPart& found) {
    if (found.name != name) {
      return fail(
          invalid_form(quoted_field(name) + " is written with capital letters; write it plainly", name));
    }
    if (part != nullptr)
      return fail(invalid_form(quoted_field(name) + " is given twice; give it once", name));
    if (found.is_file) {
      return fail(
          invalid_form(quoted_field(name) + " is sent as a file; send it as text", name, "invalid_type"));
    }
    part = &found;
    return {};
  }
};

Result<> read_model_field(const OwnedField& field, FormRequest& request) {
  if (field.part == nullptr) {
    return fail(invalid_form(
        "you must provide a model parameter: add the field \"model\" with the name of a model or route",
        "model", "missing_required_parameter"));
  }
  if (field.part->value.empty() || !wire::is_safe_field_value(field.part->value)) {
    return fail(invalid_form("'model' must be one line of text with the name of a model or route", "model",
                             "invalid_value"));
  }
  request.facts.model = field.part->value;
  request.form = {field.part->value, field.part->begin, field.part->end};
  return {};
}

// Servers differ in what else they take for true.
Result<bool> read_stream_field(const OwnedField& field) {
  if (field.part == nullptr || wire::iequals(field.part->value, "false")) return false;
  if (wire::iequals(field.part->value, "true")) return true;
  return fail(invalid_form("'stream' must be true or false", "stream", "invalid_type"));
}

}  // namespace

Result<FormRequest> inspect_form(model::Endpoint endpoint, std::string_view content_type,
                                 std::string_view body) {
  const auto boundary = wire::form_boundary(content_type);
  if (!boundary) {
    return fail(
        invalid_form("the content-type names no boundary that a form can have; send "
                     "content-type: multipart/form-data; boundary=..."));
  }
  const auto parts = wire::read_form(body, *boundary);
  if (!parts) {
    return fail(invalid_form("the form cannot be read: " + std::string(parts.error().reason) + " at byte " +
                             std::to_string(parts.error().offset)));
  }
  OwnedField model_field{"model"};
  OwnedField stream_field{"stream"};
  for (const wire::FormPart& part : *parts) {
    for (OwnedField* field : {&model_field, &stream_field}) {
      if (wire::iequals(part.name, field->name)) QQ_CHECK(field->take(part));
    }
  }
  FormRequest request;
  QQ_CHECK(read_model_field(model_field, request));
  if (endpoint != model::Endpoint::AudioTranslations) {  // which have no streams
    QQ_TRY(request.facts.stream, read_stream_field(stream_field));
  }
  return request;
}

void encode_form_for_target(const FormFacts& form, std::string_view body, const model::Target& target,
                            TargetBody& out) {
  const auto value_begin = static_cast<std::size_t>(form.model.data() - body.data());
  if (!target.quirks.sends_model_in_body) {
    out.few = {body.substr(0, form.model_begin), body.substr(form.model_end), {}};
  } else if (target.upstream_model.empty()) {
    out.few = {body, {}, {}};
  } else {
    out.few = {body.substr(0, value_begin), target.upstream_model,
               body.substr(value_begin + form.model.size())};
  }
  out.pieces = out.few;
  out.bytes = 0;
  for (const std::string_view piece : out.pieces) out.bytes += piece.size();
}

}  // namespace qq::dialects::openai
