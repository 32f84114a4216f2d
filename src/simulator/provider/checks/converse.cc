// Bedrock's converse: turns alternate, results answer all calls of the turn before, texts are not blank, and
// tools must be declared where the history has any.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/provider/checks/check.h"
#include "simulator/provider/signature.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonValue;

class ConverseCheck {
 public:
  explicit ConverseCheck(const RequestText& request) : request_(request) {}

  Refusal run() {
    const JsonValue body(request_.body);
    const auto messages = body.member("messages");
    if (!messages || !messages->is_array() || messages->text() == "[]") {
      refuse(
          "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must not be "
          "null");
      return std::move(refusal_);
    }
    check_turns(*messages);
    const auto config = body.member("toolConfig");
    if (has_tool_blocks_ && !config)
      refuse("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
    if (config) check_tools(*config);
    return std::move(refusal_);
  }

 private:
  void refuse(std::string message) {
    if (!refusal_) refusal_ = refused(request_, std::move(message));
  }

  void check_tools(JsonValue config) {
    const auto tools = config.member("tools");
    if (!tools || tools->text() == "[]") {
      refuse(
          "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member "
          "must "
          "have length greater than or equal to 1");
      return;
    }
    std::size_t index = 0;
    for (JsonElements items(*tools); items.next(); ++index) {
      const auto spec = items.value().member("toolSpec");
      if (!spec) continue;
      const auto schema = spec->at("inputSchema", "json");
      if (!schema || text_member(*schema, "type") != "object") {
        refuse(
            fmt::format("The value at toolConfig.tools.{}.toolSpec.inputSchema.json.type must be one of the "
                        "following: object.",
                        index));
      }
    }
  }

  void check_turns(JsonValue messages) {
    std::size_t index = 0;
    std::string before;
    std::string role;
    for (JsonElements items(messages); items.next(); ++index) {
      role = text_member(items.value(), "role");
      if (role != "user" && role != "assistant")
        refuse(fmt::format(
            "Value at 'messages.{}.member.role' failed to satisfy constraint: Member must satisfy "
            "enum value set: [user, assistant]",
            index + 1));
      if (index == 0 && role != "user")
        refuse(
            "A conversation must start with a user message. Try again with a conversation that starts with a "
            "user message.");
      if (role == before)
        refuse(
            "A conversation must alternate between user and assistant roles. Make sure the conversation "
            "alternates between user and assistant roles and try again.");
      const auto content = items.value().member("content");
      if (!content || content->text() == "[]")
        refuse(
            fmt::format("The content field in the Message object at messages.{} is empty. Add a ContentBlock "
                        "object to the content field and try again.",
                        index));
      if (content) check_blocks(*content, index, role == "user");
      before = role;
    }
    if (!open_.empty()) missing(index);
    if (role == "assistant")
      refuse(
          "The model does not support assistant message prefill. The conversation must end with a user "
          "message.");
  }

  void missing(std::size_t index) {
    refuse(fmt::format("Expected toolResult blocks at messages.{}.content for the following Ids: {}", index,
                       fmt::join(open_, ", ")));
  }

  void check_blocks(JsonValue content, std::size_t turn, bool user) {
    std::size_t index = 0;
    std::vector<std::string> calls;
    for (JsonElements blocks(content); blocks.next(); ++index) {
      const JsonValue block = blocks.value();
      if (const auto text = block.member("text"); text && text->is_blank_string()) {
        refuse(fmt::format(
            "The text field in the ContentBlock object at messages.{}.content.{} is blank. Add text "
            "to the text field, and try again.",
            turn, index));
      } else if (const auto use = block.member("toolUse")) {
        has_tool_blocks_ = true;
        calls.push_back(check_call(*use, turn, index));
      } else if (const auto result = block.member("toolResult")) {
        has_tool_blocks_ = true;
        const std::string id = text_member(*result, "toolUseId");
        if (!user || std::erase(open_, id) == 0) {
          refuse(fmt::format(
              "The number of toolResult blocks at messages.{}.content exceeds the number of toolUse "
              "blocks of previous turn.",
              turn));
        }
      } else if (const auto thought = block.at("reasoningContent", "reasoningText")) {
        if (!is_signature(model::Dialect::Bedrock, text_member(*thought, "signature")))
          refuse(fmt::format(
              "The model returned the following errors: messages.{}.content.{}: Invalid `signature` "
              "in `thinking` block",
              turn, index));
      }
    }
    if (user && !open_.empty()) missing(turn);
    if (!user) open_ = std::move(calls);
  }

  std::string check_call(JsonValue use, std::size_t turn, std::size_t index) {
    std::string id = text_member(use, "toolUseId");
    const bool fits = !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-';
    });
    if (!fits)
      refuse(fmt::format(
          "1 validation error detected: Value at 'messages.{}.member.content.{}.member.toolUse."
          "toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: "
          "[a-zA-Z0-9_-]+",
          turn + 1, index + 1));
    const auto input = use.member("input");
    if (!input || !input->is_object())
      refuse(
          fmt::format("The format of the value at messages.{}.content.{}.toolUse.input is invalid. Provide a "
                      "json object for the field and try again.",
                      turn, index));
    return id;
  }

  const RequestText& request_;
  Refusal refusal_;
  std::vector<std::string> open_;
  bool has_tool_blocks_ = false;
};

}  // namespace

Refusal refuse_converse(const RequestText& request) {
  return ConverseCheck(request).run();
}

}  // namespace qq::simulator
