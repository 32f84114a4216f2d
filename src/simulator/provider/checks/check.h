// What the vendors refuse, in their words: a request that a translation got wrong is answered with the 400
// that the real provider would send. Only what was seen or documented is refused; what is not known passes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "simulator/provider/request_text.h"
#include "simulator/provider/script.h"
#include "simulator/provider/vendor_errors.h"

namespace qq::simulator {

using Refusal = std::optional<VendorError>;

// Credentials and headers. OpenAI's dialects need none here.
Refusal refuse_head(const RequestText& request);
// The body, which is checked JSON. `model` without directives.
Refusal refuse_body(const RequestText& request, std::string_view model, const Script& script);

// One dialect each.
Refusal refuse_messages(const RequestText& request);
Refusal refuse_generate_content(const RequestText& request, std::string_view model, const Script& script);
Refusal refuse_converse(const RequestText& request);
Refusal refuse_cohere(const RequestText& request);
Refusal refuse_ollama(const RequestText& request);
Refusal refuse_chat(const RequestText& request, const Script& script);
Refusal refuse_responses(const RequestText& request, std::string_view model, const Script& script);
// Of it, what an input says of what the provider keeps.
Refusal refuse_state(const RequestText& request, std::string_view model, const Script& script);

// What a CountTokens of Bedrock holds: the body of an InvokeModel, out of its base64; empty if there is none.
std::string counted_body(std::string_view body);

// A 400 of the vendor whose path it is.
inline VendorError refused(const RequestText& request, std::string message) {
  return {.status = 400, .vendor = request.path.vendor, .message = std::move(message)};
}

}  // namespace qq::simulator
