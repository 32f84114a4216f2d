// The things a request can say, one by one, and what each target's dialect makes of them: the table that both
// encoders and docs/providers.md go by. Nothing is left out silently: a field that a request uses is encoded,
// or reported as a loss, or refused before anything is sent.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dialects/dialect.h"
#include "dialects/losses.h"
#include "model/chat_request.h"

namespace qq::dialects {

enum class Field : std::uint8_t {
  MaxOutputTokens,
  Temperature,
  TopP,
  TopK,
  PresencePenalty,
  FrequencyPenalty,
  Seed,
  Stop,
  Choices,   // more than one
  Logprobs,  // and how many
  LogitBias,
  Tools,
  StrictTools,
  CustomTools,
  HostedTools,
  ToolChoice,
  ToolSubset,         // a choice of several tools, not of all and not of one
  ParallelToolCalls,  // switched off
  JsonObject,
  JsonSchema,
  Reasoning,         // effort or budget
  ReasoningShow,     // thoughts or their summary in the answer
  ReasoningSummary,  // which kind of it
  ImageInput,
  AudioInput,
  VideoInput,
  FileInput,
  OutputModalities,  // other than text
  LateSystem,        // a system or developer turn behind another turn
  ParticipantName,
  Citations,  // in the history
  User,
  Metadata,
  ServiceTier,
  CacheKey,
  CachedContent,
  CacheMarks,
  Store,  // asked for
  PreviousResponse,
  Conversation,
  ForeignParts,  // OpaqueParts of another dialect
  ForeignState,  // states of another maker
  Extra,         // members that only the caller's dialect has
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::Extra) + 1;

std::string_view to_string(Field field) noexcept;  // "max_output_tokens", for docs
// The caller's name for it: "n" for OpenAI, "generationConfig.candidateCount" for Gemini.
std::string_view name_of(Field field, model::Dialect dialect) noexcept;

// Which fields `request` uses.
class UsedFields {
 public:
  explicit UsedFields(const model::ChatRequest& request) noexcept;
  [[nodiscard]] bool has(Field field) const noexcept { return used_[static_cast<std::size_t>(field)]; }

 private:
  void use(Field field, bool really = true) noexcept { used_[static_cast<std::size_t>(field)] |= really; }
  void look_at(const model::Part& part, const model::ChatRequest& request) noexcept;
  std::array<bool, kFieldCount> used_{};
};

// What a target's dialect makes of a field.
struct Support {
  enum class Verdict : std::uint8_t {
    Whole,    // encoded as it is meant
    Lossy,    // encoded in part or left out: reported, `why` says which
    Refused,  // the request is not sent
  };
  Verdict verdict = Verdict::Whole;
  std::string_view why;  // of dialects/losses.h; empty for Whole
};

// One dialect's table. What it does not name is Whole.
struct SupportEntry {
  Field field;
  Support support;
};
using SupportTable = std::span<const SupportEntry>;
Support support_of(SupportTable table, Field field) noexcept;

// Goes through the fields that `request` uses: what is Lossy is added to `losses`, what is Refused is the
// error, naming the caller's field. ForeignParts, ForeignState and Extra are found by comparing with
// `target_dialect`.
Result<> check_support(const model::ChatRequest& request, model::Dialect target_dialect, SupportTable table,
                       Losses& losses);

// Encoders say "messages[].content" of a conversation whoever sent it; OpenAI responses call it "input",
// Gemini "contents[].parts".
void use_callers_words(model::Dialect caller, Losses& losses);

}  // namespace qq::dialects
