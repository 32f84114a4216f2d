// Bedrock's converse and converse-stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
#include <fmt/format.h>

#include "simulator/provider/voices/read.h"
#include "simulator/provider/voices/voice.h"
#include "wire/json_writer.h"

namespace qq::simulator {
namespace {

using model::PartKind;
using model::StreamEvent;

// ---- The request

model::Part converse_media(wire::JsonValue image, model::MediaPart::Kind kind) {
  model::MediaPart media;
  media.kind = kind;
  const std::string format = text_member(image, "format");
  media.media_type = (kind == model::MediaPart::Kind::Image ? "image/" : "application/") + format;
  media.name = text_member(image, "name");
  const auto source = image.member("source");
  if (source && source->member("bytes")) {
    media.data = text_member(*source, "bytes");
  } else {
    media.source = model::MediaPart::Source::Url;
    media.data = source ? text_member(source->member("s3Location").value_or(*source), "uri") : std::string();
  }
  return model::Part(std::move(media));
}

model::Part converse_result(wire::JsonValue block) {
  model::ToolResultPart result;
  result.call_id = text_member(block, "toolUseId");
  result.is_error = text_member(block, "status") == "error";
  if (const auto content = block.member("content")) {
    for (wire::JsonElements items(*content); items.next();) {
      if (const auto json = items.value().member("json")) {
        result.content.push_back(text_part(std::string(json->text())));
      } else {
        result.content.push_back(text_part(text_member(items.value(), "text")));
      }
    }
  }
  return model::Part(std::move(result));
}

model::Part converse_thought(wire::JsonValue block) {
  model::ReasoningPart thought;
  model::OpaqueState state{.maker = model::Dialect::Bedrock, .data = {}};
  if (const auto text = block.member("reasoningText")) {
    thought.text = text_member(*text, "text");
    state.data = text_member(*text, "signature");
  } else {
    thought.kind = model::ReasoningPart::Kind::Redacted;
    state.data = text_member(block, "redactedContent");
  }
  model::Part part(std::move(thought));
  part.state = std::move(state);
  return part;
}

void read_converse_block(wire::JsonValue block, std::vector<model::Part>& parts) {
  if (block.member("text")) {
    parts.push_back(text_part(text_member(block, "text")));
  } else if (const auto image = block.member("image")) {
    parts.push_back(converse_media(*image, model::MediaPart::Kind::Image));
  } else if (const auto document = block.member("document")) {
    parts.push_back(converse_media(*document, model::MediaPart::Kind::File));
  } else if (const auto use = block.member("toolUse")) {
    parts.push_back(model::Part(model::ToolCallPart{.id = text_member(*use, "toolUseId"),
                                                    .name = text_member(*use, "name"),
                                                    .arguments = json_member(*use, "input")}));
  } else if (const auto result = block.member("toolResult")) {
    parts.push_back(converse_result(*result));
  } else if (const auto thought = block.member("reasoningContent")) {
    parts.push_back(converse_thought(*thought));
  } else if (block.member("cachePoint") && !parts.empty()) {
    parts.back().cache = model::CacheMark{};
  }
}

model::Turn converse_turn(model::Role role, std::optional<wire::JsonValue> content) {
  model::Turn turn;
  turn.role = role;
  if (!content) return turn;
  for (wire::JsonElements blocks(*content); blocks.next();) read_converse_block(blocks.value(), turn.parts);
  return turn;
}

void read_converse_tools(wire::JsonValue config, model::ChatRequest& request) {
  if (const auto tools = config.member("tools")) {
    for (wire::JsonElements items(*tools); items.next();) {
      const auto spec = items.value().member("toolSpec");
      if (!spec) {
        if (items.value().member("cachePoint") && !request.tools.empty())
          request.tools.back().cache = model::CacheMark{};
        continue;
      }
      model::Tool tool;
      tool.name = text_member(*spec, "name");
      tool.description = text_member(*spec, "description");
      if (const auto schema = spec->at("inputSchema", "json")) tool.schema = schema->text();
      request.tools.push_back(std::move(tool));
    }
  }
  const auto choice = config.member("toolChoice");
  if (!choice) return;
  model::ToolChoice wanted;
  if (choice->member("any")) wanted.mode = model::ToolChoice::Mode::Required;
  if (const auto named = choice->member("tool")) {
    wanted.mode = model::ToolChoice::Mode::Required;
    wanted.only.push_back(text_member(*named, "name"));
  }
  request.tool_choice = std::move(wanted);
}

// What the model's own words of the request are: `thinking` of Claude, `reasoningConfig` of Nova.
void read_converse_extras(wire::JsonValue extras, model::ChatRequest& request) {
  auto thinking = extras.member("thinking");
  if (!thinking) thinking = extras.member("reasoningConfig");
  if (!thinking) thinking = extras.member("reasoning_config");
  if (!thinking) return;
  const std::string type = text_member(*thinking, "type");
  model::ReasoningWish wish;
  wish.budget_tokens = type == "disabled" ? 0 : integer_member(*thinking, "budget_tokens").value_or(-1);
  request.reasoning = std::move(wish);
}

// outputConfig.textFormat: the schema is a string of JSON.
void read_converse_format(wire::JsonValue config, model::ChatRequest& request) {
  const auto schema = config.at("textFormat", "structure", "jsonSchema", "schema");
  if (!schema) return;
  model::OutputFormat format;
  format.kind = model::OutputFormat::Kind::JsonSchema;
  format.schema = schema->is_string() ? schema->string() : std::string(schema->text());
  if (!wire::check_json(format.schema)) request.output = std::move(format);
}

Result<model::ChatRequest> read_converse(std::string_view body, const dialects::RequestHead& head) {
  const wire::JsonValue document(body);
  model::ChatRequest request;
  request.dialect = model::Dialect::Bedrock;
  request.model = head.path_model;
  request.stream = head.path_stream;
  if (const auto system = document.member("system"))
    request.turns.push_back(converse_turn(model::Role::System, system));
  if (const auto messages = document.member("messages")) {
    for (wire::JsonElements items(*messages); items.next();) {
      const bool user = text_member(items.value(), "role") == "user";
      request.turns.push_back(
          converse_turn(user ? model::Role::User : model::Role::Assistant, items.value().member("content")));
    }
  }
  if (const auto config = document.member("inferenceConfig")) {
    request.sampling.max_output_tokens = integer_member(*config, "maxTokens");
    request.sampling.stop = texts_of(config->member("stopSequences"));
  }
  if (const auto tools = document.member("toolConfig")) read_converse_tools(*tools, request);
  if (const auto extras = document.member("additionalModelRequestFields"))
    read_converse_extras(*extras, request);
  if (const auto config = document.member("outputConfig")) read_converse_format(*config, request);
  return request;
}

// ---- The answer

std::string_view converse_stop(model::Finish finish, std::string_view word) noexcept {
  if (!word.empty()) return word;
  switch (finish) {
    case model::Finish::Length: return "max_tokens";
    case model::Finish::StopString: return "stop_sequence";
    case model::Finish::ToolCalls: return "tool_use";
    case model::Finish::Filtered:
    case model::Finish::Refusal: return "content_filtered";
    case model::Finish::Broken: return "malformed_model_output";
    default: return "end_turn";
  }
}

void write_converse_usage(wire::JsonWriter& json, const model::Usage& usage) {
  json.key("usage").begin_object();
  json.member("inputTokens", usage.input_uncached.value_or(0));
  json.member("outputTokens", usage.output_total());
  json.member("totalTokens", usage.input_total() + usage.output_total());
  json.member("cacheReadInputTokens", usage.cache_read.value_or(0));
  json.member("cacheWriteInputTokens", usage.cache_write.value_or(0)).end_object();
}

void write_converse_part(wire::JsonWriter& json, const model::Part& part) {
  if (const auto* text = part.as<model::TextPart>()) {
    json.begin_object().member("text", text->text).end_object();
  } else if (const auto* thought = part.as<model::ReasoningPart>()) {
    json.begin_object().key("reasoningContent").begin_object().key("reasoningText").begin_object();
    json.member("text", thought->text).member("signature", part.state.data);
    json.end_object().end_object().end_object();
  } else if (const auto* call = part.as<model::ToolCallPart>()) {
    json.begin_object().key("toolUse").begin_object();
    json.raw_member("input", call->arguments).member("name", call->name).member("toolUseId", call->id);
    json.end_object().end_object();
  }
}

std::string tell_converse(const model::ChatAnswer& answer, const model::ChatRequest& /*request*/,
                          const dialects::AnswerHead& /*head*/) {
  static const model::Choice kNothing;
  const model::Choice& choice = answer.choices.empty() ? kNothing : answer.choices.front();
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("metrics").begin_object().member("latencyMs", 5).end_object();
  json.key("output").begin_object().key("message").begin_object().key("content").begin_array();
  for (const model::Part& part : choice.parts) write_converse_part(json, part);
  json.end_array().member("role", "assistant").end_object().end_object();
  json.member("stopReason", converse_stop(choice.finish, choice.finish_word));
  write_converse_usage(json, answer.usage);
  json.end_object();
  return out;
}

// contentBlockStart is sent for tool use only: texts and thoughts begin with their first delta.
class ConverseStream final : public dialects::StreamEncoder {
 public:
  void encode(const StreamEvent& event, std::string& out) override {
    using Kind = StreamEvent::Kind;
    switch (event.kind) {
      case Kind::Started:
        begin("messageStart", out).member("role", "assistant");
        end(out);
        break;
      case Kind::PartStarted:
        part_ = event.part_kind;
        if (part_ == PartKind::ToolCall) {
          begin("contentBlockStart", out).member("contentBlockIndex", index_).key("start");
          json_->begin_object().key("toolUse").begin_object();
          json_->member("name", event.name).member("toolUseId", event.id);
          json_->end_object().end_object();
          end(out);
        }
        break;
      case Kind::TextDelta:
        if (part_ == PartKind::Reasoning) {
          thought("text", event.text, out);
        } else {
          delta(out).member("text", event.text);
          end_delta(out);
        }
        break;
      case Kind::StateDelta: thought("signature", event.state->data, out); break;
      case Kind::ArgumentsDelta:
        delta(out).key("toolUse").begin_object().member("input", event.text).end_object();
        end_delta(out);
        break;
      case Kind::PartFinished:
        begin("contentBlockStop", out).member("contentBlockIndex", index_++);
        end(out);
        break;
      case Kind::UsageSoFar: usage_ = *event.usage; break;
      case Kind::Finished:
        begin("messageStop", out).member("stopReason", converse_stop(event.finish, event.word));
        end(out);
        break;
      case Kind::End:
        begin("metadata", out).key("metrics").begin_object().member("latencyMs", 5).end_object();
        write_converse_usage(*json_, usage_);
        end(out);
        break;
      default: break;
    }
  }

