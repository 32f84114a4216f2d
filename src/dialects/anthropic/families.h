// What families of models take, by their names at the provider
// ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4-1@20250805"). Source:
// platform.claude.com/docs, "Models overview", "Extended thinking", "Adaptive thinking", "Structured
// outputs", as of November 2026. A name that is not known is taken for a newer one than all that are; a model
// that is no Claude, for one that takes what all of Anthropic's imitators take.
#pragma once
#include <cstdint>
#include <string_view>

#include "model/usage.h"

namespace qq::dialects::anthropic {

enum class ThinkingForm : std::uint8_t {
  None,
  Budget,    // {type: enabled, budget_tokens}
  Either,    // that, or {type: adaptive} with output_config.effort
  Adaptive,  // the latter only
  Always,    // the latter or nothing, which is the same: it cannot be disabled
};

struct Family {
  std::string_view mark;  // in the name
  // What a request without a limit gets: "no limit" means the most there is, and a smaller figure would cut
  // answers that the caller did not ask to be cut. A larger one is refused.
  model::TokenCount most_output = 0;
  ThinkingForm thinking = ThinkingForm::None;
  bool takes_schemas = false;        // output_config.format, and with it strict tools
  bool takes_sampling = true;        // temperature, top_p, top_k
  bool takes_both_samplings = true;  // temperature beside top_p
  bool takes_prefill = true;         // a last turn of the assistant's, which it goes on with
  bool takes_forced = true;          // a tool choice of "any" or "tool"
};
const Family& family_of(std::string_view upstream_model) noexcept;

}  // namespace qq::dialects::anthropic
