// What an answer says, whichever dialect it is told in, and how much of it a client can be told.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/chat_answer.h"

namespace qq::translation {

struct Meaning {
  struct Call {
    std::string id;  // without what it carries
    std::string name;
    std::string arguments;  // JSON with its members in order; any text as it is
    bool custom = false;
  };
  struct Choice {
    std::uint32_t index = 0;
    std::string text;
    std::string refusal;
    std::string reasoning;
    std::vector<Call> calls;
    model::Finish finish = model::Finish::None;
  };
  std::vector<Choice> choices;
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
};

Meaning meaning_of(const model::ChatAnswer& answer);

// What is left of it for a client of this dialect: the table of what answers lose. docs/providers.md, "What
// a translation loses", says the same in words.
Meaning as_heard(Meaning meaning, model::Dialect client);

// Nothing but what cannot be told: to some clients' SDKs that is no answer.
bool is_silent(const Meaning& meaning);

std::string describe(const Meaning& meaning);

}  // namespace qq::translation
