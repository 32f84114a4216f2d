#include "dialects/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/openai/shared_members.h"

namespace qq::dialects {
namespace {

using model::Dialect;

// By caller's dialect: OpenAI chat, OpenAI responses, Anthropic, Gemini. An empty name is "it cannot say so".
struct Names {
  Field field;
  std::string_view word;
  std::array<std::string_view, 4> of_dialect;
};
constexpr std::array<Names, kFieldCount> kNames{{
    {Field::MaxOutputTokens,
     "max_output_tokens",
     {"max_completion_tokens", "max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens"}},
    {Field::Temperature,
     "temperature",
     {"temperature", "temperature", "temperature", "generationConfig.temperature"}},
    {Field::TopP, "top_p", {"top_p", "top_p", "top_p", "generationConfig.topP"}},
    {Field::TopK, "top_k", {"top_k", "top_k", "top_k", "generationConfig.topK"}},
    {Field::PresencePenalty,
     "presence_penalty",
     {"presence_penalty", "presence_penalty", "", "generationConfig.presencePenalty"}},
    {Field::FrequencyPenalty,
     "frequency_penalty",
     {"frequency_penalty", "frequency_penalty", "", "generationConfig.frequencyPenalty"}},
    {Field::Seed, "seed", {"seed", "seed", "", "generationConfig.seed"}},
    {Field::Stop, "stop", {"stop", "stop", "stop_sequences", "generationConfig.stopSequences"}},
    {Field::Choices, "choices", {"n", "n", "", "generationConfig.candidateCount"}},
    {Field::Logprobs, "logprobs", {"logprobs", "top_logprobs", "", "generationConfig.responseLogprobs"}},
    {Field::LogitBias, "logit_bias", {"logit_bias", "", "", ""}},
    {Field::Tools, "tools", {"tools", "tools", "tools", "tools"}},
    {Field::StrictTools, "strict_tools", {"tools[].function.strict", "tools[].strict", "tools[].strict", ""}},
    {Field::CustomTools, "custom_tools", {"tools", "tools", "", ""}},
    {Field::HostedTools, "hosted_tools", {"tools", "tools", "tools", "tools"}},
    {Field::ToolChoice, "tool_choice", {"tool_choice", "tool_choice", "tool_choice", "toolConfig"}},
    {Field::ToolSubset,
     "tool_subset",
     {"tool_choice.allowed_tools", "tool_choice.tools", "",
      "toolConfig.functionCallingConfig.allowedFunctionNames"}},
    {Field::ParallelToolCalls,
     "parallel_tool_calls",
     {"parallel_tool_calls", "parallel_tool_calls", "tool_choice.disable_parallel_tool_use", ""}},
    {Field::JsonObject,
     "json_object",
     {"response_format", "text.format", "", "generationConfig.responseMimeType"}},
    {Field::JsonSchema,
     "json_schema",
     {"response_format", "text.format", "output_config.format", "generationConfig.responseSchema"}},
    {Field::Reasoning,
     "reasoning",
     {"reasoning_effort", "reasoning.effort", "thinking", "generationConfig.thinkingConfig"}},
    {Field::ReasoningShow,
     "reasoning_show",
     {"include_reasoning", "reasoning.summary", "thinking.display",
      "generationConfig.thinkingConfig.includeThoughts"}},
    {Field::ReasoningSummary, "reasoning_summary", {"", "reasoning.summary", "", ""}},
    {Field::ImageInput,
     "image_input",
     {"messages[].content", "input[].content", "messages[].content", "contents[].parts"}},
    {Field::AudioInput, "audio_input", {"messages[].content", "input[].content", "", "contents[].parts"}},
    {Field::VideoInput, "video_input", {"messages[].content", "", "", "contents[].parts"}},
    {Field::FileInput,
     "file_input",
     {"messages[].content", "input[].content", "messages[].content", "contents[].parts"}},
    {Field::OutputModalities,
     "output_modalities",
     {"modalities", "", "", "generationConfig.responseModalities"}},
    {Field::LateSystem, "late_system", {"messages", "input", "messages", ""}},
    {Field::ParticipantName, "participant_name", {"messages[].name", "", "", ""}},
    {Field::Citations,
     "citations",
     {"messages[].annotations", "input[].annotations", "messages[].content[].citations", ""}},
    {Field::User, "user", {"user", "user", "metadata.user_id", "labels"}},
    {Field::Metadata, "metadata", {"metadata", "metadata", "", "labels"}},
    {Field::ServiceTier, "service_tier", {"service_tier", "service_tier", "service_tier", "serviceTier"}},
    {Field::CacheKey, "cache_key", {"prompt_cache_key", "prompt_cache_key", "", ""}},
    {Field::CachedContent, "cached_content", {"", "", "", "cachedContent"}},
    {Field::CacheMarks, "cache_marks", {"cache_control", "prompt_cache_breakpoint", "cache_control", ""}},
    {Field::Store, "store", {"store", "store", "", ""}},
    {Field::PreviousResponse, "previous_response", {"", "previous_response_id", "", ""}},
    {Field::Conversation, "conversation", {"", "conversation", "", ""}},
    {Field::ForeignParts, "foreign_parts", {"messages", "input", "messages", "contents"}},
    {Field::ForeignState, "foreign_state", {"messages", "input", "messages", "contents"}},
    {Field::Extra, "extra", {"", "", "", ""}},
}};
static_assert([] {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (std::to_underlying(kNames[i].field) != i) return false;
  }
  return true;
}());

}  // namespace

