// Ollama's own /api/chat: lines of JSON, of which the last says "done":true and has the counts. A call comes
// whole in one line, its arguments are an object, and it has no id. It streams unless told not to.
// https://docs.ollama.com/api/chat
#include "simulator/provider/voices/read.h"
#include "simulator/provider/voices/voice.h"
#include "wire/json_writer.h"

namespace qq::simulator {
namespace {

using model::PartKind;
using model::StreamEvent;

constexpr std::string_view kCreatedAt = "2026-01-01T00:00:00Z";  // chat.h's kCreated

// ---- The request

model::Turn ollama_turn(wire::JsonValue message) {
  model::Turn turn;
  const std::string role = text_member(message, "role");
  std::string content = text_member(message, "content");
  if (role == "tool") {
    model::ToolResultPart result;
    result.name = text_member(message, "tool_name");
    result.content.push_back(text_part(std::move(content)));
    turn.parts.push_back(model::Part(std::move(result)));
    return turn;
  }
  if (role == "system") turn.role = model::Role::System;
  if (role == "assistant") turn.role = model::Role::Assistant;
  if (std::string thought = text_member(message, "thinking"); !thought.empty())
    turn.parts.push_back(model::Part(model::ReasoningPart{.text = std::move(thought), .id = {}}));
  if (!content.empty()) turn.parts.push_back(text_part(std::move(content)));
  for (std::string& image : texts_of(message.member("images")))
    turn.parts.push_back(model::Part(model::MediaPart{.data = std::move(image), .media_type = "image/png"}));
  if (const auto calls = message.member("tool_calls")) {
    for (wire::JsonElements items(*calls); items.next();)
      turn.parts.push_back(function_call_part(items.value()));
  }
  return turn;
}

Result<model::ChatRequest> read_ollama(std::string_view body, const dialects::RequestHead& /*head*/) {
  const wire::JsonValue document(body);
  model::ChatRequest request;
  request.dialect = model::Dialect::Ollama;
  request.model = text_member(document, "model");
  const auto stream = document.member("stream");
  request.stream = !stream || !stream->is_false();
  if (const auto messages = document.member("messages")) {
    for (wire::JsonElements items(*messages); items.next();)
      request.turns.push_back(ollama_turn(items.value()));
  }
  if (const auto tools = document.member("tools")) {
    for (wire::JsonElements items(*tools); items.next();)
      request.tools.push_back(function_tool(items.value()));
  }
  if (const auto format = document.member("format")) {
    model::OutputFormat output;
    output.kind =
        format->is_object() ? model::OutputFormat::Kind::JsonSchema : model::OutputFormat::Kind::JsonObject;
    if (format->is_object()) output.schema = format->text();
    if (format->is_object() || format->string() == "json") request.output = std::move(output);
  }
  if (const auto options = document.member("options")) {
    request.sampling.max_output_tokens = integer_member(*options, "num_predict");
    request.sampling.stop = texts_of(options->member("stop"));
  }
  if (const auto think = document.member("think"); think && !think->is_null()) {
    model::ReasoningWish wish;
    wish.budget_tokens = think->is_false() ? 0 : -1;
    request.reasoning = std::move(wish);
  }
  return request;
}

// ---- The answer

std::string_view ollama_reason(model::Finish finish, std::string_view word) noexcept {
  if (!word.empty()) return word;
  return finish == model::Finish::Length ? "length" : "stop";
}

void begin_ollama_line(wire::JsonWriter& json, std::string_view name) {
  json.begin_object().member("model", name).member("created_at", kCreatedAt);
  json.key("message").begin_object().member("role", "assistant");
}

void write_ollama_call(wire::JsonWriter& json, const model::ToolCallPart& call) {
  json.begin_object().key("function").begin_object().member("name", call.name);
  json.raw_member("arguments", call.arguments.empty() ? std::string_view("{}") : call.arguments);
  json.end_object().end_object();
}

// Durations are in nanoseconds.
void write_ollama_end(wire::JsonWriter& json, std::string_view reason, const model::Usage& usage) {
  json.member("done_reason", reason).member("done", true);
  json.member("total_duration", 5'000'000).member("load_duration", 1'000'000);
  json.member("prompt_eval_count", usage.input_total()).member("prompt_eval_duration", 1'000'000);
  json.member("eval_count", usage.output_total()).member("eval_duration", 3'000'000);
  json.end_object();
}

std::string tell_ollama(const model::ChatAnswer& answer, const model::ChatRequest& /*request*/,
                        const dialects::AnswerHead& head) {
  static const model::Choice kNothing;
  const model::Choice& choice = answer.choices.empty() ? kNothing : answer.choices.front();
  std::string out;
  wire::JsonWriter json(out);
  begin_ollama_line(json, head.model);
  std::string content;
  std::string thinking;
  bool calls = false;
  for (const model::Part& part : choice.parts) {
    if (const auto* text = part.as<model::TextPart>()) content += text->text;
    if (const auto* thought = part.as<model::ReasoningPart>()) thinking += thought->text;
    calls = calls || part.as<model::ToolCallPart>() != nullptr;
  }
  json.member("content", content);
  if (!thinking.empty()) json.member("thinking", thinking);
  if (calls) {
    json.key("tool_calls").begin_array();
    for (const model::Part& part : choice.parts) {
      if (const auto* call = part.as<model::ToolCallPart>()) write_ollama_call(json, *call);
    }
    json.end_array();
  }
  json.end_object();
  write_ollama_end(json, ollama_reason(choice.finish, choice.finish_word), answer.usage);
  return out;
}

class OllamaStream final : public dialects::StreamEncoder {
 public:
  explicit OllamaStream(std::string_view name) : name_(name) {}

