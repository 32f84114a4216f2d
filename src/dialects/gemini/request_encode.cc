#include "dialects/gemini/request_encode.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "dialects/calls.h"
#include "dialects/fields.h"
#include "dialects/gemini/content_encode.h"
#include "dialects/gemini/dialect.h"
#include "dialects/gemini/part_write.h"
#include "dialects/gemini/schema.h"
#include "dialects/gemini/thinking.h"
#include "dialects/gemini/words.h"
#include "dialects/losses.h"

namespace qq::dialects::gemini {
namespace {

using model::ChatRequest;
using model::Dialect;
using wire::JsonValue;
using wire::JsonWriter;

constexpr Support lossy(std::string_view why) {
  return {Support::Verdict::Lossy, why};
}
constexpr Support refused(std::string_view why) {
  return {Support::Verdict::Refused, why};
}
constexpr std::array<SupportEntry, 19> kSupport{{
    {Field::LogitBias, lossy(loss::kNoSuchField)},
    {Field::StrictTools, lossy(loss::kNoSuchField)},
    {Field::CustomTools, lossy(loss::kForeignTool)},
    {Field::HostedTools, lossy(loss::kForeignTool)},
    {Field::ParallelToolCalls, lossy(loss::kNoSuchField)},
    {Field::ReasoningSummary, lossy(loss::kNoSuchField)},
    {Field::LateSystem, lossy(loss::kNearest)},
    {Field::ParticipantName, lossy(loss::kNoSuchField)},
    {Field::Citations, lossy(loss::kNoSuchField)},
    {Field::CacheKey, lossy(loss::kNoSuchField)},
    {Field::CacheMarks, lossy(loss::kNoSuchField)},
    {Field::Store, lossy(loss::kNoSuchField)},
    {Field::PreviousResponse, refused(loss::kNoSuchField)},
    {Field::Conversation, refused(loss::kNoSuchField)},
    {Field::ForeignParts, lossy(loss::kForeignPart)},
    {Field::ForeignState, lossy(loss::kForeignState)},
    {Field::Extra, lossy(loss::kNoSuchField)},
    {Field::User, lossy(loss::kNoSuchField)},
    {Field::Metadata, lossy(loss::kNoSuchField)},
}};
static_assert(kSupport.back().field == Field::Metadata);
constexpr std::size_t kStopMax = 5;
constexpr std::int64_t kSeedMax = 2147483647;

// Where the caller's schema of a function stands, for losses.
std::string schema_place(Dialect caller, std::size_t tool) {
  std::string place = "tools[" + std::to_string(tool) + "].";
  switch (caller) {
    case Dialect::OpenAiChat: return place + "function.parameters";
    case Dialect::Anthropic: return place + "input_schema";
    default: return place + "parameters";
  }
}

// Only Vertex has them, with narrow rules of their own, which other dialects' metadata do not keep to.
bool takes_labels(const ChatRequest& request, const model::Target& target) noexcept {
  return request.dialect == Dialect::Gemini && is_vertex(target);
}

class RequestWriter {
 public:
  RequestWriter(const ChatRequest& request, const model::Target& target, Losses& losses)
      : request_(request),
        target_(target),
        losses_(losses),
        own_(request.dialect == Dialect::Gemini),
        chosen_(request),
        json_(out_.body) {}