std::string_view to_string(Field field) noexcept {
  return kNames[std::to_underlying(field)].word;
}

std::string_view name_of(Field field, Dialect dialect) noexcept {
  const auto column = static_cast<std::size_t>(dialect);
  const Names& names = kNames[std::to_underlying(field)];
  const std::string_view name = column < names.of_dialect.size() ? names.of_dialect[column] : names.word;
  return name.empty() ? names.word : name;
}

UsedFields::UsedFields(const model::ChatRequest& request) noexcept {
  const model::Sampling& sampling = request.sampling;
  use(Field::MaxOutputTokens, sampling.max_output_tokens.has_value());
  use(Field::Temperature, sampling.temperature.has_value());
  use(Field::TopP, sampling.top_p.has_value());
  use(Field::TopK, sampling.top_k.has_value());
  use(Field::PresencePenalty, sampling.presence_penalty.value_or(0) != 0);
  use(Field::FrequencyPenalty, sampling.frequency_penalty.value_or(0) != 0);
  use(Field::Seed, sampling.seed.has_value());
  use(Field::Stop, !sampling.stop.empty());
  use(Field::Choices, sampling.choices.value_or(1) != 1);
  use(Field::Logprobs, sampling.logprobs.value_or(false) || sampling.top_logprobs.value_or(0) != 0);
  use(Field::LogitBias, !sampling.logit_bias.empty() && sampling.logit_bias != "{}");
  for (const model::Tool& tool : request.tools) {
    use(Field::Tools, tool.kind == model::Tool::Kind::Function);
    use(Field::StrictTools, tool.strict.value_or(false));
    use(Field::CustomTools, tool.kind == model::Tool::Kind::Custom);
    use(Field::HostedTools, tool.kind == model::Tool::Kind::Hosted);
    use(Field::CacheMarks, tool.cache.has_value());
    use(Field::Extra, !tool.extra.empty());
  }
  if (request.tool_choice) {
    use(Field::ToolChoice);
    use(Field::ToolSubset, request.tool_choice->only.size() > 1);
  }
  use(Field::ParallelToolCalls, request.parallel_tool_calls == false);
  if (request.output) {
    use(Field::JsonObject, request.output->kind == model::OutputFormat::Kind::JsonObject);
    use(Field::JsonSchema, request.output->kind == model::OutputFormat::Kind::JsonSchema);
  }
  if (request.reasoning) {
    use(Field::Reasoning,
        request.reasoning->effort.has_value() || request.reasoning->budget_tokens.has_value());
    use(Field::ReasoningShow, request.reasoning->show.has_value());
    use(Field::ReasoningSummary, !request.reasoning->summary.empty());
  }
  for (const std::string& modality : request.modalities) {
    use(Field::OutputModalities, modality != "text" && modality != "TEXT");
  }
  bool spoken = false;
  for (const model::Turn& turn : request.turns) {
    const bool is_system = turn.role == model::Role::System || turn.role == model::Role::Developer;
    use(Field::LateSystem, is_system && spoken);
    spoken |= !is_system;
    use(Field::ParticipantName, !turn.name.empty());
    use(Field::Extra, !turn.extra.empty());
    for (const model::Part& part : turn.parts) look_at(part, request);
  }
  use(Field::User, !request.user.empty());
  use(Field::Metadata, !request.metadata.empty() && request.metadata != "{}");
  use(Field::ServiceTier, !request.service_tier.empty() && request.service_tier != "auto");
  use(Field::CacheKey, !request.cache_key.empty());
  use(Field::CachedContent, !request.cached_content.empty());
  use(Field::CacheMarks, request.cache.has_value());
  use(Field::Store, request.store.value_or(false));
  use(Field::PreviousResponse, !request.previous_response_id.empty());
  use(Field::Conversation, !request.conversation.empty());
  use(Field::Extra, !request.extra.empty());
}

