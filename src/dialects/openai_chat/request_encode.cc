// The neutral request to a body for a target, in the words that its kind of provider takes.
#include <algorithm>
#include <set>

#include "dialects/calls.h"
#include "dialects/openai/efforts.h"
#include "dialects/openai/shared_members.h"
#include "dialects/openai_chat/dialect.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/reasoning.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_chat {
namespace {

using model::ChatQuirks;
using model::ChatRequest;
using wire::JsonWriter;
using Verdict = Support::Verdict;

// Members of OpenRouter's `reasoning` that are not understood, as request_decode.cc keeps them.
constexpr std::string_view kOfReasoning = "reasoning.";

constexpr std::array kSupport{
    SupportEntry{Field::TopK, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::HostedTools, {Verdict::Lossy, loss::kForeignTool}},
    SupportEntry{Field::ReasoningSummary, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CacheMarks, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PreviousResponse, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Conversation, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
};

// The table without what this target does take.
Result<> check_for(const ChatRequest& request, const ChatQuirks& quirks, Losses& losses) {
  std::array<SupportEntry, kSupport.size()> table{};
  std::size_t size = 0;
  for (const SupportEntry& entry : kSupport) {
    const bool taken = (entry.field == Field::TopK && quirks.takes_top_k) ||
                       (entry.field == Field::CacheMarks && quirks.takes_cache_control) ||
                       (entry.field == Field::Citations && request.dialect == model::Dialect::OpenAiChat);
    if (!taken) table[size++] = entry;
  }
  return check_support(request, model::Dialect::OpenAiChat, SupportTable(table).first(size), losses);
}

bool names_file(const std::vector<model::Part>& parts) noexcept {
  return std::ranges::any_of(parts, [](const model::Part& part) {
    if (const auto* result = part.as<model::ToolResultPart>()) return names_file(result->content);
    const auto* media = part.as<model::MediaPart>();
    return media != nullptr && media->source == model::MediaPart::Source::FileId;
  });
}

// An id that was given by another provider may be one of somebody else's files at this one.
Result<> check_files(const ChatRequest& request) {
  const bool is_openais =
      request.dialect == model::Dialect::OpenAiChat || request.dialect == model::Dialect::OpenAiResponses;
  const bool is_foreign = !is_openais && std::ranges::any_of(request.turns, [](const model::Turn& turn) {
    return names_file(turn.parts);
  });
  if (!is_foreign) return {};
  Error error =
      Error::client(ErrorKind::InvalidRequest,
                    "a file that lies at another provider cannot be given to this model; send its bytes",
                    std::string(name_of(Field::FileInput, request.dialect)));
  error.type = "invalid_request_error";
  return fail(std::move(error));
}

class BodyWriter {
 public:
  BodyWriter(const ChatRequest& request, const model::Target& target, std::string& out, Losses& losses)
      : request_(request),
        quirks_(target.quirks.chat),
        target_(target),
        json_(out),
        losses_(losses),
        chosen_(request) {
    for (const model::Tool& tool : request.tools) {
      if (tool.kind == model::Tool::Kind::Custom) custom_.insert(tool.name);
    }
  }

  void write(std::string& out) {
    json_.begin_object();
    if (target_.quirks.sends_model_in_body && !target_.upstream_model.empty())
      json_.member("model", target_.upstream_model);
    json_.key("messages").raw("");
    encode_messages(request_, target_, out, losses_);
    write_stream();
    write_tools();
    write_format();
    write_reasoning();
    write_sampling();
    write_rest();
    json_.end_object();
  }

 private:
  [[nodiscard]] bool own() const noexcept { return request_.dialect == model::Dialect::OpenAiChat; }
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  // Whether a member that strict providers don't know may be written; a loss if not.
  bool takes(bool asked, Field field) {
    if (asked && quirks_.strict_fields) lose(field, loss::kNoSuchField);
    return asked && !quirks_.strict_fields;
  }

  void write_stream() {
    if (!request_.stream) return;
    json_.member("stream", true);
    const bool asks = request_.usage_in_stream || target_.quirks.force_include_usage;
    if (asks && !target_.quirks.refuses_include_usage)
      json_.raw_member("stream_options", R"({"include_usage":true})");
  }

  void write_tools() {
    using Mode = model::ToolChoice::Mode;
    const auto is_ours = [](const model::Tool& tool) {
      return tool.kind != model::Tool::Kind::Hosted || tool.hosted_by == model::Dialect::OpenAiChat;
    };
    const auto choice = choice_among(request_, model::Dialect::OpenAiChat, is_ours, losses_);
    // Where nothing can be forbidden in words, tools are left out.
    if (choice && choice->mode == Mode::None && quirks_.must_call == ChatQuirks::MustCall::Never) return;
    const bool one = choice && choice->mode == Mode::Required && choice->only.size() == 1;
    const bool fewer = choice && !choice->only.empty() && !one && !quirks_.openai_words;
    bool any = false;
    for (const model::Tool& tool : request_.tools) {
      if (!is_ours(tool) || (fewer && !chosen_.has(tool.name))) continue;
      if (!std::exchange(any, true)) json_.key("tools").begin_array();
      write_tool(tool);
    }
    if (!any) return;
    json_.end_array();
    if (choice) write_choice(*choice, one, fewer);
    if (request_.parallel_tool_calls) json_.member("parallel_tool_calls", *request_.parallel_tool_calls);
  }

  void write_tool(const model::Tool& tool) {
    if (tool.kind == model::Tool::Kind::Hosted) {
      json_.raw(tool.schema);
      return;
    }
    const bool is_custom = tool.kind == model::Tool::Kind::Custom;
    const bool own = request_.dialect == model::Dialect::OpenAiChat;
    constexpr std::string_view kInside = "function.";
    json_.begin_object();
    json_.member("type", is_custom ? "custom" : "function");
    json_.key(is_custom ? "custom" : "function").begin_object();
    json_.member("name", tool.name);
    if (!tool.description.empty()) json_.member("description", tool.description);
    if (!tool.schema.empty()) json_.raw_member(is_custom ? "format" : "parameters", tool.schema);
    if (tool.strict) json_.member("strict", *tool.strict);
    for (const model::ExtraField& extra : tool.extra) {
      if (own && extra.key.starts_with(kInside))
        json_.any_key(extra.key.substr(kInside.size())).raw(extra.value);
    }
    json_.end_object();
    for (const model::ExtraField& extra : tool.extra) {
      if (own && !extra.key.starts_with(kInside)) json_.any_key(extra.key).raw(extra.value);
    }
    if (tool.cache && quirks_.takes_cache_control) json_.key("cache_control").raw(cache_control(*tool.cache));
    json_.end_object();
  }

  void write_choice(const model::ToolChoice& choice, bool one, bool fewer) {
    using Mode = model::ToolChoice::Mode;
    using MustCall = ChatQuirks::MustCall;
    json_.key("tool_choice");
    if (quirks_.must_call == MustCall::Never) {
      if (choice.mode != Mode::Auto) lose(Field::ToolChoice, loss::kNearest);
      json_.string("auto");
    } else if (one) {
      write_named(choice.only.front());
    } else {
      const bool any = choice.mode == Mode::Required && quirks_.must_call == MustCall::Any;
      const std::string_view word = choice.mode == Mode::None       ? "none"
                                    : choice.mode != Mode::Required ? "auto"
                                    : any                           ? "any"
                                                                    : "required";
      if (choice.only.empty() || fewer || choice.mode == Mode::None) {
        json_.string(word);
        return;
      }
      json_.begin_object().member("type", "allowed_tools").key("allowed_tools").begin_object();
      json_.member("mode", word).key("tools").begin_array();
      for (const std::string& name : choice.only) write_named(name);
      json_.end_array().end_object().end_object();
    }
  }
  void write_named(const std::string& name) {
    const std::string_view kind = custom_.contains(name) ? "custom" : "function";
    json_.begin_object().member("type", kind).key(kind).begin_object();
    json_.member("name", name).end_object().end_object();
  }

  void write_format() {
    if (!request_.output) return;
    const model::OutputFormat& output = *request_.output;
    using Kind = model::OutputFormat::Kind;
    json_.key("response_format").begin_object();
    if (output.kind != Kind::JsonSchema) {
      json_.member("type", output.kind == Kind::Text ? "text" : "json_object").end_object();
      return;
    }
    json_.member("type", "json_schema").key("json_schema").begin_object();
    // A name is asked for, and other dialects have none.
    json_.member("name", output.name.empty() ? std::string_view("response") : std::string_view(output.name));
    if (!output.description.empty()) json_.member("description", output.description);
    if (!output.schema.empty()) json_.raw_member("schema", output.schema);
    if (output.strict) json_.member("strict", *output.strict);
    json_.end_object().end_object();
  }

  void write_effort(Effort effort) {
    // OpenRouter finds the nearest itself.
    const bool every = quirks_.thinking == ChatQuirks::Thinking::Object || own();
    const Effort word = every ? effort : openai::nearest_effort(effort, target_);
    if (word != effort) lose(Field::Reasoning, loss::kNearest);
    json_.member(quirks_.thinking == ChatQuirks::Thinking::Object ? "effort" : "reasoning_effort",
                 word_of(word));
  }

  void write_reasoning() {
    const model::ReasoningWish wish = request_.reasoning.value_or(model::ReasoningWish{});
    const std::optional<Effort> effort = effort_of(wish);
    using Thinking = ChatQuirks::Thinking;
    switch (quirks_.thinking) {
      case Thinking::Object: write_reasoning_object(wish, effort); return;
      case Thinking::Budget:
        if (!effort) return;
        json_.member("enable_thinking", *effort != Effort::None);
        if (const auto budget = budget_of(wish); budget && *budget > 0)
          json_.member("thinking_budget", *budget);
        return;
      case Thinking::Switch:
      case Thinking::SwitchAndEffort:
        if (!effort) return;
        json_.key("thinking").begin_object();
        json_.member("type", *effort == Effort::None ? "disabled" : "enabled").end_object();
        if (*effort == Effort::None) return;
        if (quirks_.thinking == Thinking::SwitchAndEffort) {
          write_effort(*effort);
        } else {
          lose(Field::Reasoning, loss::kNearest);
        }
        return;
      case Thinking::Effort:
        if (!own() && !target_.reasons) {
          // Models that do not think refuse to be told how much.
          if (effort.value_or(Effort::None) != Effort::None) lose(Field::Reasoning, loss::kNoSuchField);
          return;
        }
        if (effort && !wish.effort && *effort != Effort::None) lose(Field::Reasoning, loss::kNearest);
        if (effort) write_effort(*effort);
        return;
    }
  }

  void write_reasoning_object(const model::ReasoningWish& wish, std::optional<Effort> effort) {
    const bool own = request_.dialect == model::Dialect::OpenAiChat;
    const auto is_inside = [](const model::ExtraField& extra) { return extra.key.starts_with(kOfReasoning); };
    if (!request_.reasoning && !(own && std::ranges::any_of(request_.extra, is_inside))) return;
    json_.key("reasoning").begin_object();
    if (wish.budget_tokens.value_or(0) > 0 && !wish.effort) {
      json_.member("max_tokens", *wish.budget_tokens);
    } else if (effort) {
      write_effort(*effort);
    }
    if (wish.show) json_.member("exclude", !*wish.show);
    for (const model::ExtraField& extra : request_.extra) {
      if (own && is_inside(extra)) json_.any_key(extra.key.substr(kOfReasoning.size())).raw(extra.value);
    }
    json_.end_object();
  }

  void write_number(std::string_view name, const std::optional<double>& value) {
    if (value) json_.member(name, *value);
  }
  void write_integer(std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) json_.member(name, *value);
  }

  void write_sampling() {
    const model::Sampling& sampling = request_.sampling;
    write_integer(quirks_.openai_words ? "max_completion_tokens" : "max_tokens", sampling.max_output_tokens);
    const bool own = request_.dialect == model::Dialect::OpenAiChat;
    if (!own && sampling.temperature.value_or(0) > quirks_.temperature_max) {
      lose(Field::Temperature, loss::kOutOfRange);
      json_.member("temperature", quirks_.temperature_max);
    } else {
      write_number("temperature", sampling.temperature);
    }
    write_number("top_p", sampling.top_p);
    if (quirks_.takes_top_k) write_integer("top_k", sampling.top_k);
    write_number("presence_penalty", sampling.presence_penalty);
    write_number("frequency_penalty", sampling.frequency_penalty);
    write_integer(quirks_.strict_fields ? "random_seed" : "seed", sampling.seed);
    write_integer("n", sampling.choices);
    // Its own caller is told by its provider that a count needs the flag.
    const bool wants = own ? sampling.logprobs.value_or(false) : sampling.wants_logprobs();
    if (sampling.logprobs || wants) json_.member("logprobs", wants);
    if (own || wants) write_integer("top_logprobs", sampling.top_logprobs);
    if (takes(!sampling.logit_bias.empty(), Field::LogitBias))
      json_.raw_member("logit_bias", sampling.logit_bias);
    if (sampling.stop.empty()) return;
    // OpenAI takes four; a caller of its own dialect is told so by it.
    constexpr std::size_t kStopMax = 4;
    std::size_t count = sampling.stop.size();
    if (quirks_.openai_words && !own && count > kStopMax) {
      count = kStopMax;
      lose(Field::Stop, loss::kTooMany);
    }
    json_.key("stop").begin_array();
    for (std::size_t i = 0; i < count; ++i) json_.string(sampling.stop[i]);
    json_.end_array();
  }

  void write_rest() {
    if (takes(!request_.modalities.empty(), Field::OutputModalities)) {
      json_.key("modalities").begin_array();
      for (const std::string& modality : request_.modalities) json_.string(modality);
      json_.end_array();
    }
    if (!request_.audio_output.empty()) json_.raw_member("audio", request_.audio_output);
    const bool shares = !own() && quirks_.openai_words;
    const bool said = (shares || own()) && openai::is_user_said_by_safety(request_);
    if (takes(!request_.user.empty() && !said, Field::User)) json_.member("user", request_.user);
    if (shares) {
      for (const std::string_view name : openai::kSharedAtTop) write_shared(name);
      write_shared("verbosity");
      openai::forget_shared(losses_);
    }
    // OpenAI keeps it with the answer, and refuses it with one that is not kept.
    const bool kept = own() || !quirks_.openai_words || request_.store.value_or(false);
    if (!request_.metadata.empty() && kept) json_.raw_member("metadata", request_.metadata);
    if (!kept && !request_.metadata.empty() && request_.metadata != "{}")
      lose(Field::Metadata, loss::kNotTogether);
    if (takes(!request_.service_tier.empty(), Field::ServiceTier))
      json_.member("service_tier", request_.service_tier);
    if (takes(!request_.cache_key.empty(), Field::CacheKey))
      json_.member("prompt_cache_key", request_.cache_key);
    if (request_.store && takes(true, Field::Store)) json_.member("store", *request_.store);
    if (request_.cache && quirks_.takes_cache_control)
      json_.key("cache_control").raw(cache_control(*request_.cache));
    if (request_.dialect != model::Dialect::OpenAiChat) return;
    for (const model::ExtraField& extra : request_.extra) {
      if (!extra.key.starts_with(kOfReasoning)) {
        json_.any_key(extra.key).raw(extra.value);
      } else if (quirks_.thinking != ChatQuirks::Thinking::Object) {
        losses_.push_back({extra.key, loss::kNoSuchField});
      }
    }
  }

  void write_shared(std::string_view name) {
    if (const auto value = openai::shared_member(request_, name); !value.empty())
      json_.raw_member(name, value);
  }

  const ChatRequest& request_;
  const ChatQuirks& quirks_;
  const model::Target& target_;
  JsonWriter json_;
  Losses& losses_;
  ChosenTools chosen_;
  std::set<std::string_view> custom_;  // names of custom tools
};

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

std::string_view cache_control(const model::CacheMark& mark) noexcept {
  switch (mark.ttl) {
    case model::CacheMark::Ttl::Default: break;
    case model::CacheMark::Ttl::FiveMinutes: return R"({"type":"ephemeral","ttl":"5m"})";
    case model::CacheMark::Ttl::OneHour: return R"({"type":"ephemeral","ttl":"1h"})";
  }
  return R"({"type":"ephemeral"})";
}

Result<std::string> encode_request(const ChatRequest& request, const model::Target& target, Losses& losses) {
  QQ_CHECK(check_for(request, target.quirks.chat, losses));
  QQ_CHECK(check_files(request));
  std::string out;
  out.reserve(4096);
  BodyWriter(request, target, out, losses).write(out);
  return out;
}

}  // namespace qq::dialects::openai_chat