  Result<EncodedRequest> run() {
    out_.body.reserve(estimate());
    json_.begin_object();
    QQ_CHECK(write_contents(json_, request_, target_, losses_));
    const bool has_functions = write_tools();
    QQ_CHECK(write_tool_config(has_functions));
    write_config();
    if (!request_.cached_content.empty()) json_.member("cachedContent", request_.cached_content);
    write_labels();
    write_tier();
    if (own_) write_extra(json_, request_.extra, {});
    json_.end_object();
    return std::move(out_);
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  void write_schema(std::string_view name, std::string_view json_name, std::string_view schema,
                    const std::string& place) {
    const EncodedSchema encoded = encode_schema(JsonValue(schema));
    json_.raw_member(encoded.form == SchemaForm::Schema ? name : json_name, encoded.json);
    for (const std::string& word : encoded.lost) losses_.push_back({place + "." + word, loss::kSchemaWord});
  }

  // Most of a body is its texts and media.
  [[nodiscard]] std::size_t estimate() const noexcept {
    constexpr std::size_t kPerPart = 128;
    std::size_t size = 1024;
    for (const model::Turn& turn : request_.turns) {
      for (const model::Part& part : turn.parts) {
        size += kPerPart + part.state.data.size();
        if (const auto* text = part.as<model::TextPart>()) size += text->text.size();
        if (const auto* media = part.as<model::MediaPart>()) size += media->data.size();
        if (const auto* call = part.as<model::ToolCallPart>()) size += call->arguments.size();
      }
    }
    for (const model::Tool& tool : request_.tools)
      size += kPerPart + tool.description.size() + tool.schema.size();
    return size;
  }

  // A choice among some tools that still leaves it to the model is made by offering no others.
  [[nodiscard]] bool offers(const model::Tool& tool) const {
    if (!request_.tool_choice || request_.tool_choice->mode != model::ToolChoice::Mode::Auto || own_)
      return true;
    return chosen_.has(tool.name);
  }

  // Whether there are functions.
  bool write_tools() {
    const auto is_function = [&](const model::Tool& tool) {
      return tool.kind == model::Tool::Kind::Function && offers(tool);
    };
    const bool has_functions = std::ranges::any_of(request_.tools, is_function);
    const auto is_hosted = [](const model::Tool& tool) {
      return tool.kind == model::Tool::Kind::Hosted && tool.hosted_by == Dialect::Gemini;
    };
    if (!has_functions && std::ranges::none_of(request_.tools, is_hosted)) return false;
    json_.key("tools").begin_array();
    if (has_functions) {
      json_.begin_object().key("functionDeclarations").begin_array();
      for (std::size_t i = 0; i < request_.tools.size(); ++i) {
        if (is_function(request_.tools[i])) write_function(request_.tools[i], i);
      }
      json_.end_array().end_object();
    }
    for (const model::Tool& tool : request_.tools) {
      if (is_hosted(tool)) json_.raw(tool.schema);
    }
    json_.end_array();
    return has_functions;
  }

  void write_function(const model::Tool& tool, std::size_t index) {
    json_.begin_object().member("name", tool.name);
    if (!tool.description.empty()) json_.member("description", tool.description);
    if (!tool.schema.empty() && !takes_nothing(JsonValue(tool.schema))) {
      write_schema("parameters", "parametersJsonSchema", tool.schema, schema_place(request_.dialect, index));
    }
    if (own_) write_extra(json_, tool.extra, {});
    json_.end_object();
  }

  Result<> write_tool_config(bool has_functions) {
    constexpr std::string_view kCalling = "toolConfig.functionCallingConfig";
    const auto choice = choice_among(
        request_, Dialect::Gemini,
        [&](const model::Tool& tool) { return tool.kind == model::Tool::Kind::Function && offers(tool); },
        losses_);
    const bool chosen = choice && has_functions;
    const bool extra_calling = own_ && has_extra(request_.extra, kCalling);
    const bool must_call =
        request_.tool_choice && request_.tool_choice->mode == model::ToolChoice::Mode::Required;
    if (must_call && !has_functions && (own_ || request_.tools.empty())) {
      const std::string param(name_of(Field::ToolChoice, request_.dialect));
      return fail(Error::client(ErrorKind::InvalidRequest,
                                "'" + param + "' wants a call, but there is no function to be called",
                                param));
    }
    if (!chosen && !extra_calling && !(own_ && has_extra(request_.extra, "toolConfig"))) return {};
    json_.key("toolConfig").begin_object();
    if (chosen || extra_calling) {
      json_.key("functionCallingConfig").begin_object();
      // VALIDATED, which nobody else has, is kept as it was.
      const bool has_mode = extra_calling && std::ranges::any_of(request_.extra, [&](const auto& field) {
                              return field.key == "toolConfig.functionCallingConfig.mode";
                            });
      if (chosen) write_choice(*choice, has_mode);
      if (own_) write_extra(json_, request_.extra, kCalling);
      json_.end_object();
    }
    if (own_) write_extra(json_, request_.extra, "toolConfig");
    json_.end_object();
    return {};
  }

  void write_choice(const model::ToolChoice& choice, bool has_mode) {
    constexpr std::array<std::string_view, 3> kModes{"AUTO", "NONE", "ANY"};
    if (!has_mode) json_.member("mode", kModes[std::to_underlying(choice.mode)]);
    // Beside AUTO names are refused; the tools were chosen instead.
    if (choice.only.empty() || (choice.mode != model::ToolChoice::Mode::Required && !own_)) return;
    json_.key("allowedFunctionNames").begin_array();
    for (const std::string& name : choice.only) json_.string(name);
    json_.end_array();
  }

  void write_config() {
    constexpr std::string_view kConfig = "generationConfig";
    const std::size_t begin = out_.body.size();
    json_.key(kConfig).begin_object();
    const std::size_t empty = out_.body.size();
    const model::Sampling& sampling = request_.sampling;
    if (sampling.temperature) json_.member("temperature", *sampling.temperature);
    if (sampling.top_p) json_.member("topP", *sampling.top_p);
    if (sampling.top_k) json_.member("topK", *sampling.top_k);
    if (sampling.choices) json_.member("candidateCount", *sampling.choices);
    if (sampling.max_output_tokens) json_.member("maxOutputTokens", *sampling.max_output_tokens);
    write_stop();
    if (sampling.presence_penalty) json_.member("presencePenalty", *sampling.presence_penalty);
    if (sampling.frequency_penalty) json_.member("frequencyPenalty", *sampling.frequency_penalty);
    write_seed();
    const bool wants = sampling.wants_logprobs();
    if (sampling.logprobs || wants)
      json_.member("responseLogprobs", own_ ? sampling.logprobs.value_or(false) : wants);
    if (sampling.top_logprobs && (wants || own_)) json_.member("logprobs", *sampling.top_logprobs);
    write_output();
    write_modalities();
    write_thinking();
    if (own_) write_extra(json_, request_.extra, kConfig);
    const bool said_nothing = out_.body.size() == empty;
    json_.end_object();
    if (said_nothing) out_.body.resize(begin);  // the comma in front of the next member is put by it
  }

  void write_stop() {
    const std::vector<std::string>& stop = request_.sampling.stop;
    if (stop.empty()) return;
    json_.key("stopSequences").begin_array();
    for (const std::string& each : std::span(stop).first(std::min(stop.size(), kStopMax))) json_.string(each);
    json_.end_array();
    if (stop.size() > kStopMax) lose(Field::Stop, loss::kTooMany);
  }

  void write_seed() {
    if (!request_.sampling.seed) return;
    const std::int64_t seed = *request_.sampling.seed;
    const bool fits = seed >= -kSeedMax - 1 && seed <= kSeedMax;
    json_.member("seed", fits ? seed : seed & kSeedMax);
    if (!fits) lose(Field::Seed, loss::kOutOfRange);
  }

  void write_output() {
    if (!request_.output) return;
    const model::OutputFormat& output = *request_.output;
    using Kind = model::OutputFormat::Kind;
    json_.member("responseMimeType", output.kind == Kind::Text ? "text/plain" : "application/json");
    if (output.kind != Kind::JsonSchema || output.schema.empty()) return;
    const std::string place(name_of(Field::JsonSchema, request_.dialect));
    write_schema("responseSchema", "responseJsonSchema", output.schema, place);
    if (!output.description.empty()) losses_.push_back({place + ".description", loss::kNoSuchField});
  }

  void write_modalities() {
    if (!request_.modalities.empty()) {
      json_.key("responseModalities").begin_array();
      for (std::string word : request_.modalities) {
        std::ranges::transform(word, word.begin(),
                               [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
        json_.string(word);
      }
      json_.end_array();
    }
    // Voices have other names here, and the format is always PCM.
    if (!request_.audio_output.empty()) losses_.push_back({"audio", loss::kNoSuchField});
  }

  void write_thinking() {
    constexpr std::string_view kThinking = "generationConfig.thinkingConfig";
    const bool extra = own_ && has_extra(request_.extra, kThinking);
    Thinking thinking;
    if (request_.reasoning) {
      thinking =
          thinking_for(*request_.reasoning, traits_of(target_.upstream_model), request_.dialect, losses_);
    }
    if (thinking.empty() && !extra) return;
    json_.key("thinkingConfig").begin_object();
    if (thinking.include_thoughts) json_.member("includeThoughts", *thinking.include_thoughts);
    if (thinking.budget) json_.member("thinkingBudget", *thinking.budget);
    if (!thinking.level.empty()) json_.member("thinkingLevel", thinking.level);
    if (own_) write_extra(json_, request_.extra, kThinking);
    json_.end_object();
  }

  void write_labels() {
    if (request_.metadata.empty() || request_.metadata == "{}") return;
    if (takes_labels(request_, target_)) json_.raw_member("labels", request_.metadata);
  }

  void write_tier() {
    const std::string& tier = request_.service_tier;
    if (tier.empty() || tier == "auto") return;
    if (is_vertex(target_)) return lose(Field::ServiceTier, loss::kNoSuchField);
    if (tier == "default" || tier == "standard" || tier == "standard_only") {
      json_.member("serviceTier", "standard");
    } else if (tier == "flex" || tier == "priority" || own_) {
      json_.member("serviceTier", tier);
    } else {
      lose(Field::ServiceTier, loss::kNearest);
    }
  }

  const ChatRequest& request_;
  const model::Target& target_;
  Losses& losses_;
  bool own_;
  ChosenTools chosen_;
  EncodedRequest out_;
  JsonWriter json_;
};

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  const std::span<const SupportEntry> table(kSupport);
  const std::size_t without = takes_labels(request, target) ? 1 : 0;
  QQ_CHECK(check_support(request, Dialect::Gemini, table.first(table.size() - without), losses));
  return RequestWriter(request, target, losses).run();
}

}  // namespace qq::dialects::gemini
