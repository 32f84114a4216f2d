// Reads the templates of a declared adapter. A template is a JSON document in which a string "{{word}}"
// stands for a value:
//
//   "{{word}}"            the value as JSON; where there is none, the member or element is left out, and so
//                         is an object or array of which nothing is left
//   "{{word|0.7}}"        this JSON where there is none
//   "{{word!}}"           where there is none, the object around it is left out too
//   "model {{word}} v2"   its text among other text; as a whole left out where there is none
//
// Which words a template may hold depends on what it is for.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "model/declared_adapter.h"

namespace qq::providers {

enum class TemplateUse : std::uint8_t {
  Body,
  Message,
  TextPart,
  Image,
  Tool,
  ToolCall,
  ToolResult,
  Header,        // of every request
  UrlPath,       // behind base_url
  PollPath,      // the same, of an operation that is polled
  StringToSign,  // HMAC
  SignedHeader,  // the same, with the signature
};

// A value, or what is wrong with the text.
template <typename T>
using ReadTemplate = std::expected<T, std::string>;

ReadTemplate<model::JsonTemplate> read_json_template(std::string_view text, TemplateUse use);
ReadTemplate<model::TextTemplate> read_text_template(std::string_view text, TemplateUse use);

// The words of a template for `use`, in the order of the documentation.
std::vector<std::string_view> placeholder_words(TemplateUse use);

}  // namespace qq::providers
