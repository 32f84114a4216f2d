#include <algorithm>

#include "dialects/calls.h"
#include "dialects/openai/efforts.h"
#include "dialects/openai/shared_members.h"
#include "dialects/openai_responses/dialect.h"
#include "dialects/openai_responses/input_encode.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/response_object.h"
#include "dialects/reasoning.h"

namespace qq::dialects::openai_responses {
namespace {

using Verdict = Support::Verdict;
constexpr std::size_t kForeignOnly = 3;
constexpr std::array kSupport{
    SupportEntry{Field::TopK, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Seed, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Stop, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Choices, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::LogitBias, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::HostedTools, {Verdict::Lossy, loss::kForeignTool}},
    SupportEntry{Field::VideoInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::OutputModalities, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::ParticipantName, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Refused, loss::kForeignState}},
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
    // Of this dialect they are written as they came.
    SupportEntry{Field::AudioInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::CacheMarks, {Verdict::Lossy, loss::kNoSuchField}},
};
// OpenAI: "integer below minimum value. Expected a value >= 16".
constexpr std::int64_t kOutputMin = 16;

// One system message that is one plain text: what `instructions` is.
const std::string* instructions_in(const model::Turn& turn) noexcept {
  if (turn.role != model::Role::System || turn.parts.size() != 1) return nullptr;
  const model::Part& part = turn.parts.front();
  const auto* text = part.as<model::TextPart>();
  return text == nullptr || part.cache || !part.extra.empty() ? nullptr : &text->text;
}

class RequestWriter {
 public:
  RequestWriter(const model::ChatRequest& request, const model::Target& target, Losses& losses,
                std::string& out)
      : request_(request), target_(target), losses_(losses), json_(out) {}

