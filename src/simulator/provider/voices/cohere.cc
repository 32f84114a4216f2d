// Cohere's v2/chat: https://docs.cohere.com/reference/chat, …/chat-stream. Before it calls tools the model
// says what for (`tool_plan`), which is an opaque part here. A call is an object, not a list, in stream
// events; the stream ends in message-end and [DONE].
#include <fmt/format.h>

#include <algorithm>

#include "simulator/provider/answer.h"
#include "simulator/provider/tokens.h"
#include "simulator/provider/voices/read.h"
#include "simulator/provider/voices/voice.h"
#include "wire/json_writer.h"

namespace qq::simulator {
namespace {

using model::PartKind;
using model::StreamEvent;

// ---- The request

void read_cohere_content(wire::JsonValue content, std::vector<model::Part>& parts) {
  if (content.is_string()) {
    parts.push_back(text_part(content.string()));
    return;
  }
  for (wire::JsonElements items(content); items.next();) {
    const wire::JsonValue item = items.value();
    const std::string type = text_member(item, "type");
    if (type == "image_url") {
      model::MediaPart image;
      image.source = model::MediaPart::Source::Url;
      if (const auto url = item.at("image_url", "url")) image.data = url->string();
      parts.push_back(model::Part(std::move(image)));
    } else if (type == "thinking") {
      parts.push_back(model::Part(model::ReasoningPart{.text = text_member(item, "thinking"), .id = {}}));
    } else if (const auto data = item.at("document", "data")) {
      parts.push_back(text_part(data->is_string() ? data->string() : std::string(data->text())));
    } else {
      parts.push_back(text_part(text_member(item, "text")));
    }
  }
}

model::Turn cohere_turn(wire::JsonValue message) {
  model::Turn turn;
  const std::string role = text_member(message, "role");
  const auto content = message.member("content");
  if (role == "tool") {
    model::ToolResultPart result;
    result.call_id = text_member(message, "tool_call_id");
    if (content) read_cohere_content(*content, result.content);
    turn.parts.push_back(model::Part(std::move(result)));
    return turn;
  }
  if (role == "system") turn.role = model::Role::System;
  if (role == "assistant") turn.role = model::Role::Assistant;
  if (content) read_cohere_content(*content, turn.parts);
  if (const auto calls = message.member("tool_calls")) {
    for (wire::JsonElements items(*calls); items.next();)
      turn.parts.push_back(function_call_part(items.value()));
  }
  return turn;
}

void read_cohere_format(wire::JsonValue format, model::ChatRequest& request) {
  if (text_member(format, "type") != "json_object") return;
  model::OutputFormat output;
  output.kind = model::OutputFormat::Kind::JsonObject;
  output.schema = json_member(format, "json_schema");
  if (output.schema.empty()) output.schema = json_member(format, "schema");
  if (!output.schema.empty()) output.kind = model::OutputFormat::Kind::JsonSchema;
  request.output = std::move(output);
}

Result<model::ChatRequest> read_cohere(std::string_view body, const dialects::RequestHead& /*head*/) {
  const wire::JsonValue document(body);
  model::ChatRequest request;
  request.dialect = model::Dialect::Cohere;
  request.model = text_member(document, "model");
  const auto stream = document.member("stream");
  request.stream = stream && stream->is_true();
  if (const auto messages = document.member("messages")) {
    for (wire::JsonElements items(*messages); items.next();)
      request.turns.push_back(cohere_turn(items.value()));
  }
  if (const auto tools = document.member("tools")) {
    for (wire::JsonElements items(*tools); items.next();)
      request.tools.push_back(function_tool(items.value()));
  }
  const std::string choice = text_member(document, "tool_choice");
  if (choice == "REQUIRED")
    request.tool_choice = model::ToolChoice{.mode = model::ToolChoice::Mode::Required, .only = {}};
  if (choice == "NONE")
    request.tool_choice = model::ToolChoice{.mode = model::ToolChoice::Mode::None, .only = {}};
  if (const auto format = document.member("response_format")) read_cohere_format(*format, request);
  request.sampling.max_output_tokens = integer_member(document, "max_tokens");
  request.sampling.stop = texts_of(document.member("stop_sequences"));
  if (const auto thinking = document.member("thinking")) {
    model::ReasoningWish wish;
    wish.budget_tokens = text_member(*thinking, "type") == "disabled"
                             ? 0
                             : integer_member(*thinking, "token_budget").value_or(-1);
    request.reasoning = std::move(wish);
  }
  return request;
}

// ---- The answer

std::string_view cohere_finish(model::Finish finish, std::string_view word) noexcept {
  if (!word.empty()) return word;
  switch (finish) {
    case model::Finish::Length: return "MAX_TOKENS";
    case model::Finish::StopString: return "STOP_SEQUENCE";
    case model::Finish::ToolCalls: return "TOOL_CALL";
    case model::Finish::Filtered:
    case model::Finish::Refusal:
    case model::Finish::Broken: return "ERROR";
    default: return "COMPLETE";
  }
}

// `tokens` is what the model saw, with what Cohere itself adds to a prompt; here that is nothing.
void write_cohere_usage(wire::JsonWriter& json, const model::Usage& usage) {
  json.key("usage").begin_object().key("billed_units").begin_object();
  json.member("input_tokens", usage.input_total()).member("output_tokens", usage.output_total()).end_object();
  json.key("tokens").begin_object();
  json.member("input_tokens", usage.input_total()).member("output_tokens", usage.output_total());
  if (usage.reasoning) json.member("reasoning_tokens", *usage.reasoning);
  json.end_object().member("cached_tokens", usage.cache_read.value_or(0)).end_object();
}

void write_cohere_call(wire::JsonWriter& json, std::string_view id, std::string_view name,
                       std::string_view arguments) {
  json.begin_object().member("id", id).member("type", "function").key("function").begin_object();
  json.member("name", name).member("arguments", arguments).end_object().end_object();
}

void write_cohere_content(wire::JsonWriter& json, const model::Choice& choice) {
  json.key("content").begin_array();
  for (const model::Part& part : choice.parts) {
    if (const auto* thought = part.as<model::ReasoningPart>()) {
      json.begin_object().member("type", "thinking").member("thinking", thought->text).end_object();
    } else if (const auto* text = part.as<model::TextPart>()) {
      json.begin_object().member("type", "text").member("text", text->text).end_object();
    }
  }
  json.end_array();
}

std::string tell_cohere(const model::ChatAnswer& answer, const model::ChatRequest& /*request*/,
                        const dialects::AnswerHead& /*head*/) {
  static const model::Choice kNothing;
  const model::Choice& choice = answer.choices.empty() ? kNothing : answer.choices.front();
  const auto is_call = [](const model::Part& part) { return part.as<model::ToolCallPart>() != nullptr; };
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().member("id", answer.id).key("message").begin_object().member("role", "assistant");
  for (const model::Part& part : choice.parts) {
    if (const auto* plan = part.as<model::OpaquePart>()) json.raw_member("tool_plan", plan->value);
  }
  if (std::ranges::any_of(choice.parts, is_call)) {
    json.key("tool_calls").begin_array();
    for (const model::Part& part : choice.parts) {
      if (const auto* call = part.as<model::ToolCallPart>())
        write_cohere_call(json, call->id, call->name, call->arguments);
    }
    json.end_array();
  } else {
    write_cohere_content(json, choice);
  }
  json.end_object().member("finish_reason", cohere_finish(choice.finish, choice.finish_word));
  write_cohere_usage(json, answer.usage);
  json.end_object();
  return out;
}

class CohereStream final : public dialects::StreamEncoder {
 public:
  void encode(const StreamEvent& event, std::string& out) override {
    using Event = StreamEvent::Kind;
    switch (event.kind) {
      case Event::Started:
        begin("message-start", out).member("id", event.id).key("delta").begin_object();
        json_->key("message").begin_object().member("role", "assistant");
        json_->key("content").begin_array().end_array().member("tool_plan", "");
        json_->key("tool_calls").begin_array().end_array().key("citations").begin_array().end_array();
        close(out, 3);
        break;
      case Event::PartStarted: start(event, out); break;
      case Event::TextDelta: {
        const std::string_view key = part_ == PartKind::Reasoning ? "thinking" : "text";
        message("content-delta", out).key("content").begin_object().member(key, event.text);
        close(out, 4);
        break;
      }
      case Event::OpaqueDelta:
        for (const std::string& piece : token_pieces(wire::JsonValue(event.json).string())) {
          begin("tool-plan-delta", out).key("delta").begin_object().key("message").begin_object();
          json_->member("tool_plan", piece);
          close(out, 3);
        }
        break;
      case Event::ArgumentsDelta:
        message("tool-call-delta", out).key("tool_calls").begin_object().key("function").begin_object();
        json_->member("arguments", event.text);
        close(out, 5);
        break;
      case Event::PartFinished:
        if (part_ == PartKind::Opaque) break;
        begin(part_ == PartKind::ToolCall ? "tool-call-end" : "content-end", out).member("index", index());
        close(out, 1);
        ++(part_ == PartKind::ToolCall ? calls_ : contents_);
        break;
      case Event::UsageSoFar: usage_ = *event.usage; break;
      case Event::Finished:
        finish_ = event.finish;
        word_ = event.word;
        break;
      case Event::End:
        begin("message-end", out).key("delta").begin_object();
        json_->member("finish_reason", cohere_finish(finish_, word_));
        write_cohere_usage(*json_, usage_);
        close(out, 2);
        out += "data: [DONE]\n\n";
        break;
      default: break;
    }
  }

