// Ids of calls as this dialect's providers take them: there must be one, of at most 64 characters (OpenAI:
// "string too long"). An id that fits stays; a longer one is mapped by a function of itself, so that call and
// result still meet. Calls of callers without ids get one, and their results find it by name and order.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/call_index.h"
#include "model/part.h"

namespace qq::dialects::openai_responses {

class CallIds {
 public:
  std::string of_call(const model::ToolCallPart& call);
  std::string of_result(const model::ToolResultPart& result);
  // A result of a custom tool's call, as far as its call was seen.
  [[nodiscard]] bool is_custom(std::string_view call_id) const noexcept;

 private:
  std::string next_id(std::string_view name);

  CallIndex calls_;                            // without ids
  std::vector<std::string> given_;             // to each of them
  std::set<std::string, std::less<>> custom_;  // ids of custom calls
  std::size_t made_ = 0;
};

}  // namespace qq::dialects::openai_responses
