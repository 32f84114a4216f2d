// A request for a conversation's next turn, in no dialect's words: what all dialects decode to and encode
// from. Absent is not the default: an optional that holds nothing was not said, and is not said to the
// target.
//
// Built once per request that is translated; requests that pass through never see it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/part.h"

namespace qq::model {

enum class Role : std::uint8_t { System, Developer, User, Assistant };

struct Turn {
  Role role = Role::User;
  std::vector<Part> parts;  // tool results are parts of user turns, calls and reasoning of assistant turns
  std::string name;         // of a participant (OpenAI chat)
  ExtraFields extra;
};

struct Tool {
  enum class Kind : std::uint8_t {
    Function,
    Custom,  // input is free text, perhaps by a grammar (OpenAI)
    Hosted,  // the provider runs it itself: search, code execution
  };
  Kind kind = Kind::Function;
  std::string name;
  std::string description;
  Json schema;  // of the arguments, JSON Schema; Custom: its `format`; Hosted: the whole entry
  Dialect hosted_by = Dialect::OpenAiChat;  // Hosted only
  std::optional<bool> strict;
  std::optional<CacheMark> cache;
  ExtraFields extra;
};

struct ToolChoice {
  enum class Mode : std::uint8_t { Auto, None, Required };
  Mode mode = Mode::Auto;
  std::vector<std::string> only;  // the tools that may be called; empty: all. Required with one: that one
};

struct OutputFormat {
  enum class Kind : std::uint8_t { Text, JsonObject, JsonSchema };
  Kind kind = Kind::Text;
  std::string name;
  std::string description;
  Json schema;  // JSON Schema
  std::optional<bool> strict;
};

// How much to think. Dialects say it as an effort, a budget or a level; whoever has but one of them converts
// (dialects/reasoning.h).
struct ReasoningWish {
  enum class Effort : std::uint8_t { None, Minimal, Low, Medium, High, XHigh, Max };
  std::optional<Effort> effort;
  std::optional<std::int64_t> budget_tokens;  // 0: off; -1: as much as the model likes
  std::optional<bool> show;                   // thoughts or their summary in the answer
  std::string summary;                        // OpenAI responses' "auto", "concise", "detailed"
};

struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
  std::optional<double> presence_penalty;
  std::optional<double> frequency_penalty;
  std::optional<std::int64_t> seed;
  std::vector<std::string> stop;
  std::optional<std::int64_t> max_output_tokens;
  std::optional<std::int64_t> choices;  // n, candidateCount
  std::optional<bool> logprobs;
  std::optional<std::int64_t> top_logprobs;
  Json logit_bias;

  // Some dialects give a count alone, and others refuse one beside no flag.
  [[nodiscard]] bool wants_logprobs() const noexcept {
    return logprobs.value_or(false) || top_logprobs.value_or(0) > 0;
  }
};

struct ChatRequest {
  Dialect dialect = Dialect::OpenAiChat;  // it was decoded from
  std::string model;
  bool stream = false;
  bool usage_in_stream = false;  // the client wants usage in its stream (OpenAI chat must ask)
  std::vector<Turn> turns;       // system turns where they stood
  std::vector<Tool> tools;
  std::optional<ToolChoice> tool_choice;
  std::optional<bool> parallel_tool_calls;
  std::optional<OutputFormat> output;
  std::optional<ReasoningWish> reasoning;
  bool wants_reasoning_state = false;  // OpenAI responses must ask for its encrypted_content
  Sampling sampling;
  std::vector<std::string> modalities;  // "text", "audio", "image"; empty: not said
  Json audio_output;                    // {voice, format}
  std::string user;                     // an end user's opaque name
  Json metadata;                        // an object of strings
  std::string service_tier;             // "auto", "default", "flex", "priority", …
  std::string cache_key;                // OpenAI's prompt_cache_key
  std::string cached_content;           // Gemini's cachedContents/… name
  std::optional<CacheMark> cache;       // of the whole request (Anthropic's top level, OpenAI's options)
  std::optional<bool> store;
  std::string previous_response_id;  // OpenAI responses; resolved before encoding for another dialect
  std::string conversation;          // the same
  ExtraFields extra;                 // top-level members of `dialect` that have no place here
};

}  // namespace qq::model
