// Requests that are forms (multipart/form-data: transcriptions, translations, edits of images): what the
// gateway must know of them, and the one field it owns. Everything else passes through byte for byte, the
// boundary too.
//
// Pure; views point into the body that was given, which must outlive them.
#pragma once
#include "dialects/openai/request.h"

namespace qq::dialects::openai {

struct FormFacts {
  std::string_view model;       // the bytes of its field in the body
  std::size_t model_begin = 0;  // of its part, which may be taken out as a whole
  std::size_t model_end = 0;
};

struct FormRequest {
  RequestFacts facts;  // `model` and `stream`
  FormFacts form;
};

// Checks the whole form (wire/multipart.h). `model` and `stream` are text fields and given once; what else
// there is passes. Errors: InvalidRequest, with `param` where it is a field's.
Result<FormRequest> inspect_form(model::Endpoint endpoint, std::string_view content_type,
                                 std::string_view body);

// The form for one target: `model` replaced by the target's name, or its part left out when the provider
// takes the name from the URL.
void encode_form_for_target(const FormFacts& form, std::string_view body, const model::Target& target,
                            TargetBody& out);

}  // namespace qq::dialects::openai