  Result<> write() {
    json_.begin_object();
    if (target_.quirks.sends_model_in_body) {
      json_.member("model", target_.upstream_model.empty() ? request_.model : target_.upstream_model);
    }
    if (request_.stream) json_.member("stream", true);
    QQ_CHECK(write_conversation());
    const auto is_sent = [](const model::Tool& tool) {
      return tool.kind != model::Tool::Kind::Hosted || tool.hosted_by == kDialect;
    };
    const bool any_tool = std::ranges::any_of(request_.tools, is_sent);
    if (any_tool) {
      json_.key("tools");
      write_tools(json_, request_);
    }
    const auto choice = choice_among(request_, kDialect, is_sent, losses_);
    if (choice || find_extra(request_, "tool_choice") != nullptr) {
      json_.key("tool_choice");
      write_tool_choice(json_, request_, choice.value_or(model::ToolChoice{}));
    }
    if (request_.parallel_tool_calls && (native() || any_tool))
      json_.member("parallel_tool_calls", *request_.parallel_tool_calls);
    // Those who imitate OpenAI's responses may not know them.
    const bool shares = !native() && target_.quirks.chat.openai_words;
    const std::string_view verbosity = shares ? openai::shared_member(request_, "verbosity") : "";
    if (request_.output || has_extra_under("text.") || !verbosity.empty()) {
      json_.key("text");
      write_text(json_, request_, verbosity);
    }
    if (shares) {
      for (const std::string_view name : openai::kSharedAtTop) {
        const std::string_view value = openai::shared_member(request_, name);
        if (!value.empty()) json_.raw_member(name, value);
      }
      openai::forget_shared(losses_);
    }
    write_sampling();
    write_thinking();
    write_plain();
    if (native()) {
      for (const model::ExtraField& extra : request_.extra) {
        const bool elsewhere = extra.key == "include" || extra.key == "tool_choice" ||
                               extra.key.starts_with("text.") || extra.key.starts_with("reasoning.");
        if (!elsewhere) json_.any_key(extra.key).raw(extra.value);
      }
    }
    json_.end_object();
    return {};
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  [[nodiscard]] bool native() const noexcept { return request_.dialect == kDialect; }
  [[nodiscard]] bool has_extra_under(std::string_view path) const noexcept {
    return native() && std::ranges::any_of(request_.extra, [&](const model::ExtraField& extra) {
             return extra.key.starts_with(path);
           });
  }

  Result<> write_conversation() {
    std::size_t first = 0;
    if (!request_.turns.empty()) {
      if (const std::string* instructions = instructions_in(request_.turns.front())) {
        json_.member("instructions", *instructions);
        first = 1;
      }
    }
    if (!request_.previous_response_id.empty()) {
      json_.member("previous_response_id", request_.previous_response_id);
    }
    if (!request_.conversation.empty()) json_.member("conversation", request_.conversation);
    json_.key("input").begin_array();
    InputWriter input(json_, request_, losses_);
    for (std::size_t i = first; i < request_.turns.size(); ++i) QQ_CHECK(input.write(request_.turns[i], i));
    json_.end_array();
    return {};
  }

  void write_sampling() {
    const model::Sampling& sampling = request_.sampling;
    if (sampling.temperature) json_.member("temperature", *sampling.temperature);
    if (sampling.top_p) json_.member("top_p", *sampling.top_p);
    if (sampling.presence_penalty) json_.member("presence_penalty", *sampling.presence_penalty);
    if (sampling.frequency_penalty) json_.member("frequency_penalty", *sampling.frequency_penalty);
    if (sampling.top_logprobs) json_.member("top_logprobs", *sampling.top_logprobs);
    if (!sampling.max_output_tokens) return;
    std::int64_t most = *sampling.max_output_tokens;
    if (!native() && most < kOutputMin) {
      most = kOutputMin;
      lose(Field::MaxOutputTokens, loss::kOutOfRange);
    }
    json_.member("max_output_tokens", most);
  }

  void write_thinking() {
    const model::ReasoningWish wish = request_.reasoning.value_or(model::ReasoningWish{});
    auto effort = effort_of(wish);
    if (!native() && !target_.reasons) {
      if (effort.value_or(Effort::None) != Effort::None) {
        lose(Field::Reasoning, loss::kNoSuchField);
      } else if (wish.show.value_or(false) || !wish.summary.empty()) {
        lose(Field::ReasoningShow, loss::kNoSuchField);
      }
      write_include();
      return;
    }
    if (!native() && effort) {
      const Effort nearest = openai::nearest_effort(*effort, target_);
      if (nearest != *effort && wish.effort) lose(Field::Reasoning, loss::kNearest);
      effort = nearest;
    }
    if (!wish.effort && wish.budget_tokens) {
      lose(Field::Reasoning, loss::kNearest);
    }
    std::string_view summary = wish.summary;
    if (summary.empty() && hears_thoughts(wish, request_.dialect) == true) summary = "auto";
    if (effort || !summary.empty() || has_extra_under("reasoning.")) {
      json_.key("reasoning").begin_object();
      if (effort) json_.member("effort", dialects::word_of(*effort));
      if (!summary.empty()) json_.member("summary", summary);
      if (native()) write_nested(json_, request_.extra, "reasoning.");
      json_.end_object();
    }
    write_include();
  }

  // Callers of other dialects keep nothing at the provider, so thoughts must travel; models that do not think
  // refuse to be asked.
  void write_include() {
    const bool state = request_.wants_reasoning_state || (!native() && target_.reasons);
    const bool logprobs =
        native() ? request_.sampling.logprobs.value_or(false) : request_.sampling.wants_logprobs();
    const auto* others = find_extra(request_, "include");
    if (!state && !logprobs && others == nullptr) return;
    json_.key("include").begin_array();
    if (state) json_.string("reasoning.encrypted_content");
    if (logprobs) json_.string("message.output_text.logprobs");
    if (others != nullptr) {
      for (wire::JsonElements each{wire::JsonValue(others->value)}; each.next();)
        json_.raw(each.value().text());
    }
    json_.end_array();
  }

  void write_plain() {
    // Here the default is to store, elsewhere it is not.
    if (request_.store || !native()) json_.member("store", request_.store.value_or(false));
    const bool shares = native() || target_.quirks.chat.openai_words;
    if (!request_.user.empty() && !(shares && openai::is_user_said_by_safety(request_)))
      json_.member("user", request_.user);
    if (!request_.metadata.empty()) json_.raw_member("metadata", request_.metadata);
    if (!request_.service_tier.empty()) json_.member("service_tier", request_.service_tier);
    if (!request_.cache_key.empty()) json_.member("prompt_cache_key", request_.cache_key);
  }

  const model::ChatRequest& request_;
  const model::Target& target_;
  Losses& losses_;
  wire::JsonWriter json_;
};

// Room for the texts, so that the body grows once.
std::size_t size_of(const model::ChatRequest& request) noexcept {
  std::size_t size = 1024;
  for (const model::Turn& turn : request.turns) {
    for (const model::Part& part : turn.parts) {
      size += 128;
      if (const auto* text = part.as<model::TextPart>()) size += text->text.size();
      if (const auto* media = part.as<model::MediaPart>()) size += media->data.size();
      if (const auto* call = part.as<model::ToolCallPart>()) size += call->arguments.size();
    }
  }
  for (const model::Tool& tool : request.tools) size += 128 + tool.description.size() + tool.schema.size();
  return size;
}

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  const SupportTable all(kSupport);
  const bool native = request.dialect == kDialect;
  QQ_CHECK(check_support(request, kDialect, native ? all.first(all.size() - kForeignOnly) : all, losses));
  EncodedRequest encoded;
  encoded.body.reserve(size_of(request));
  RequestWriter writer(request, target, losses, encoded.body);
  QQ_CHECK(writer.write());
  return encoded;
}

}  // namespace qq::dialects::openai_responses
