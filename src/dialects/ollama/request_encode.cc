// A request for a target. What is decided here and not in the table is told in dialect.h.
#include <algorithm>
#include <array>
#include <map>

#include "dialects/anthropic/schema.h"
#include "dialects/body_size.h"
#include "dialects/calls.h"
#include "dialects/ollama/sides.h"
#include "dialects/plain_messages.h"
#include "dialects/reasoning.h"
#include "wire/json_writer.h"

namespace qq::dialects::ollama {
namespace {

using model::ChatRequest;
using model::Dialect;
using model::MediaPart;
using model::OutputFormat;
using model::Part;
using model::Role;
using model::ToolChoice;
using Verdict = Support::Verdict;

constexpr std::array kSupport{
    SupportEntry{Field::ForeignParts, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::ForeignState, {Verdict::Lossy, loss::kForeignState}},
    SupportEntry{Field::HostedTools, {Verdict::Lossy, loss::kForeignTool}},
    SupportEntry{Field::Extra, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Choices, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::LogitBias, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::StrictTools, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CustomTools, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::ParallelToolCalls, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::ReasoningSummary, {Verdict::Lossy, loss::kNearest}},
    SupportEntry{Field::AudioInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::VideoInput, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::OutputModalities, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::ParticipantName, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Citations, {Verdict::Lossy, loss::kForeignPart}},
    SupportEntry{Field::User, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Metadata, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::ServiceTier, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CacheKey, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::CachedContent, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::CacheMarks, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::Store, {Verdict::Lossy, loss::kNoSuchField}},
    SupportEntry{Field::PreviousResponse, {Verdict::Refused, loss::kNoSuchField}},
    SupportEntry{Field::Conversation, {Verdict::Refused, loss::kNoSuchField}},
};

class RequestWriter {
 public:
  RequestWriter(const ChatRequest& request, const model::Target& target, Losses& losses, std::string& out)
      : request_(request), target_(target), losses_(losses), json_(out), chosen_(request) {}

