// Names of tools that a target's provider would refuse: too long, or with letters that it does not take. They
// are made to fit for the request, and put back in the answer, so that neither side knows.
//
//   OpenAI, Bedrock   64 letters, digits, '_' and '-'    ("string does not match pattern", "string too long")
//   Anthropic         128 of the same
//   Gemini            64 of the same, '.' and ':'; the first is a letter or '_'
//
// Source: the providers' own words when they refuse one (cline#7339, apify/tester-mcp-client#11,
// packit/ai-workflows#619), and Converse's ToolSpecification. Of the other dialects no rule is known. A
// caller of the target's own dialect keeps its names: it knows what its provider takes.
//
// A name that fits stays. Another has its strange letters replaced and, as two may become one, ends in eight
// digits of its hash: the same name is always made the same, so a conversation can move to and fro.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dialects/dialect.h"

namespace qq::dialects {

// What the tools of one request are called at a target, and here. Empty as a rule.
class ToolNames {
 public:
  // The request as `target`'s providers take it; nothing if it is that already.
  std::optional<model::ChatRequest> fit(const model::ChatRequest& request, model::Dialect target);

  [[nodiscard]] bool empty() const noexcept { return original_.empty(); }
  // The caller's name for what the target calls `name`.
  [[nodiscard]] std::string_view original(std::string_view name) const;
  void restore(model::ChatAnswer& answer) const;

 private:
  std::string fitting(std::string_view name, model::Dialect target);
  std::unordered_map<std::string, std::string> original_;  // by the fitting one
};

// `encoder` told of calls by their original names. `names` must outlive it.
std::unique_ptr<StreamEncoder> with_original_names(std::unique_ptr<StreamEncoder> encoder,
                                                   const ToolNames& names);

}  // namespace qq::dialects
