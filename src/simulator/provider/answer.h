// What the built-in model says, before any dialect spells it: text in pieces, reasoning, tool calls, a
// finish reason and a bill. Deterministic: the same prompt and script give the same answer.
//
//   tool results at the end       -> a sentence about them
//   tools, unless tool_choice none -> calls (two of them in parallel when two tools are known)
//   a JSON schema                 -> a valid instance of it
//   media                         -> what they are and how big
//   anything else                 -> an echo, in Chinese when the question is
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/provider/asked.h"
#include "simulator/provider/script.h"

namespace qq::simulator {

struct ToolCall {
  std::string id{};  // "call_…"
  std::string name{};
  std::string arguments{};
};

struct Answer {
  std::vector<std::string> reasoning{};
  std::vector<std::string> content{};
  std::string refusal{};
  std::vector<ToolCall> calls{};
  std::string finish = "stop";
  std::string stop_string{};  // the one that ended it
  bool null_content = false;
};

struct Usage {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;       // of the prompt
  std::int64_t cache_write = 0;  // of the prompt
  std::int64_t completion = 0;   // reasoning included
  std::int64_t reasoning = 0;
  [[nodiscard]] std::int64_t total() const noexcept { return prompt + completion; }
};

// One answer per choice; empty when the script wants no choices at all.
std::vector<Answer> answer(const Asked& asked, const Script& script);

// Tokens of the prompt by rule: a quarter of its bytes, rounded up, and three for the frame.
std::int64_t prompt_tokens(std::uint64_t prompt_bytes) noexcept;
// The bill of those answers, distorted as the script says (negative, absurd).
Usage bill(const Asked& asked, const std::vector<Answer>& answers, const Script& script);

// Whether this model wants its signatures back with its calls, as Gemini 3 does.
bool needs_signatures(std::string_view model, const Script& script) noexcept;

// "prefix" and `length` letters and digits that depend on `hash` only.
std::string stable_id(std::string_view prefix, std::uint64_t hash, std::size_t length = 24);

}  // namespace qq::simulator