  Result<> write() {
    json_.begin_object().member("model", target_.upstream_model).member("stream", request_.stream);
    json_.key("messages").begin_array();
    for (std::size_t turn = 0; turn < request_.turns.size();) {
      const model::Turn& at = request_.turns[turn];
      if (at.role == Role::Assistant) {
        assistant(turn);
        continue;
      }
      ++turn;
      if (at.role == Role::User) QQ_CHECK(user(at));
      if (at.role != Role::User) system(at);
    }
    json_.end_array();
    tools();
    format();
    options();
    thinking();
    const bool logprobs = request_.sampling.wants_logprobs();
    if (request_.sampling.logprobs || logprobs) json_.member("logprobs", logprobs);
    if (request_.sampling.top_logprobs && logprobs)
      json_.member("top_logprobs", *request_.sampling.top_logprobs);
    json_.end_object();
    return {};
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  void lose_once(bool& done, std::string field, std::string_view why) {
    if (!std::exchange(done, true)) losses_.push_back({std::move(field), why});
  }

  // ---- Messages, whose content is one text

  void system(const model::Turn& turn) {
    std::string text;
    for (const Part& part : turn.parts) add_text(part, text);
    if (!text.empty()) json_.begin_object().member("role", "system").member("content", text).end_object();
  }
  static void add_text(const Part& part, std::string& out) {
    if (const auto* text = part.as<model::TextPart>()) add_paragraph(text->text, out);
  }
  static void add_paragraph(std::string_view text, std::string& out) {
    if (text.empty()) return;
    if (!out.empty()) out += "\n\n";
    out += text;
  }

  Result<> user(const model::Turn& turn) {
    const SplitTurn split = split_user_turn(turn);
    for (const model::ToolResultPart* result : split.results) {
      json_.begin_object().member("role", "tool").member("content", text_of_result(*result));
      const std::string_view name = result->name.empty() ? name_of_call(result->call_id) : result->name;
      if (!name.empty()) json_.member("tool_name", name);
      if (!result->call_id.empty()) json_.member("tool_call_id", result->call_id);
      json_.end_object();
      if (result->is_error) lose_once(error_lost_, "is_error", loss::kNoSuchField);
    }
    if (split.moved_media) lose(Field::ImageInput, loss::kNearest);
    std::string text;
    std::vector<const MediaPart*> images;
    for (const Part* part : split.rest) {
      add_text(*part, text);
      if (const auto* media = part->as<MediaPart>()) QQ_CHECK(take_media(*media, text, images));
    }
    if (text.empty() && images.empty()) return {};
    json_.begin_object().member("role", "user").member("content", text);
    if (!images.empty()) {
      json_.key("images").begin_array();
      for (const MediaPart* image : images) json_.string(image->data);
      json_.end_array();
    }
    json_.end_object();
    return {};
  }
  Result<> take_media(const MediaPart& media, std::string& text, std::vector<const MediaPart*>& images) {
    const auto refused = [&](Field field, std::string why) {
      return fail(Error::client(ErrorKind::InvalidRequest, std::move(why),
                                std::string(name_of(field, request_.dialect))));
    };
    if (media.kind == MediaPart::Kind::Image) {
      if (media.source != MediaPart::Source::Base64)
        return refused(Field::ImageInput, "this model's provider fetches no images: send their bytes");
      images.push_back(&media);
      return {};
    }
    const auto content = file_as_text(media);
    if (!content)
      return refused(Field::FileInput,
                     "files other than text are not possible with this model: send their text");
    lose(Field::FileInput, loss::kNearest);
    add_paragraph(*content, text);
    return {};
  }
  // Of the last call with this id.
  [[nodiscard]] std::string_view name_of_call(std::string_view id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::string_view() : found->second;
  }

  void assistant(std::size_t& turn) {
    const Spoken spoken = spoken_from(request_.turns, turn);
    if (spoken.has_media) lose_once(media_lost_, "messages[].content", loss::kNoPlace);
    if (spoken.text.empty() && spoken.thoughts.empty() && spoken.calls.empty()) return;
    json_.begin_object().member("role", "assistant").member("content", spoken.text);
    if (!spoken.thoughts.empty()) json_.member("thinking", spoken.thoughts);
    if (!spoken.calls.empty()) {
      json_.key("tool_calls").begin_array();
      for (const model::ToolCallPart* call : spoken.calls) write_call(*call);
      json_.end_array();
    }
    json_.end_object();
  }
  void write_call(const model::ToolCallPart& call) {
    names_[call.id] = call.name;
    bool wrapped = false;
    json_.begin_object();
    if (!call.id.empty()) json_.member("id", call.id);
    json_.key("function").begin_object().member("name", call.name);
    json_.raw_member("arguments", input_of(call, wrapped)).end_object().end_object();
    if (wrapped) losses_.push_back({"messages[].tool_calls", loss::kNotJson});
  }

  // ---- Tools

  void tools() {
    const ToolChoice choice = request_.tool_choice.value_or(ToolChoice{});
    if (choice.mode == ToolChoice::Mode::Required) lose(Field::ToolChoice, loss::kNoSuchField);
    if (choice.mode == ToolChoice::Mode::None) return;
    bool begun = false;
    for (const model::Tool& tool : request_.tools) {
      if (tool.kind == model::Tool::Kind::Hosted || !chosen_.has(tool.name)) continue;
      if (!std::exchange(begun, true)) json_.key("tools").begin_array();
      const bool custom = tool.kind == model::Tool::Kind::Custom;
      json_.begin_object().member("type", "function").key("function").begin_object();
      json_.member("name", tool.name);
      if (!tool.description.empty()) json_.member("description", tool.description);
      json_.raw_member("parameters",
                       custom ? std::string(kCustomInputSchema) : anthropic::input_schema(tool.schema));
      json_.end_object().end_object();
    }
    if (begun) json_.end_array();
  }

  // ---- How it is answered

  void format() {
    if (!request_.output || request_.output->kind == OutputFormat::Kind::Text) return;
    const bool schema =
        request_.output->kind == OutputFormat::Kind::JsonSchema && !request_.output->schema.empty();
    json_.raw_member("format", schema ? std::string_view(request_.output->schema) : "\"json\"");
  }

  void options() {
    const model::Sampling& wish = request_.sampling;
    bool begun = false;
    const auto option = [&](std::string_view name, const auto& value) {
      if (!value) return;
      if (!std::exchange(begun, true)) json_.key("options").begin_object();
      json_.member(name, *value);
    };
    option("num_predict", wish.max_output_tokens);
    option("temperature", wish.temperature);
    option("top_p", wish.top_p);
    option("top_k", wish.top_k);
    option("seed", wish.seed);
    option("presence_penalty", wish.presence_penalty);
    option("frequency_penalty", wish.frequency_penalty);
    if (!wish.stop.empty()) {
      if (!std::exchange(begun, true)) json_.key("options").begin_object();
      json_.key("stop").begin_array();
      for (const std::string& text : wish.stop) json_.string(text);
      json_.end_array();
    }
    if (begun) json_.end_object();
  }

  void thinking() {
    if (!request_.reasoning) return;
    const auto effort = effort_of(*request_.reasoning);
    if (!target_.reasons) {
      if (effort.value_or(Effort::None) != Effort::None) lose(Field::Reasoning, loss::kNoSuchField);
      return;
    }
    const bool levels = target_.upstream_model.find("gpt-oss") != std::string::npos;
    if (!effort) {
      if (request_.reasoning->show.value_or(false) && !levels) json_.member("think", true);
      return;
    }
    if (levels) {
      const Effort nearest = std::clamp(*effort, Effort::Low, Effort::High);
      json_.member("think", word_of(nearest));
      if (nearest != *effort) lose(Field::Reasoning, loss::kNearest);
      return;
    }
    json_.member("think", *effort != Effort::None);
    if (*effort != Effort::None) lose(Field::Reasoning, loss::kNearest);
  }

  const ChatRequest& request_;
  const model::Target& target_;
  Losses& losses_;
  wire::JsonWriter json_;
  ChosenTools chosen_;
  std::map<std::string_view, std::string_view> names_;  // of the calls, by their ids
  bool error_lost_ = false;
  bool media_lost_ = false;
};

}  // namespace

SupportTable support() noexcept {
  return kSupport;
}

Result<EncodedRequest> encode_request(const ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  QQ_CHECK(check_support(request, Dialect::Ollama, support(), losses));
  EncodedRequest out;
  out.body.reserve(body_size_hint(request));
  QQ_CHECK(RequestWriter(request, target, losses, out.body).write());
  return out;
}

}  // namespace qq::dialects::ollama
