// A request for a target. What is decided here and not in the table is told in dialect.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "dialects/anthropic/block_writer.h"
#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/families.h"
#include "dialects/anthropic/history.h"
#include "dialects/anthropic/sampling.h"
#include "dialects/anthropic/schema.h"
#include "dialects/anthropic/sides.h"
#include "dialects/anthropic/thinking.h"
#include "dialects/body_size.h"
#include "dialects/calls.h"

namespace qq::dialects::anthropic {
namespace {

using model::ChatRequest;
using model::Dialect;
using model::MessagesForm;
using model::OutputFormat;
using model::Part;
using model::ToolChoice;
using Verdict = Support::Verdict;

constexpr std::array kSupport{
    // These three can concern an Anthropic client too.
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
    SupportEntry{Field::JsonObject, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ReasoningSummary, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::AudioInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::VideoInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::OutputModalities, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::LateSystem, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ParticipantName, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::Metadata, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CacheKey, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Store, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PreviousResponse, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Conversation, {Verdict::Refused, loss::kNoSuchField}},
};
constexpr std::size_t kConcernsOwn = 3;

class RequestWriter {
 public:
  RequestWriter(const ChatRequest& request, const model::Target& target, Losses& losses, std::string& out)
      : request_(request),
        target_(target),
        losses_(losses),
        json_(out),
        family_(family_of(target.upstream_model)),
        history_(history_of(request, losses, family_.takes_prefill ? Prefill::Taken : Prefill::Refused)),
        blocks_(json_, request.dialect == Dialect::Anthropic, losses),
        chosen_(request),
        own_(request.dialect == Dialect::Anthropic) {}

  Result<> write() {
    const std::int64_t most_output = request_.sampling.max_output_tokens.value_or(family_.most_output);
    thinking_ = thinking_for(request_, family_, history_, most_output, losses_);
    json_.begin_object();
    envelope();
    json_.member("max_tokens", most_output);
    std::size_t more = request_.cache ? 1 : 0;
    for (const model::Tool& tool : request_.tools) more += tool.cache ? 1 : 0;
    if (!blocks_.choose_marks(history_, more)) lose(Field::CacheMarks, loss::kTooMany);
    tools();
    system();
    json_.key("messages").begin_array();
    for (const Message& message : history_.messages)
      QQ_CHECK(blocks_.message(message, &message == &history_.messages.back()));
    json_.end_array();
    write_thinking(json_, thinking_);
    output_config();
    sampling();
    rest();
    json_.end_object();
    return {};
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }

  void envelope() {
    const MessagesForm form = target_.quirks.messages_form;
    if (form == MessagesForm::Vertex) json_.member("anthropic_version", "vertex-2023-10-16");
    if (form == MessagesForm::BedrockInvoke) json_.member("anthropic_version", "bedrock-2023-05-31");
    if (form == MessagesForm::Direct && target_.quirks.sends_model_in_body)
      json_.member("model", target_.upstream_model);
    if (request_.stream && form != MessagesForm::BedrockInvoke) json_.member("stream", true);
    if (form != MessagesForm::BedrockInvoke || !own_) return;
    for (const model::ExtraField& field : request_.extra) {
      if (field.key != kBetaField) continue;
      const std::string names = wire::JsonValue(field.value).string();
      json_.key("anthropic_beta").begin_array();
      for (std::string_view left = names; !left.empty();) {
        const std::size_t comma = std::min(left.find(','), left.size());
        const std::string_view name = trimmed(left.substr(0, comma));
        if (!name.empty()) json_.string(name);
        left.remove_prefix(std::min(comma + 1, left.size()));
      }
      json_.end_array();
    }
  }

  // ---- Tools

