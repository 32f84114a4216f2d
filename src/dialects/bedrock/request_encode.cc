// A request for a target. What is decided here and not in the table is told in dialect.h.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "dialects/anthropic/sampling.h"
#include "dialects/anthropic/schema.h"
#include "dialects/anthropic/thinking.h"
#include "dialects/bedrock/block_writer.h"
#include "dialects/bedrock/sides.h"
#include "dialects/body_size.h"
#include "dialects/calls.h"
#include "dialects/reasoning.h"

namespace qq::dialects::bedrock {
namespace {

using model::ChatRequest;
using model::Dialect;
using model::OutputFormat;
using model::ToolChoice;
using Verdict = Support::Verdict;

constexpr std::array kSupport{
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::HostedTools, {Verdict::Lossy, loss::kForeignTool}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PresencePenalty, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::FrequencyPenalty, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Seed, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Choices, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Logprobs, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::LogitBias, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CustomTools, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ParallelToolCalls, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::JsonObject, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ReasoningSummary, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::AudioInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::OutputModalities, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::LateSystem, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ParticipantName, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::User, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CacheKey, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Store, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PreviousResponse, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Conversation, {Verdict::Refused, loss::kNoSuchField}},
};
// Members that nobody but Converse has: who writes one means it.
constexpr std::array<std::string_view, 2> kOwnMembers{"guardrailConfig", "performanceConfig"};

bool is_own_member(std::string_view key) noexcept {
  return std::ranges::find(kOwnMembers, key) != kOwnMembers.end();
}

class RequestWriter {
 public:
  RequestWriter(const ChatRequest& request, const model::Target& target, Losses& losses, std::string& out)
      : request_(request),
        losses_(losses),
        json_(out),
        family_(family_of(target)),
        history_(anthropic::history_of(
            request, losses,
            claude_rules().takes_prefill ? anthropic::Prefill::Taken : anthropic::Prefill::Refused,
            Dialect::Bedrock)),
        blocks_(json_, request, family_, losses),
        chosen_(request) {}

  Result<> write() {
    if (family_.claude != nullptr) {
      const std::int64_t most_output =
          request_.sampling.max_output_tokens.value_or(family_.claude->most_output);
      thinking_ = anthropic::thinking_for(request_, *family_.claude, history_, most_output, losses_);
    } else {
      choose_effort();
    }
    sampling_ = anthropic::sampling_for(request_, claude_rules(), thinking_.on(), losses_);
    json_.begin_object();
    blocks_.choose_marks(history_, marks_on_tools());
    // In the order of what is cached, for of too many marks the first are left out.
    tools();
    system();
    json_.key("messages").begin_array();
    for (const anthropic::Message& message : history_.messages)
      QQ_CHECK(blocks_.message(message, &message == &history_.messages.back()));
    json_.end_array();
    inference();
    output();
    additional();
    rest();
    json_.end_object();
    return {};
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  // Converse's own limit for all is what Claude takes: a temperature up to 1.
  [[nodiscard]] const anthropic::Family& claude_rules() const {
    return family_.claude != nullptr ? *family_.claude : anthropic::family_of({});
  }

  // ---- Tools

  [[nodiscard]] bool forces_one() const {
    return claude_rules().takes_forced && request_.tool_choice &&
           request_.tool_choice->mode == ToolChoice::Mode::Required && request_.tool_choice->only.size() == 1;
  }
  [[nodiscard]] bool is_sent(const model::Tool& tool) const {
    return tool.kind != model::Tool::Kind::Hosted && (forces_one() || chosen_.has(tool.name));
  }
  [[nodiscard]] std::size_t marks_on_tools() const {
    if (!family_.caches_tools) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        request_.tools, [&](const model::Tool& tool) { return tool.cache && is_sent(tool); }));
  }
  void tools() {
    const bool any = std::ranges::any_of(request_.tools, [&](const auto& tool) { return is_sent(tool); });
    const std::vector<std::string_view> called = anthropic::tools_called(history_);
    const auto choice =
        choice_among(request_, Dialect::Bedrock, [&](const auto& tool) { return is_sent(tool); }, losses_);
    const bool none = choice && choice->mode == ToolChoice::Mode::None;
    if (called.empty() && (!any || none)) return;
    json_.key("toolConfig").begin_object().key("tools").begin_array();
    for (const model::Tool& tool : request_.tools) {
      if (!is_sent(tool)) continue;
      write_tool(tool);
      blocks_.cache_point(tool.cache, family_.caches_tools);
    }
    if (!any) {
      for (const std::string_view name : called) {
        json_.begin_object().key("toolSpec").begin_object().member("name", name);
        write_schema(anthropic::input_schema({}));
        json_.end_object().end_object();
      }
    }
    json_.end_array();
    // The model may call them all the same.
    if (none && any) lose(Field::ToolChoice, loss::kNearest);
    if (any && !none && choice) tool_choice(*choice);
    json_.end_object();
  }
  void write_schema(std::string_view schema) {
    json_.key("inputSchema").begin_object().raw_member("json", schema).end_object();
  }
  void write_tool(const model::Tool& tool) {
    const bool custom = tool.kind == model::Tool::Kind::Custom;
    json_.begin_object().key("toolSpec").begin_object().member("name", tool.name);
    if (!tool.description.empty()) json_.member("description", tool.description);
    const bool strict = tool.strict.value_or(false) && !custom && family_.takes_strict;
    std::string schema = custom ? std::string(kCustomInputSchema) : anthropic::input_schema(tool.schema);
    if (strict) {
      bool changed = false;
      schema = anthropic::adapted_schema(wire::JsonValue(schema), changed);
      if (changed) losses_.push_back({"tools[]." + tool.name, loss::kSchemaWord});
    } else if (tool.strict.value_or(false)) {
      lose(Field::StrictTools, loss::kNoSuchField);
    }
    write_schema(schema);
    if (strict) json_.member("strict", true);
    json_.end_object().end_object();
  }
  void tool_choice(const ToolChoice& choice) {
    const bool forced = choice.mode == ToolChoice::Mode::Required && claude_rules().takes_forced;
    if (choice.mode == ToolChoice::Mode::Required && !forced) lose(Field::ToolChoice, loss::kNearest);
    json_.key("toolChoice").begin_object();
    if (forces_one()) {
      json_.key("tool").begin_object().member("name", choice.only.front()).end_object();
    } else {
      json_.key(forced ? "any" : "auto").begin_object().end_object();
    }
    json_.end_object();
  }

