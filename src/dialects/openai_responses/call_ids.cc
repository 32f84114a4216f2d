#include "dialects/openai_responses/call_ids.h"

#include <algorithm>

#include "dialects/openai_responses/members.h"

namespace qq::dialects::openai_responses {
namespace {

constexpr std::size_t kIdMax = 64;

std::string mapped(std::string_view id) {
  return id.size() <= kIdMax ? std::string(id) : made_id("call_", id, id.size());
}

}  // namespace

std::string CallIds::next_id(std::string_view name) {
  return made_id("call_", name, made_++);
}

std::string CallIds::of_call(const model::ToolCallPart& call) {
  if (!call.id.empty()) {
    if (call.kind == model::ToolCallPart::Kind::Custom) custom_.push_back(call.id);
    return mapped(call.id);
  }
  return waiting_.emplace_back(Waiting{call.name, next_id(call.name)}).id;
}

std::string CallIds::of_result(const model::ToolResultPart& result) {
  if (!result.call_id.empty()) return mapped(result.call_id);
  auto found = std::ranges::find(waiting_, result.name, &Waiting::name);
  if (found == waiting_.end()) found = waiting_.begin();
  if (found == waiting_.end()) return next_id(result.name);
  std::string id = std::move(found->id);
  waiting_.erase(found);
  return id;
}

bool CallIds::is_custom(std::string_view call_id) const noexcept {
  return std::ranges::find(custom_, call_id) != custom_.end();
}

}  // namespace qq::dialects::openai_responses