  [[nodiscard]] bool may_be_called(const model::Tool& tool) const {
    if (own_) return true;
    // A subset can only be said by sending fewer tools; one tool that must be called is named beside all.
    const bool forced = family_.takes_forced && request_.tool_choice &&
                        request_.tool_choice->mode == ToolChoice::Mode::Required &&
                        request_.tool_choice->only.size() == 1;
    return forced || chosen_.has(tool.name);
  }
  void tools() {
    std::size_t sent = 0;
    const auto begin = [&] {
      if (sent++ == 0) json_.key("tools").begin_array();
    };
    const auto is_sent = [this](const model::Tool& tool) {
      const bool foreign = tool.kind == model::Tool::Kind::Hosted && tool.hosted_by != Dialect::Anthropic;
      return !foreign && may_be_called(tool);
    };
    const auto choice = choice_among(request_, Dialect::Anthropic, is_sent, losses_);
    for (const model::Tool& tool : request_.tools) {
      if (!is_sent(tool)) continue;
      begin();
      write_tool(tool);
    }
    const bool declared = sent == 0 && history_.has_calls && !own_ && declare_known(begin);
    if (sent == 0) return;
    json_.end_array();
    if (declared) {
      json_.key("tool_choice").begin_object().member("type", "none").end_object();
    } else {
      tool_choice(choice);
    }
  }
  // Calls without any tools are refused: those of the history are declared, and none may be called.
  bool declare_known(const auto& begin) {
    const std::vector<std::string_view> names = tools_called(history_);
    for (const std::string_view name : names) {
      begin();
      json_.begin_object().member("name", name).raw_member("input_schema", input_schema({})).end_object();
    }
    return !names.empty();
  }
  void write_tool(const model::Tool& tool) {
    if (tool.kind == model::Tool::Kind::Hosted) {
      json_.raw(tool.schema);
      return;
    }
    const bool custom = tool.kind == model::Tool::Kind::Custom;
    json_.begin_object().member("name", tool.name);
    if (!tool.description.empty()) json_.member("description", tool.description);
    if (custom) {
      json_.raw_member("input_schema", kCustomInputSchema);
    } else {
      json_.raw_member("input_schema", schema_for(tool));
    }
    // Models without it refuse the member, whatever it says.
    if (own_ ? tool.strict.has_value() && !custom : is_strict(tool)) json_.member("strict", *tool.strict);
    if (!own_ && tool.strict.value_or(false) && !custom && !is_strict(tool))
      lose(Field::StrictTools, loss::kNoSuchField);
    blocks_.cache(tool.cache);
    if (own_) write_extra(json_, tool.extra);
    json_.end_object();
  }
  [[nodiscard]] bool is_strict(const model::Tool& tool) const {
    return family_.takes_schemas && tool.strict.value_or(false) && tool.kind != model::Tool::Kind::Custom;
  }
  std::string schema_for(const model::Tool& tool) {
    std::string schema = input_schema(tool.schema);
    if (own_ || !is_strict(tool)) return schema;
    bool changed = false;
    schema = adapted_schema(wire::JsonValue(schema), changed);
    if (changed) losses_.push_back({"tools[]." + tool.name, loss::kSchemaWord});
    return schema;
  }
  void tool_choice(const std::optional<ToolChoice>& wish) {
    const bool says_parallel = request_.parallel_tool_calls.has_value();
    if (!wish && !says_parallel) return;
    ToolChoice choice = wish.value_or(ToolChoice{});
    if (!own_ && !family_.takes_forced && choice.mode == ToolChoice::Mode::Required) {
      choice.mode = ToolChoice::Mode::Auto;
      lose(Field::ToolChoice, loss::kNearest);
    }
    json_.key("tool_choice").begin_object();
    if (choice.mode == ToolChoice::Mode::None) {
      json_.member("type", "none").end_object();
      return;
    }
    if (choice.mode == ToolChoice::Mode::Auto) {
      json_.member("type", "auto");
    } else if (choice.only.size() == 1) {
      json_.member("type", "tool").member("name", choice.only.front());
    } else {
      json_.member("type", "any");
    }
    if (says_parallel && (own_ || !*request_.parallel_tool_calls))
      json_.member("disable_parallel_tool_use", !*request_.parallel_tool_calls);
    json_.end_object();
  }

  // ---- What is said

  void system() {
    const bool asks_json = request_.output && instructs(*request_.output);
    if (history_.system.empty() && !asks_json) return;
    json_.key("system").begin_array();
    for (const Part* part : history_.system) blocks_.text(*part);
    if (asks_json) {
      json_.begin_object().member("type", "text");
      json_.member("text", json_instruction(*request_.output)).end_object();
    }
    json_.end_array();
  }
  [[nodiscard]] bool instructs(const OutputFormat& output) const {
    if (output.kind == OutputFormat::Kind::JsonSchema)
      return output.schema.empty() || (!own_ && !family_.takes_schemas);
    return output.kind == OutputFormat::Kind::JsonObject;
  }

  // ---- How it is answered

