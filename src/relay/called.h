// What a request's first line asks for.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/openai/form_request.h"
#include "model/endpoint.h"
#include "wire/http_head.h"

namespace qq::relay {

// What clients say outside a JSON body: those of Anthropic's and Gemini's dialects, and those that send
// forms.
struct NativeHead {
  std::string path_model;              // Gemini: from the URL
  bool path_stream = false;            // Gemini: streamGenerateContent
  bool array_stream = false;           // Gemini: without alt=sse, so as one JSON array
  std::string beta;                    // Anthropic: the header anthropic-beta
  std::string version;                 // Anthropic: the header anthropic-version
  std::string form_type;               // the content type of a form, empty for other bodies
  dialects::openai::FormFacts form{};  // what is known of it, as soon as the body was read
};

struct Called {
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  std::string_view path;  // static text, for logs
  std::unique_ptr<NativeHead> native;
};

// Nothing for paths that are no endpoint. Gemini's are also found under /v1, as its SDKs may be told to ask.
std::optional<Called> endpoint_called(const wire::RequestHead& head);
bool is_endpoint(std::string_view path);

// In which dialect errors about a path are told, whether there is such an endpoint or not.
model::Dialect dialect_of_path(std::string_view path) noexcept;

}  // namespace qq::relay