  // ---- What is said

  [[nodiscard]] bool instructs() const {
    if (!request_.output || request_.output->kind == OutputFormat::Kind::Text) return false;
    return request_.output->schema.empty() || !family_.takes_schemas;
  }
  void system() {
    if (history_.system.empty() && !instructs()) return;
    json_.key("system").begin_array();
    for (const model::Part* part : history_.system) {
      blocks_.text(*part);
      blocks_.cache_point(part->cache, family_.caches);
    }
    if (instructs()) {
      json_.begin_object().member("text", anthropic::json_instruction(*request_.output)).end_object();
      if (request_.output->kind == OutputFormat::Kind::JsonSchema) lose(Field::JsonSchema, loss::kNearest);
    }
    json_.end_array();
  }

  // ---- How it is answered

  void inference() {
    const std::optional<std::int64_t> most = request_.sampling.max_output_tokens;
    std::vector<std::string_view> stops;
    for (const std::string& text : request_.sampling.stop) {
      if (!trimmed(text).empty()) stops.push_back(text);
    }
    if (stops.size() != request_.sampling.stop.size()) lose(Field::Stop, loss::kOutOfRange);
    if (!most && !sampling_.temperature && !sampling_.top_p && stops.empty()) return;
    json_.key("inferenceConfig").begin_object();
    if (most) json_.member("maxTokens", *most);
    if (sampling_.temperature) json_.member("temperature", *sampling_.temperature);
    if (sampling_.top_p) json_.member("topP", *sampling_.top_p);
    if (!stops.empty()) {
      json_.key("stopSequences").begin_array();
      for (const std::string_view text : stops) json_.string(text);
      json_.end_array();
    }
    json_.end_object();
  }
  void output() {
    if (!request_.output || request_.output->kind != OutputFormat::Kind::JsonSchema || instructs()) return;
    const OutputFormat& format = *request_.output;
    bool changed = false;
    const std::string schema = anthropic::adapted_schema(wire::JsonValue(format.schema), changed);
    if (changed) lose(Field::JsonSchema, loss::kSchemaWord);
    json_.key("outputConfig").begin_object().key("textFormat").begin_object();
    json_.member("type", "json_schema").key("structure").begin_object().key("jsonSchema").begin_object();
    json_.member("schema", schema);  // its text
    json_.member("name", format.name.empty() ? std::string_view("answer") : std::string_view(format.name));
    if (!format.description.empty()) json_.member("description", format.description);
    json_.end_object().end_object().end_object().end_object();
  }

  // ---- What only its family knows

