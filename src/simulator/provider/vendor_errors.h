// Error bodies as the providers spell them (spec of each: its own error documentation; the shapes were
// checked against recorded answers).
#pragma once
#include <string>

#include "simulator/provider/reply.h"

namespace qq::simulator {

struct VendorError {
  int status = 500;
  std::string vendor{};  // "openai" (also when empty), "azure", "mistral", "xai", "zhipu", …
  std::string type{};    // empty: what OpenAI says for that status
  std::string code{};    // empty: what the vendor says for that status; "null" never
  std::string param{};
  std::string message{};  // empty: a sentence for that status
};

// The JSON object of the body.
std::string error_body(const VendorError& error);
Reply error_reply(const VendorError& error);
// The event that a stream carries in place of content; with its blank line.
std::string error_event(const VendorError& error);

}  // namespace qq::simulator
