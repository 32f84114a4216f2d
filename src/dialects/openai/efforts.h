// How much a model of OpenAI's can be told to think: each takes its own set of words, and answers 400 to the
// others. By names, as of November 2026, from developers.openai.com/api/docs (guides/reasoning and the pages
// of the models) and what users measured:
//
//   o1, o3, o4, gpt-oss, gpt-5-codex, gpt-5.1-codex      low  medium  high
//   gpt-5                                       minimal  low  medium  high
//   gpt-5-pro                                                         high
//   gpt-5.1                                     none     low  medium  high
//   gpt-5.1-codex-max, later ones for code               low  medium  high  xhigh
//   later -pro                                                medium  high  xhigh
//   gpt-5.2 to 5.5                              none     low  medium  high  xhigh
//   gpt-5.6 and later                           none     low  medium  high  xhigh  max
//   -chat-latest                                              medium
//   any other name                              none     low  medium  high
#pragma once
#include <string_view>

#include "dialects/reasoning.h"
#include "model/target.h"

namespace qq::dialects::openai {

// The nearest to `wish` that the target's model takes, by the provider's name of it or else by ours.
Effort nearest_effort(Effort wish, const model::Target& target) noexcept;

}  // namespace qq::dialects::openai