void UsedFields::look_at(const model::Part& part, const model::ChatRequest& request) noexcept {
  use(Field::CacheMarks, part.cache.has_value());
  use(Field::Extra, !part.extra.empty());
  use(Field::ForeignState, !part.state.empty());
  use(Field::ForeignParts, part.as<model::OpaquePart>() != nullptr);
  if (const auto* text = part.as<model::TextPart>()) use(Field::Citations, !text->citations.empty());
  if (const auto* media = part.as<model::MediaPart>()) {
    using Kind = model::MediaPart::Kind;
    use(Field::ImageInput, media->kind == Kind::Image);
    use(Field::AudioInput, media->kind == Kind::Audio);
    use(Field::VideoInput, media->kind == Kind::Video);
    use(Field::FileInput, media->kind == Kind::File);
  }
  if (const auto* result = part.as<model::ToolResultPart>()) {
    for (const model::Part& inner : result->content) look_at(inner, request);
  }
}

Support support_of(SupportTable table, Field field) noexcept {
  const auto found = std::ranges::find(table, field, &SupportEntry::field);
  return found == table.end() ? Support{} : found->support;
}

namespace {

// Of parts, and of the parts of tools' results among them.
bool any_part(const std::vector<model::Part>& parts, const auto& asks) {
  return std::ranges::any_of(parts, [&](const model::Part& part) {
    const auto* result = part.as<model::ToolResultPart>();
    return asks(part) || (result != nullptr && any_part(result->content, asks));
  });
}

bool has_foreign_state(const std::vector<model::Part>& parts, Dialect target) {
  return any_part(parts,
                  [&](const model::Part& part) { return !part.state.empty() && part.state.maker != target; });
}

bool has_foreign_part(const std::vector<model::Part>& parts, Dialect target) {
  return any_part(parts, [&](const model::Part& part) {
    const auto* opaque = part.as<model::OpaquePart>();
    return opaque != nullptr && opaque->dialect != target;
  });
}

// Whether the request really uses a field that only means something against the target's dialect.
bool concerns(const model::ChatRequest& request, Dialect target, Field field) {
  const auto any_turn = [&](const auto& asks) {
    return std::ranges::any_of(request.turns,
                               [&](const model::Turn& turn) { return asks(turn.parts, target); });
  };
  switch (field) {
    case Field::ForeignState: return any_turn(has_foreign_state);
    case Field::ForeignParts: return any_turn(has_foreign_part);
    case Field::Extra: return request.dialect != target;
    case Field::HostedTools:
      return std::ranges::any_of(request.tools, [&](const model::Tool& tool) {
        return tool.kind == model::Tool::Kind::Hosted && tool.hosted_by != target;
      });
    default: return true;
  }
}

void report_extra_of(const std::vector<model::Part>& parts, const std::string& place, std::string_view why,
                     Losses& losses) {
  for (const model::Part& part : parts) {
    for (const model::ExtraField& extra : part.extra) losses.push_back({place + extra.key, why});
    if (const auto* result = part.as<model::ToolResultPart>())
      report_extra_of(result->content, place + "content[].", why, losses);
  }
}

// Each member that only the caller's dialect has is a loss of its own.
void report_extra(const model::ChatRequest& request, std::string_view why, Losses& losses) {
  for (const model::ExtraField& extra : request.extra) {
    // Who took its word for the user's name reports, or keeps, that.
    const bool is_user = extra.key == "safety_identifier" && openai::is_user_said_by_safety(request);
    if (!is_user) losses.push_back({extra.key, why});
  }
  for (const model::Turn& turn : request.turns) {
    // Which one it was the caller cannot tell by a turn's number: turns are not its messages.
    for (const model::ExtraField& extra : turn.extra) losses.push_back({"messages[]." + extra.key, why});
    report_extra_of(turn.parts, "messages[].content[].", why, losses);
  }
  for (const model::Tool& tool : request.tools) {
    for (const model::ExtraField& extra : tool.extra) losses.push_back({"tools[]." + extra.key, why});
  }
}

// What an OpenAI responses client keeps at its provider, and says by its name alone: without it another model
// would be asked something else. Nor has anybody else answers that are fetched later.
std::string_view kept_elsewhere(const model::ChatRequest& request) noexcept {
  for (const model::ExtraField& extra : request.extra) {
    if (extra.key == "prompt" && extra.value != "null") return "prompt";
    if (extra.key == "background" && extra.value == "true") return "background";
  }
  const bool refers = std::ranges::any_of(request.turns, [](const model::Turn& turn) {
    return any_part(turn.parts, [](const model::Part& part) {
      const auto* opaque = part.as<model::OpaquePart>();
      return opaque != nullptr && opaque->type == "item_reference";
    });
  });
  return refers ? "input" : "";
}

std::unexpected<Error> field_refused(std::string_view name, std::string_view why) {
  Error error = Error::client(
      ErrorKind::InvalidRequest,
      fmt::format("'{}' is not possible with this model: {}; leave it out or ask another model", name, why),
      std::string(name));
  error.code = "unsupported_parameter";
  return fail(std::move(error));
}

}  // namespace