 private:
  wire::JsonWriter& begin(std::string_view name, std::string& out) {
    out.append("event: ").append(name).append("\ndata: ");
    return json_.emplace(out).begin_object();
  }
  void end(std::string& out) {
    json_->end_object();
    out += "\n\n";
  }
  wire::JsonWriter& delta(std::string& out) {
    return begin("contentBlockDelta", out).member("contentBlockIndex", index_).key("delta").begin_object();
  }
  void end_delta(std::string& out) {
    json_->end_object();
    end(out);
  }
  void thought(std::string_view key, std::string_view text, std::string& out) {
    delta(out).key("reasoningContent").begin_object().member(key, text).end_object();
    end_delta(out);
  }

  std::optional<wire::JsonWriter> json_;
  PartKind part_ = PartKind::Text;
  std::uint32_t index_ = 0;
  model::Usage usage_;
};

std::unique_ptr<dialects::StreamEncoder> stream_converse(const model::ChatRequest& /*request*/,
                                                         const dialects::AnswerHead& /*head*/) {
  return std::make_unique<ConverseStream>();
}

}  // namespace

const Voice kConverseVoice{.dialect = model::Dialect::Bedrock,
                           .name = "converse",
                           .call_id_prefix = "tooluse_",
                           .call_id_length = 22,
                           .signs = Voice::Signs::Thoughts,
                           .stream_type = "application/vnd.amazon.eventstream",
                           .read = read_converse,
                           .whole = tell_converse,
                           .stream = stream_converse,
                           .form = StreamForm::AwsEvents};

}  // namespace qq::simulator