  // Of families other than Claude: the word for how much to think, empty if nothing is said.
  void choose_effort() {
    if (!request_.reasoning) return;
    const auto wish = dialects::effort_of(*request_.reasoning);
    if (!wish) return;
    switch (family_.thinking) {
      case ThinkingWords::Claude:
      case ThinkingWords::None:
        if (*wish != Effort::None) lose(Field::Reasoning, loss::kNoSuchField);
        return;
      case ThinkingWords::Qwen:
        if (*wish == Effort::None) return;
        effort_ = *wish <= Effort::Low ? "low" : "high";
        if (*wish != Effort::Low && *wish != Effort::High) lose(Field::Reasoning, loss::kNearest);
        return;
      case ThinkingWords::OpenAi:
      case ThinkingWords::Nova: break;
    }
    const bool nova = family_.thinking == ThinkingWords::Nova;
    if (*wish == Effort::None) {
      if (nova) effort_ = "disabled";
      if (!nova) lose(Field::Reasoning, loss::kNearest);  // it always thinks
      return;
    }
    const Effort nearest = std::clamp(*wish, Effort::Low, Effort::High);
    const model::Sampling& sampling = request_.sampling;
    const bool limited =
        sampling.max_output_tokens || sampling.temperature || sampling.top_p || sampling.top_k;
    if (nova && nearest == Effort::High && limited) {
      // Nova refuses its highest effort beside any of them.
      effort_ = word_of(Effort::Medium);
      lose(Field::Reasoning, loss::kNotTogether);
      return;
    }
    effort_ = word_of(nearest);
    if (nearest != *wish) lose(Field::Reasoning, loss::kNearest);
  }
  void additional() {
    const bool top_k = sampling_.top_k && (family_.claude != nullptr || family_.nova);
    if (sampling_.top_k && !top_k) lose(Field::TopK, loss::kNoSuchField);
    const bool thinks = thinking_.mode != anthropic::Thinking::Mode::Absent || !thinking_.effort.empty();
    if (!top_k && !thinks && effort_.empty()) return;
    json_.key("additionalModelRequestFields").begin_object();
    anthropic::write_thinking(json_, thinking_);
    if (!thinking_.effort.empty())
      json_.key("output_config").begin_object().member("effort", thinking_.effort).end_object();
    if (top_k && family_.nova) {
      json_.key("inferenceConfig").begin_object().member("topK", *sampling_.top_k).end_object();
    } else if (top_k) {
      json_.member("top_k", *sampling_.top_k);
    }
    if (!effort_.empty()) effort();
    json_.end_object();
  }
  void effort() {
    if (family_.thinking == ThinkingWords::OpenAi) {
      json_.member("reasoning_effort", effort_);
    } else if (family_.thinking == ThinkingWords::Qwen) {
      json_.member("reasoning_config", effort_);
    } else if (effort_ == "disabled") {
      json_.key("reasoningConfig").begin_object().member("type", effort_).end_object();
    } else {
      json_.key("reasoningConfig").begin_object().member("type", "enabled");
      json_.member("maxReasoningEffort", effort_).end_object();
    }
  }

  // ---- The rest

  void rest() {
    metadata();
    const std::string_view tier = request_.service_tier;
    if (tier == "priority" || tier == "flex" || tier == "default" || tier == "standard_only") {
      json_.key("serviceTier").begin_object();
      json_.member("type", tier == "standard_only" ? "default" : tier).end_object();
    } else if (!tier.empty() && tier != "auto") {
      lose(Field::ServiceTier, loss::kNoSuchField);
    }
    for (const std::string_view name : kOwnMembers) {
      const auto given = std::ranges::find(request_.extra, name, &model::ExtraField::key);
      if (given != request_.extra.end()) json_.raw_member(name, given->value);
    }
  }
  // requestMetadata: at most 16, of 256 plain letters each.
  void metadata() {
    constexpr std::size_t kMost = 16;
    std::vector<std::pair<std::string_view, std::string_view>> taken;
    std::size_t all = 0;
    if (request_.metadata.empty()) return;
    for (wire::JsonMembers members{wire::JsonValue(request_.metadata)}; members.next(); ++all) {
      const std::string_view text = members.value().raw_string();
      if (members.is_string() && taken.size() < kMost && is_plain(members.raw_key()) && is_plain(text))
        taken.emplace_back(members.raw_key(), text);
    }
    if (taken.size() != all) lose(Field::Metadata, loss::kOutOfRange);
    if (taken.empty()) return;
    json_.key("requestMetadata").begin_object();
    for (const auto& [key, text] : taken) json_.member(key, text);
    json_.end_object();
  }
  static bool is_plain(std::string_view text) noexcept {
    constexpr std::size_t kMost = 256;
    return !text.empty() && text.size() <= kMost && std::ranges::all_of(text, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view(" :_@$#=/+,-.").find(c) != std::string_view::npos;
    });
  }

  const ChatRequest& request_;
  Losses& losses_;
  wire::JsonWriter json_;
  Family family_;
  anthropic::History history_;
  BlockWriter blocks_;
  ChosenTools chosen_;
  anthropic::Thinking thinking_;
  anthropic::Sampling sampling_;
  std::string_view effort_;
};

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  QQ_CHECK(check_support(request, Dialect::Bedrock, support(), losses));
  std::erase_if(losses, [](const Loss& loss) { return is_own_member(loss.field); });
  EncodedRequest out;
  out.body.reserve(body_size_hint(request));
  QQ_CHECK(RequestWriter(request, target, losses, out.body).write());
  return out;
}

}  // namespace qq::dialects::bedrock