void use_callers_words(Dialect caller, Losses& losses) {
  constexpr std::string_view kMessages = "messages";
  constexpr std::string_view kContent = "[].content";
  const std::string_view conversation = name_of(Field::ForeignParts, caller);
  for (Loss& loss : losses) {
    if (!loss.field.starts_with(kMessages)) continue;
    loss.field.replace(0, kMessages.size(), conversation);
    if (caller == Dialect::Gemini && loss.field.compare(conversation.size(), kContent.size(), kContent) == 0)
      loss.field.replace(conversation.size(), kContent.size(), "[].parts");
  }
}

Result<> check_support(const model::ChatRequest& request, Dialect target_dialect, SupportTable table,
                       Losses& losses) {
  if (request.dialect == Dialect::OpenAiResponses && target_dialect != Dialect::OpenAiResponses) {
    const std::string_view kept = kept_elsewhere(request);
    if (!kept.empty())
      return field_refused(kept, kept == "background" ? loss::kNoSuchField : loss::kForeignState);
  }
  const UsedFields used(request);
  for (const SupportEntry& entry : table) {
    if (!used.has(entry.field) || !concerns(request, target_dialect, entry.field)) continue;
    const std::string_view name = name_of(entry.field, request.dialect);
    switch (entry.support.verdict) {
      case Support::Verdict::Whole: break;
      case Support::Verdict::Lossy:
        if (entry.field == Field::Extra) {
          report_extra(request, entry.support.why, losses);
        } else {
          losses.push_back({std::string(name), entry.support.why});
        }
        break;
      case Support::Verdict::Refused: return field_refused(name, entry.support.why);
    }
  }
  return {};
}

}  // namespace qq::dialects
