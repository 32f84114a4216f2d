// A whole answer in no dialect's words: what all dialects decode to and encode from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finish.h"
#include "model/part.h"
#include "model/usage.h"

namespace qq::model {

struct Choice {
  std::uint32_t index = 0;
  std::vector<Part> parts;  // in the order they were made
  Finish finish = Finish::None;
  std::string finish_word;  // the provider's own, for logs and for its own dialect
  std::string stop_string;  // the one that came, where the provider says so
  Json logprobs;            // of the text, as OpenAI chat's array `logprobs.content`
};

struct ChatAnswer {
  Dialect dialect = Dialect::OpenAiChat;  // it was decoded from
  std::string id;
  std::string model;         // the provider's name for it
  std::int64_t created = 0;  // Unix time in seconds; 0: not said
  std::vector<Choice> choices;
  Usage usage;
  std::string service_tier;
  ExtraFields extra;
};

}  // namespace qq::model