  // The members of an object whose other members have places of their own.
  void rest_of(std::string_view object) {
    if (!own_) return;
    for (const model::ExtraField& field : request_.extra) {
      if (field.key.starts_with(object) && field.key[object.size()] == '.')
        json_.any_key(field.key.substr(object.size() + 1)).raw(field.value);
    }
  }
  [[nodiscard]] bool has_rest(std::string_view object) const {
    return own_ && std::ranges::any_of(request_.extra, [&](const model::ExtraField& field) {
             return field.key.starts_with(object) && field.key[object.size()] == '.';
           });
  }

  void output_config() {
    const bool schema = request_.output && request_.output->kind == OutputFormat::Kind::JsonSchema &&
                        !instructs(*request_.output);
    if (request_.output && request_.output->kind == OutputFormat::Kind::JsonSchema && !schema)
      lose(Field::JsonSchema, loss::kNearest);
    if (!schema && thinking_.effort.empty() && !has_rest("output_config")) return;
    json_.key("output_config").begin_object();
    if (!thinking_.effort.empty()) json_.member("effort", thinking_.effort);
    if (schema) {
      json_.key("format").begin_object().member("type", "json_schema");
      if (own_) {
        json_.raw_member("schema", request_.output->schema);
      } else {
        bool changed = false;
        json_.raw_member("schema", adapted_schema(wire::JsonValue(request_.output->schema), changed));
        if (changed) lose(Field::JsonSchema, loss::kSchemaWord);
      }
      json_.end_object();
    }
    rest_of("output_config");
    json_.end_object();
  }

  void sampling() {
    stops(request_.sampling.stop);
    const Sampling taken = sampling_for(request_, family_, thinking_.on(), losses_);
    if (taken.temperature) json_.member("temperature", *taken.temperature);
    if (taken.top_p) json_.member("top_p", *taken.top_p);
    if (taken.top_k) json_.member("top_k", *taken.top_k);
  }
  void stops(const std::vector<std::string>& stop) {
    bool begun = false;
    for (const std::string& text : stop) {
      if (!own_ && is_blank(text)) {
        lose(Field::Stop, loss::kOutOfRange);
        continue;
      }
      if (!std::exchange(begun, true)) json_.key("stop_sequences").begin_array();
      json_.string(text);
    }
    if (begun) json_.end_array();
  }

  void rest() {
    if (!request_.user.empty() || has_rest("metadata")) {
      json_.key("metadata").begin_object();
      if (!request_.user.empty()) json_.member("user_id", request_.user);
      rest_of("metadata");
      json_.end_object();
    }
    if (!request_.service_tier.empty()) {
      const std::string_view tier = request_.service_tier;
      const bool known = own_ || tier == "auto" || tier == "default";
      json_.member("service_tier", tier == "default" ? "standard_only" : known ? tier : "auto");
      if (!known) lose(Field::ServiceTier, loss::kNearest);
    }
    blocks_.cache(request_.cache);
    if (!own_) return;
    for (const model::ExtraField& field : request_.extra) {
      // "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive".
      if (thinking_.given_up && field.key == "context_management") continue;
      if (field.key == kBetaField || field.key.starts_with("output_config.") ||
          field.key.starts_with("metadata."))
        continue;
      json_.any_key(field.key).raw(field.value);
    }
  }

  const ChatRequest& request_;
  const model::Target& target_;
  Losses& losses_;
  wire::JsonWriter json_;
  const Family& family_;
  History history_;
  BlockWriter blocks_;
  Thinking thinking_;
  ChosenTools chosen_;
  bool own_;
};

std::string header_lines(const ChatRequest& request, MessagesForm form) {
  std::string out;
  if (form == MessagesForm::BedrockInvoke || request.dialect != Dialect::Anthropic) return out;
  for (const model::ExtraField& field : request.extra) {
    if (field.key != kBetaField) continue;
    std::string names = wire::JsonValue(field.value).string();
    std::erase_if(names, [](char c) { return c < ' ' || c > '~'; });  // nothing that ends a header
    if (!names.empty()) out.append("anthropic-beta: ").append(names).append("\r\n");
  }
  return out;
}

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  const SupportTable table =
      request.dialect == Dialect::Anthropic ? support().first(kConcernsOwn) : support();
  QQ_CHECK(check_support(request, Dialect::Anthropic, table, losses));
  EncodedRequest out;
  out.body.reserve(body_size_hint(request));
  QQ_CHECK(RequestWriter(request, target, losses, out.body).write());
  out.header_lines = header_lines(request, target.quirks.messages_form);
  return out;
}

}  // namespace qq::dialects::anthropic
