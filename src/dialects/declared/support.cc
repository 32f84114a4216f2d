#include "dialects/declared/support.h"

namespace qq::dialects::declared {
namespace {

using model::Placeholder;
using Verdict = Support::Verdict;

constexpr Support kLossy{Verdict::Lossy, loss::kNoSuchField};
constexpr Support kRefused{Verdict::Refused, loss::kNoSuchField};

// What no description can say, whatever it is.
constexpr std::array kNever = {
    SupportEntry{Field::Choices, kRefused},
    SupportEntry{Field::Logprobs, kRefused},
    SupportEntry{Field::LogitBias, kRefused},
    SupportEntry{Field::StrictTools, kLossy},
    SupportEntry{Field::CustomTools, {Verdict::Refused, loss::kForeignTool}},
    SupportEntry{Field::HostedTools, {Verdict::Refused, loss::kForeignTool}},
    SupportEntry{Field::JsonObject, kRefused},
    SupportEntry{Field::ReasoningShow, kLossy},
    SupportEntry{Field::ReasoningSummary, kLossy},
    SupportEntry{Field::AudioInput, kRefused},
    SupportEntry{Field::VideoInput, kRefused},
    SupportEntry{Field::OutputModalities, kRefused},
    SupportEntry{Field::Citations, kLossy},
    SupportEntry{Field::ServiceTier, kLossy},
    SupportEntry{Field::CacheKey, kLossy},
    SupportEntry{Field::CachedContent, kRefused},
    SupportEntry{Field::CacheMarks, kLossy},
    SupportEntry{Field::Store, kLossy},
    SupportEntry{Field::PreviousResponse, kRefused},
    SupportEntry{Field::Conversation, kRefused},
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::Extra, kLossy},
};

// What the body's template may have a place for, and what holds if it has none.
struct InBody {
  Placeholder placeholder;
  SupportEntry without;
};
constexpr std::array kInBody = {
    InBody{Placeholder::MaxOutputTokens, {Field::MaxOutputTokens, kLossy}},
    InBody{Placeholder::Temperature, {Field::Temperature, kLossy}},
    InBody{Placeholder::TopP, {Field::TopP, kLossy}},
    InBody{Placeholder::TopK, {Field::TopK, kLossy}},
    InBody{Placeholder::PresencePenalty, {Field::PresencePenalty, kLossy}},
    InBody{Placeholder::FrequencyPenalty, {Field::FrequencyPenalty, kLossy}},
    InBody{Placeholder::Seed, {Field::Seed, kLossy}},
    InBody{Placeholder::Stop, {Field::Stop, kRefused}},
    InBody{Placeholder::Tools, {Field::Tools, kRefused}},
    InBody{Placeholder::ParallelToolCalls, {Field::ParallelToolCalls, kLossy}},
    InBody{Placeholder::JsonSchema, {Field::JsonSchema, kRefused}},
    InBody{Placeholder::Metadata, {Field::Metadata, kLossy}},
};

}  // namespace

std::vector<SupportEntry> support_of(const model::DeclaredAdapter& adapter) {
  const model::DeclaredRequest& request = adapter.request;
  std::vector<SupportEntry> table(kNever.begin(), kNever.end());
  for (const InBody& field : kInBody) {
    if (!model::uses(request.body, field.placeholder)) table.push_back(field.without);
  }
  if (!model::uses(request.body, Placeholder::ReasoningEffort) &&
      !model::uses(request.body, Placeholder::ReasoningBudget))
    table.push_back({Field::Reasoning, kLossy});
  bool says_user = model::uses(request.body, Placeholder::User);
  for (const model::DeclaredHeader& header : adapter.headers)
    says_user = says_user || model::uses(header.value, Placeholder::User);
  if (!says_user) table.push_back({Field::User, kLossy});
  if (request.image.empty()) table.push_back({Field::ImageInput, kRefused});
  if (!model::uses(request.message, Placeholder::Name)) table.push_back({Field::ParticipantName, kLossy});
  if (request.system_role.empty()) table.push_back({Field::LateSystem, {Verdict::Lossy, loss::kNearest}});
  return table;
}

std::string_view system_name(model::Dialect caller) noexcept {
  switch (caller) {
    case model::Dialect::Anthropic: return "system";
    case model::Dialect::Gemini: return "systemInstruction";
    case model::Dialect::OpenAiResponses: return "instructions";
    default: return "messages";
  }
}

}  // namespace qq::dialects::declared