 private:
  // Calls and contents are counted apart.
  [[nodiscard]] std::uint32_t index() const noexcept {
    return part_ == PartKind::ToolCall ? calls_ : contents_;
  }
  void start(const StreamEvent& event, std::string& out) {
    part_ = event.part_kind;
    if (part_ == PartKind::Opaque) return;
    if (part_ == PartKind::ToolCall) {
      message("tool-call-start", out).key("tool_calls");
      write_cohere_call(*json_, event.id, event.name, "");
      close(out, 3);
      return;
    }
    const std::string_view type = part_ == PartKind::Reasoning ? "thinking" : "text";
    message("content-start", out).key("content").begin_object().member("type", type).member(type, "");
    close(out, 4);
  }
  wire::JsonWriter& begin(std::string_view type, std::string& out) {
    out.append("event: ").append(type).append("\ndata: ");
    return json_.emplace(out).begin_object().member("type", type);
  }
  // Up to inside `delta.message`.
  wire::JsonWriter& message(std::string_view type, std::string& out) {
    begin(type, out).member("index", index());
    return json_->key("delta").begin_object().key("message").begin_object();
  }
  void close(std::string& out, int objects) {
    for (; objects > 0; --objects) json_->end_object();
    out += "\n\n";
  }

  std::optional<wire::JsonWriter> json_;
  PartKind part_ = PartKind::Text;
  std::uint32_t contents_ = 0;
  std::uint32_t calls_ = 0;
  model::Usage usage_;
  model::Finish finish_ = model::Finish::None;
  std::string word_;
};

std::unique_ptr<dialects::StreamEncoder> stream_cohere(const model::ChatRequest& /*request*/,
                                                       const dialects::AnswerHead& /*head*/) {
  return std::make_unique<CohereStream>();
}

}  // namespace

const Voice kCohereVoice{.dialect = model::Dialect::Cohere,
                         .name = "cohere chat",
                         .call_id_prefix = "",
                         .call_id_length = 24,
                         .signs = Voice::Signs::Nothing,
                         .stream_type = "text/event-stream",
                         .read = read_cohere,
                         .whole = tell_cohere,
                         .stream = stream_cohere,
                         .form = StreamForm::Events};

}  // namespace qq::simulator
