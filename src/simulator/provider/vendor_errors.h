// Error bodies as the providers spell them (spec of each: its own error documentation; the shapes were
// checked against recorded answers).
#pragma once
#include <string>

#include "simulator/provider/reply.h"

namespace qq::simulator {

struct VendorError {
  int status = 500;
  std::string vendor{};  // "openai" (also when empty), "azure", "anthropic", "gemini", "ollama_native", …
  std::string type{};    // empty: what OpenAI says for that status
  std::string code{};    // empty: what the vendor says for that status; "null" never
  std::string param{};
  std::string message{};      // empty: a sentence for that status
  std::string retry_after{};  // seconds; for those who say it in the body (Google)
};

// The JSON object of the body.
std::string error_body(const VendorError& error);
Reply error_reply(const VendorError& error);
// What a stream carries in place of content, in the text of its form; `first`: nothing came before.
std::string error_event(const VendorError& error, StreamForm form = StreamForm::Events, bool first = false);

// What the vendor says, and with which status, of "insufficient_quota", "context_length_exceeded" and
// "content_filter", where it is not what OpenAI says.
void say_as_vendor(VendorError& error);

}  // namespace qq::simulator
