// Items of `output` while they are made, for whole answers and for streams: what stands in them, and how they
// and their parts are written.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "dialects/openai_responses/items.h"
#include "model/stream_event.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_responses {

// A part of a message or of a reasoning item.
struct OutputContent {
  enum class Kind : std::uint8_t { Text, Refusal, Summary, Thought, Raw };
  Kind kind = Kind::Text;
  std::string text;  // Raw: the part's JSON
  std::vector<model::Json> annotations;
  model::Json logprobs;  // an array, or empty
};

struct OutputItem {
  enum class Kind : std::uint8_t { Message, Reasoning, FunctionCall, CustomCall, Image, Raw };
  Kind kind = Kind::Message;
  std::string id;
  std::string call_id;  // of calls
  std::string name;
  std::string data;                    // arguments, input, base64 of an image, the whole of a Raw item
  std::vector<OutputContent> content;  // of messages and reasoning
  std::string encrypted;               // of reasoning
  bool incomplete = false;             // cut by a limit while it was made
  model::ExtraFields extra;
};

// Ids of an answer and of its items, which the client gets from us.
std::string response_id(std::string_view provider_id, std::string_view request_id);
std::string item_id(OutputItem::Kind kind, std::string_view request_id, std::size_t index);

// Whether a thought goes into `last`, as another summary or text of the same.
bool continues_reasoning(const OutputItem& last, std::string_view id) noexcept;
// How this client reads thoughts: as the summaries it asked for, or as they are.
OutputContent::Kind thought_kind(model::ReasoningPart::Kind kind, const model::ChatRequest& request) noexcept;

// Of a thought of `maker`'s that has no state: it must not be taken for OpenAI's when it comes back.
void say_whose(OutputItem& item, model::Dialect maker);

// `status`: in_progress, completed, incomplete. In progress, nothing of its content is there yet.
void write_item(wire::JsonWriter& json, const OutputItem& item, std::string_view status);
void write_content(wire::JsonWriter& json, const OutputContent& content);
void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra);

}  // namespace qq::dialects::openai_responses
