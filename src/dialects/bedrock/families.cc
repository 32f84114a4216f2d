#include "dialects/bedrock/families.h"

#include <algorithm>
#include <array>

namespace qq::dialects::bedrock {
namespace {

constexpr std::array<std::string_view, 8> kTakeSchemas{"qwen3",    "gpt-oss", "deepseek.v3", "gemma",
                                                       "nemotron", "minimax", "moonshot",    "kimi"};

}  // namespace

Family family_of(const model::Target& target) noexcept {
  const auto is = [&](std::string_view mark) {
    return target.upstream_model.find(mark) != std::string::npos ||
           target.model.find(mark) != std::string::npos;
  };
  Family out;
  if (is("claude")) {
    const bool said = target.upstream_model.find("claude") != std::string::npos;
    out.claude = &anthropic::family_of(said ? target.upstream_model : target.model);
    out.thinking = ThinkingWords::Claude;
    out.caches = out.caches_tools = true;
    out.takes_schemas = out.claude->takes_schemas;
    // "tools.0.custom.strict: Extra inputs are not permitted" (seen by users of LiteLLM with Opus 4.7, 4.8
    // and Sonnet 5, though they take schemas for the answer): the families that take no sampling either.
    out.takes_strict = out.takes_schemas && out.claude->takes_sampling;
    return out;
  }
  out.nova = is("nova-");
  out.caches = out.nova;
  if (is("nova-2")) out.thinking = ThinkingWords::Nova;
  if (is("gpt-oss")) out.thinking = ThinkingWords::OpenAi;
  if (is("qwen3")) out.thinking = ThinkingWords::Qwen;
  out.takes_schemas = out.takes_strict = std::ranges::any_of(kTakeSchemas, is);
  return out;
}

}  // namespace qq::dialects::bedrock
