#include "dialects/openai_responses/call_ids.h"

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
    if (call.kind == model::ToolCallPart::Kind::Custom) custom_.insert(call.id);
    return mapped(call.id);
  }
  calls_.add({}, call.name);
  return given_.emplace_back(next_id(call.name));
}

std::string CallIds::of_result(const model::ToolResultPart& result) {
  if (!result.call_id.empty()) return mapped(result.call_id);
  auto open = calls_.open_named(result.name);
  if (!open) open = calls_.open_named({});
  if (!open) return next_id(result.name);
  calls_.close(*open);
  return given_[*open];
}

bool CallIds::is_custom(std::string_view call_id) const noexcept {
  return custom_.contains(call_id);
}

}  // namespace qq::dialects::openai_responses
