// Anthropic's Messages. The words are those of its API where they were seen; the rules: docs.claude.com,
// "Messages", "Tool use" and "Extended thinking".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "simulator/provider/checks/check.h"
#include "simulator/provider/signature.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::array<std::string_view, 21> kMessagesMembers{
    "model",         "messages",      "max_tokens",   "system",      "metadata",      "stop_sequences",
    "stream",        "temperature",   "top_k",        "top_p",       "tools",         "tool_choice",
    "thinking",      "service_tier",  "container",    "mcp_servers", "cache_control", "context_management",
    "output_config", "output_format", "inference_geo"};

bool is_call_id(std::string_view id) noexcept {
  return !id.empty() && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

class MessagesCheck {
 public:
  explicit MessagesCheck(const RequestText& request) : request_(request), body_(request.body) {}

  Refusal run() {
    members();
    if (!refusal_ && request_.path.route == Route::Messages) limits();
    if (const auto system = body_.member("system")) contents(*system, "system");
    if (const auto tools = body_.member("tools")) check_tools(*tools);
    const auto messages = body_.member("messages");
    if (!messages || !messages->is_array()) {
      refuse("messages: Field required");
    } else {
      check_turns(*messages);
    }
    if (!refusal_ && marks_ > 4)
      refuse(fmt::format("A maximum of 4 blocks with cache_control may be provided. Found {}.", marks_));
    return std::move(refusal_);
  }

 private:
  // The first complaint stays.
  void refuse(std::string message) {
    if (refusal_) return;
    refusal_ = refused(request_, std::move(message));
    // Claude's own errors, also behind Google's gate.
    if (refusal_->vendor == "vertex") refusal_->vendor = "anthropic";
  }

  // What a beta adds is not known here.
  [[nodiscard]] bool knows_betas() const {
    return !request_.field("anthropic-beta").empty() || body_.member("anthropic_beta");
  }

  void members() {
    const auto form = request_.path.form;
    const bool enveloped = form != model::MessagesForm::Direct && request_.path.route == Route::Messages;
    for (JsonMembers at(body_); at.next();) {
      const std::string_view key = at.raw_key();
      const bool known = std::ranges::find(kMessagesMembers, key) != kMessagesMembers.end();
      const bool envelope = key == "anthropic_version" || (key == "anthropic_beta" && enveloped);
      if (!known && !knows_betas() && !(envelope && form != model::MessagesForm::Direct))
        refuse(fmt::format("{}: Extra inputs are not permitted", key));
      // Vertex's SDK says stream in the body, too.
      const bool said_by_path =
          key == "model" || (key == "stream" && form == model::MessagesForm::BedrockInvoke);
      if (enveloped && said_by_path) refuse(fmt::format("{}: Extra inputs are not permitted", key));
    }
    if (enveloped) {
      const std::string_view version =
          form == model::MessagesForm::Vertex ? "vertex-2023-10-16" : "bedrock-2023-05-31";
      if (text_member(body_, "anthropic_version") != version)
        refuse(fmt::format("anthropic_version: Field required, and only {} is known", version));
    } else if (text_member(body_, "model").empty()) {
      refuse("model: Field required");
    }
  }

  void limits() {
    const auto most = integer_member(body_, "max_tokens");
    if (!most) return refuse("max_tokens: Field required");
    if (*most < 1) refuse("max_tokens: Input should be greater than or equal to 1");
    const auto temperature = body_.member("temperature");
    const double heat = temperature ? std::strtod(std::string(temperature->text()).c_str(), nullptr) : 1.0;
    if (temperature && !temperature->is_null() && !(heat >= 0 && heat <= 1))
      refuse("temperature: range: 0..1");
    const auto thinking = body_.member("thinking");
    const std::string type = thinking ? text_member(*thinking, "type") : std::string();
    thinks_ = type == "enabled" || type == "adaptive";
    if (!thinks_) return;
    if (type == "enabled") {
      const auto budget = integer_member(*thinking, "budget_tokens");
      if (!budget) refuse("thinking.enabled.budget_tokens: Field required");
      if (budget && *budget < 1024)
        refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
      if (budget && *budget >= *most) refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
    if (temperature && heat != 1.0) refuse("`temperature` may only be set to 1 when thinking is enabled.");
    if (const auto choice = body_.member("tool_choice")) {
      const std::string wanted = text_member(*choice, "type");
      if (wanted == "any" || wanted == "tool")
        refuse("Thinking may not be enabled when tool_choice forces tool use.");
    }
  }

  void check_tools(JsonValue tools) {
    std::size_t index = 0;
    std::vector<std::string> names;
    for (JsonElements items(tools); items.next(); ++index) {
      const JsonValue tool = items.value();
      count_mark(tool);
      const std::string type = text_member(tool, "type");
      const std::string name = text_member(tool, "name");
      if (name.empty()) refuse(fmt::format("tools.{}.custom.name: Field required", index));
      if (std::ranges::find(names, name) != names.end()) refuse("tools: Tool names must be unique.");
      names.push_back(name);
      if (!type.empty() && type != "custom") continue;
      if (!is_call_id(name) || name.size() > 128)
        refuse(fmt::format("tools.{}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'",
                           index));
      const auto schema = tool.member("input_schema");
      if (!schema) {
        refuse(fmt::format("tools.{}.custom.input_schema: Field required", index));
      } else if (text_member(*schema, "type") != "object") {
        refuse(fmt::format("tools.{}.custom.input_schema.type: Field required", index));
      }
    }
  }

  void count_mark(JsonValue block) {
    if (const auto mark = block.member("cache_control"); mark && !mark->is_null()) ++marks_;
  }

  // Text or blocks, of which texts must say something.
  void contents(JsonValue content, const std::string& where) {
    if (!content.is_array()) return;
    for (JsonElements blocks(content); blocks.next();) {
      count_mark(blocks.value());
      if (text_member(blocks.value(), "type") != "text") continue;
      if (text_member(blocks.value(), "text").empty())
        refuse(fmt::format("{}: text content blocks must be non-empty", where));
    }
  }

  void check_turns(JsonValue messages) {
    std::size_t index = 0;
    std::string role;
    JsonValue last;
    for (JsonElements items(messages); items.next(); ++index) {
      const JsonValue message = items.value();
      const std::string where = fmt::format("messages.{}", index);
      if (!message.is_object()) return refuse(where + ": Input does not match the expected shape.");
      role = text_member(message, "role");
      if (role != "user" && role != "assistant") {
        refuse(
            fmt::format("messages: Unexpected role \"{}\". The Messages API accepts a top-level `system` "
                        "parameter, not \"system\" as an input message role.",
                        role));
      }
      if (index == 0 && role != "user") refuse("messages: first message must use the \"user\" role");
      const auto content = message.member("content");
      if (!content) return refuse(where + ".content: Field required");
      last = *content;
      contents(*content, "messages");
      take_turn(role, *content, where);
    }
    if (index == 0) refuse("messages: at least one message is required");
    unanswered(fmt::format("messages.{}", index));
    if (!lost_thought_.empty()) refuse(lost_thought_);
    if (role == "assistant" && !refusal_) prefill(last);
  }

  void take_turn(const std::string& role, JsonValue content, const std::string& where) {
    if (role == "user") {
      answers(content, where);
    } else {
      unanswered(where);
      calls(content, where);
    }
  }

  // Calls that nobody answered, when the next turn is not the one that should have.
  void unanswered(const std::string& where) {
    if (open_.empty()) return;
    refuse(
        fmt::format("{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each "
                    "`tool_use` block must have a corresponding `tool_result` block in the next message.",
                    where, fmt::join(open_, ", ")));
    open_.clear();
  }

  void answers(JsonValue content, const std::string& where) {
    std::size_t index = 0;
    bool other = false;
    bool answered = false;
    for (JsonElements blocks(content); blocks.next(); ++index) {
      if (text_member(blocks.value(), "type") != "tool_result") {
        other = true;
        continue;
      }
      answered = true;
      const std::string id = text_member(blocks.value(), "tool_use_id");
      if (std::erase(open_, id) == 0) {
        refuse(fmt::format(
            "{}.content.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
            where, index, id));
      }
      if (other) {
        refuse(
            fmt::format("{}: `tool_result` blocks must come first in the content, before any text.", where));
      }
    }
    unanswered(where);
    if (!answered) lost_thought_.clear();  // the user goes on: the loop is over
  }

  void calls(JsonValue content, const std::string& where) {
    std::size_t index = 0;
    bool thought = false;
    lost_thought_.clear();  // of the last turn alone it is wanted
    for (JsonElements blocks(content); blocks.next(); ++index) {
      const JsonValue block = blocks.value();
      const std::string at = fmt::format("{}.content.{}", where, index);
      const std::string type = text_member(block, "type");
      if (type == "thinking" || type == "redacted_thinking") {
        thought = true;
        const std::string proof = text_member(block, type == "thinking" ? "signature" : "data");
        if (!is_signature(model::Dialect::Anthropic, proof))
          refuse(fmt::format("{}: Invalid `signature` in `thinking` block", at));
      } else if (type == "tool_use") {
        call(block, at);
        if (thinks_ && !thought) {
          lost_thought_ = fmt::format(
              "{}.content.0: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is "
              "enabled, a final `assistant` message must start with a thinking block.",
              where, first_type(content));
        }
      }
    }
  }

  static std::string first_type(JsonValue content) {
    JsonElements blocks(content);
    return blocks.next() ? text_member(blocks.value(), "type") : std::string();
  }

  void call(JsonValue block, const std::string& at) {
    const std::string id = text_member(block, "id");
    if (!is_call_id(id))
      refuse(fmt::format("{}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at));
    if (std::ranges::find(known_, id) != known_.end()) refuse("messages: `tool_use` ids must be unique");
    const auto input = block.member("input");
    if (!input || !input->is_object())
      refuse(fmt::format("{}.tool_use.input: Input should be a valid dictionary", at));
    known_.push_back(id);
    open_.push_back(id);
  }

  void prefill(JsonValue content) {
    if (thinks_) {
      refuse("messages: a final `assistant` message may not be given when `thinking` is enabled.");
      return;
    }
    std::string text = content.is_string() ? content.string() : std::string();
    for (JsonElements blocks(content); blocks.next();) text = text_member(blocks.value(), "text");
    if (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t'))
      refuse("messages: final assistant content cannot end with trailing whitespace");
  }

  const RequestText& request_;
  JsonValue body_;
  Refusal refusal_;
  bool thinks_ = false;
  std::size_t marks_ = 0;
  std::string lost_thought_;        // why the last turn's calls cannot be gone on with
  std::vector<std::string> open_;   // calls without a result
  std::vector<std::string> known_;  // all calls
};

}  // namespace

Refusal refuse_messages(const RequestText& request) {
  return MessagesCheck(request).run();
}

}  // namespace qq::simulator
