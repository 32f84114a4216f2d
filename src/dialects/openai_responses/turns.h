// From items to turns: what one side says in a row is one turn, so that dialects with one message for
// thoughts, text and calls find them together. A turn holds one message at most, which keeps messages apart;
// thoughts behind a message begin the next turn, since they belong to what comes.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dialects/call_index.h"
#include "dialects/openai_responses/items.h"

namespace qq::dialects::openai_responses {

class TurnBuilder {
 public:
  explicit TurnBuilder(std::vector<model::Turn>& turns) noexcept : turns_(turns) {}
  void add(DecodedItem item);

 private:
  enum class Open : std::uint8_t { Nothing, Assistant, Results };
  void bring_back(std::vector<model::Part> thoughts);
  model::Turn& turn_for(const DecodedItem& item);

  std::vector<model::Turn>& turns_;
  Open open_ = Open::Nothing;  // what more may be added to the last turn
  bool has_message_ = false;
  std::map<std::string, std::string> names_;  // of the calls, the last of each id
  std::optional<KnownStates> states_;         // once a thought is put back
};

}  // namespace qq::dialects::openai_responses
