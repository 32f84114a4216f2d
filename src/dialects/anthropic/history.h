// A conversation in the order and the shape that Anthropic takes, and Bedrock's Converse with it: system
// texts apart, user and assistant in turn, a user first, results before what else a user says, nothing blank.
// And the ids of its calls.
#pragma once
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/call_index.h"
#include "dialects/dialect.h"

namespace qq::dialects::anthropic {

struct Message {
  model::Role role = model::Role::User;
  std::vector<const model::Part*> parts;  // of the request, or of made-up ones that live for ever
  const model::Turn* turn = nullptr;      // the first it is made of
};

struct History {
  std::vector<const model::Part*> system;
  std::vector<Message> messages;
  bool has_calls = false;
  bool lost_thoughts = false;  // those of other makers, and those that nobody signed
  // It ends with the beginning of the answer.
  [[nodiscard]] bool has_prefill() const noexcept { return messages.back().role == model::Role::Assistant; }
  // It ends with results for calls that this dialect's maker did not think about in a signed way.
  [[nodiscard]] bool in_unsigned_tool_loop() const noexcept;
};

// What becomes of an assistant's turn at the end, which another dialect's caller may mean as the beginning of
// the answer.
enum class Prefill : std::uint8_t { Taken, Refused /* a made-up user's turn follows it */ };

// Never without a message. What is left out and is not in the table of support() is a loss. Opaque parts and
// states of `native` stay.
History history_of(const model::ChatRequest& request, Losses& losses, Prefill prefill,
                   model::Dialect native = model::Dialect::Anthropic);

// The tools that are called in it, each once.
std::vector<std::string_view> tools_called(const History& history);

// Ids as Anthropic takes them: letters, digits, '_' and '-', each once in a conversation. Calls are asked for
// in their order, results behind them.
class CallIds {
 public:
  static constexpr std::size_t kNoLimit = 1U << 20U;
  explicit CallIds(std::size_t longest = kNoLimit) noexcept : longest_(longest) {}
  std::string_view of_call(const model::ToolCallPart& call);
  std::string_view of_result(const model::ToolResultPart& result);

 private:
  CallIndex calls_;
  std::deque<std::string> mapped_;  // of each call
  std::size_t longest_;
  std::set<std::string> used_;
  std::map<std::string, std::size_t> again_;  // by an id that was used, the next number behind it
  std::string unknown_;
};

}  // namespace qq::dialects::anthropic
