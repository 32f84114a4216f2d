#include "dialects/openai/shared_members.h"

#include <algorithm>

#include "wire/json.h"

namespace qq::dialects::openai {
namespace {

constexpr std::string_view kSafety = "safety_identifier";
constexpr std::string_view kVerbosity = "verbosity";
constexpr std::string_view kTextVerbosity = "text.verbosity";

const model::ExtraField* extra_named(const model::ChatRequest& request, std::string_view key) noexcept {
  const auto found = std::ranges::find(request.extra, key, &model::ExtraField::key);
  return found == request.extra.end() ? nullptr : &*found;
}

}  // namespace

void take_user(model::ChatRequest& request) {
  const model::ExtraField* const safety = extra_named(request, kSafety);
  if (safety == nullptr || !request.user.empty()) return;
  request.user = wire::JsonValue(safety->value).string();
}

bool is_user_said_by_safety(const model::ChatRequest& request) noexcept {
  const bool openai =
      request.dialect == model::Dialect::OpenAiChat || request.dialect == model::Dialect::OpenAiResponses;
  const model::ExtraField* const safety = openai ? extra_named(request, kSafety) : nullptr;
  return safety != nullptr && wire::JsonValue(safety->value).string() == request.user;
}

std::string_view shared_member(const model::ChatRequest& request, std::string_view chat_name) noexcept {
  const bool responses = request.dialect == model::Dialect::OpenAiResponses;
  if (!responses && request.dialect != model::Dialect::OpenAiChat) return {};
  const bool nested = responses && chat_name == kVerbosity;
  const model::ExtraField* const found = extra_named(request, nested ? kTextVerbosity : chat_name);
  return found == nullptr || found->value == "null" ? std::string_view() : std::string_view(found->value);
}

void forget_shared(Losses& losses) {
  std::erase_if(losses, [](const Loss& loss) {
    return loss.field == kVerbosity || loss.field == kTextVerbosity ||
           std::ranges::find(kSharedAtTop, loss.field) != std::end(kSharedAtTop);
  });
}

}  // namespace qq::dialects::openai
