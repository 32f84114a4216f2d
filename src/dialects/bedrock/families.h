// What families of models take beyond what Converse has words for, by their ids
// ("us.amazon.nova-2-lite-v1:0", "openai.gpt-oss-120b-1:0"). An application inference profile's ARN says
// nothing: then our own name of the model counts.
#pragma once
#include <cstdint>
#include <string_view>

#include "dialects/anthropic/families.h"
#include "model/target.h"

namespace qq::dialects::bedrock {

// How a family is told how much to think, all in additionalModelRequestFields.
enum class ThinkingWords : std::uint8_t {
  None,
  Claude,  // thinking, output_config.effort
  Nova,    // reasoningConfig {type, maxReasoningEffort}
  OpenAi,  // reasoning_effort
  Qwen,    // reasoning_config: "low" or "high"
};

struct Family {
  ThinkingWords thinking = ThinkingWords::None;
  bool caches = false;         // cachePoint blocks in messages and system
  bool caches_tools = false;   // and among tools
  bool takes_schemas = false;  // outputConfig.textFormat
  bool takes_strict = false;   // toolSpec.strict: Converse refuses it for the newest models of Claude
  bool nova = false;           // topK has a place of its own
  const anthropic::Family* claude = nullptr;
};
Family family_of(const model::Target& target) noexcept;

}  // namespace qq::dialects::bedrock