  void encode(const StreamEvent& event, std::string& out) override {
    using Kind = StreamEvent::Kind;
    switch (event.kind) {
      case Kind::PartStarted:
        part_ = event.part_kind;
        call_ = {.id = {}, .name = std::string(event.name), .arguments = {}};
        break;
      case Kind::TextDelta:
        begin(out).member("content", part_ == PartKind::Reasoning ? std::string_view() : event.text);
        if (part_ == PartKind::Reasoning) json_->member("thinking", event.text);
        end(out);
        break;
      case Kind::ArgumentsDelta: call_.arguments += event.text; break;
      case Kind::PartFinished:
        if (part_ != PartKind::ToolCall) break;
        begin(out).member("content", "").key("tool_calls").begin_array();
        write_ollama_call(*json_, call_);
        json_->end_array();
        end(out);
        break;
      case Kind::UsageSoFar: usage_ = *event.usage; break;
      case Kind::Finished: reason_ = ollama_reason(event.finish, event.word); break;
      case Kind::End:
        begin(out).member("content", "").end_object();
        write_ollama_end(*json_, reason_, usage_);
        out += '\n';
        break;
      default: break;
    }
  }

 private:
  wire::JsonWriter& begin(std::string& out) {
    json_.emplace(out);
    begin_ollama_line(*json_, name_);
    return *json_;
  }
  void end(std::string& out) {
    json_->end_object().member("done", false).end_object();
    out += '\n';
  }

  std::string name_;
  std::optional<wire::JsonWriter> json_;
  PartKind part_ = PartKind::Text;
  model::ToolCallPart call_;
  model::Usage usage_;
  std::string reason_ = "stop";
};

std::unique_ptr<dialects::StreamEncoder> stream_ollama(const model::ChatRequest& /*request*/,
                                                       const dialects::AnswerHead& head) {
  return std::make_unique<OllamaStream>(head.model);
}

}  // namespace

const Voice kOllamaVoice{.dialect = model::Dialect::Ollama,
                         .name = "ollama chat",
                         .call_id_prefix = "",
                         .call_id_length = 0,
                         .signs = Voice::Signs::Nothing,
                         .stream_type = "application/x-ndjson",
                         .read = read_ollama,
                         .whole = tell_ollama,
                         .stream = stream_ollama,
                         .form = StreamForm::Lines};

}  // namespace qq::simulator
