#include "simulator/provider/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "simulator/provider/native_embeddings.h"

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonType;
using wire::JsonValue;

Error missing(std::string_view field) {
  return Error::client(ErrorKind::InvalidRequest, fmt::format("Missing required parameter: '{}'.", field),
                       std::string(field));
}

Error invalid(std::string_view field, std::string_view expected) {
  return Error::client(ErrorKind::InvalidRequest,
                       fmt::format("Invalid type for '{}': expected {}.", field, expected),
                       std::string(field));
}

// "image/png, 70 bytes, 1x1" of a data: URL; the URL itself of another.
std::string describe_url(std::string_view url) {
  if (!url.starts_with("data:")) return std::string(url);
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return "a broken data URL";
  const std::string_view head = url.substr(5, comma - 5);
  const std::string_view type = head.substr(0, head.find(';'));
  const std::string_view data = url.substr(comma + 1);
  if (!head.ends_with(";base64")) return fmt::format("{}, {} bytes", type, data.size());
  const auto bytes = from_base64(data);
  if (!bytes) return fmt::format("{}, broken base64", type);
  std::string said = fmt::format("{}, {} bytes", type, bytes->size());
  if (bytes->size() >= 24 && bytes->starts_with("\x89PNG")) {
    const auto number_at = [&](std::size_t at) {
      std::uint32_t value = 0;
      for (std::size_t i = at; i < at + 4; ++i) value = value << 8U | static_cast<unsigned char>((*bytes)[i]);
      return value;
    };
    said += fmt::format(", {}x{}", number_at(16), number_at(20));
  }
  return said;
}

std::string describe_base64(std::string_view kind, std::string_view format, std::string_view data) {
  return fmt::format("{}/{}, {} bytes", kind, format, data.size() / 4 * 3);
}

std::string describe_media(const model::MediaPart& media) {
  switch (media.source) {
    case model::MediaPart::Source::Base64:
      return describe_url("data:" + media.media_type + ";base64," + media.data);
    case model::MediaPart::Source::Text: return "file " + media.name;
    default: return media.data;
  }
}

void read_part(JsonValue part, std::string& text, std::vector<std::string>& media) {
  std::string type;
  if (const auto found = part.member("type")) type = found->string();
  if (type == "text" || type == "input_text" || type == "output_text") {
    if (const auto found = part.member("text")) text += found->string();
  } else if (type == "image_url" || type == "input_image") {
    const auto image = part.member("image_url");
    if (!image) {
      media.emplace_back("an uploaded image");
    } else if (image->is_string()) {
      media.push_back(describe_url(image->string()));
    } else if (const auto url = image->member("url")) {
      media.push_back(describe_url(url->string()));
    }
  } else if (type == "input_audio") {
    const auto data = part.at("input_audio", "data");
    const auto format = part.at("input_audio", "format");
    media.push_back(describe_base64("audio", format ? format->string() : "unknown",
                                    data ? data->raw_string() : std::string_view{}));
  } else if (type == "file" || type == "input_file") {
    const auto name = type == "file" ? part.at("file", "filename") : part.member("filename");
    media.push_back("file " + (name ? name->string() : std::string("without a name")));
  }
}

void read_content(JsonValue content, std::string& text, std::vector<std::string>& media) {
  if (content.is_string()) {
    text += content.string();
  } else if (content.is_array()) {
    for (JsonElements parts(content); parts.next();) {
      if (parts.value().is_string()) {
        text += parts.value().string();
      } else {
        read_part(parts.value(), text, media);
      }
    }
  }
}

void start_user_turn(Asked& asked) {
  asked.text.clear();
  asked.media.clear();
  asked.tool_results.clear();
}

Result<> read_messages(JsonValue messages, Asked& asked) {
  if (!messages.is_array()) return fail(invalid("messages", "an array of objects"));
  std::size_t index = 0;
  for (JsonElements items(messages); items.next(); ++index) {
    const JsonValue message = items.value();
    if (!message.is_object()) return fail(invalid(fmt::format("messages[{}]", index), "an object"));
    const auto role_value = message.member("role");
    if (!role_value) return fail(missing(fmt::format("messages[{}].role", index)));
    const std::string role = role_value->string();
    const auto content = message.member("content");
    if (role == "user") {
      start_user_turn(asked);
      if (content) read_content(*content, asked.text, asked.media);
    } else if (role == "tool" || role == "function") {
      std::string result;
      std::vector<std::string> ignored;
      if (content) read_content(*content, result, ignored);
      asked.tool_results.push_back(std::move(result));
    } else if (role == "assistant") {
      asked.tool_results.clear();
    } else if (role != "system" && role != "developer") {
      return fail(Error::client(ErrorKind::InvalidRequest,
                                fmt::format("Invalid value: '{}'. Supported values are: 'system', "
                                            "'assistant', 'user', 'function', 'tool', and 'developer'.",
                                            role),
                                fmt::format("messages[{}].role", index)));
    }
  }
  if (index == 0) {
    return fail(Error::client(ErrorKind::InvalidRequest,
                              "Invalid 'messages': empty array. Expected an array with minimum length 1, "
                              "but got an empty array instead.",
                              "messages"));
  }
  return {};
}

Result<> read_input_items(JsonValue input, Asked& asked) {
  if (input.is_string()) {
    asked.text = input.string();
    return {};
  }
  if (!input.is_array()) return fail(invalid("input", "a string or an array of items"));
  for (JsonElements items(input); items.next();) {
    const JsonValue item = items.value();
    const auto type = item.member("type");
    if (type && type->string() == "function_call_output") {
      std::string result;
      std::vector<std::string> ignored;
      if (const auto output = item.member("output")) read_content(*output, result, ignored);
      asked.tool_results.push_back(std::move(result));
      continue;
    }
    const auto role = item.member("role");
    const auto content = item.member("content");
    if (!role || !content) continue;
    if (role->string() == "user") {
      start_user_turn(asked);
      read_content(*content, asked.text, asked.media);
    } else if (role->string() == "assistant") {
      asked.tool_results.clear();
    }
  }
  return {};
}

// Texts and token lists of `input` or `prompt`: a string, a list of strings, a list of numbers (one
// input) or a list of lists.
Result<> read_inputs(JsonValue value, std::string_view field, Asked& asked) {
  if (value.is_string()) {
    asked.inputs.push_back(value.string());
    return {};
  }
  if (!value.is_array()) return fail(invalid(field, "a string or an array"));
  bool numbers = false;
  for (JsonElements items(value); items.next();) {
    const JsonValue item = items.value();
    if (item.is_string()) {
      asked.inputs.push_back(item.string());
    } else if (item.is_array()) {
      asked.inputs.emplace_back(item.text());
    } else if (item.is_object()) {  // moderations take parts
      std::string text;
      std::vector<std::string> media;
      read_part(item, text, media);
      asked.inputs.push_back(std::move(text));
    } else {
      numbers = true;
    }
  }
  if (numbers) asked.inputs.assign(1, std::string(value.text()));
  if (asked.inputs.empty()) return fail(invalid(field, "at least one input"));
  return {};
}

void read_tools(JsonValue tools, Asked& asked) {
  for (JsonElements items(tools); items.next();) {
    // Chat nests under `function`; the responses API is flat and has built-in tools without a name.
    const JsonValue item = items.value();
    const auto nested = item.member("function");
    const JsonValue tool = nested && nested->is_object() ? *nested : item;
    const auto name = tool.member("name");
    if (!name) continue;
    AskedTool read;
    read.name = name->string();
    if (const auto parameters = tool.member("parameters")) read.parameters = *parameters;
    asked.tools.push_back(std::move(read));
  }
}

void read_tool_choice(JsonValue choice, Asked& asked) {
  if (choice.is_string()) {
    const std::string word = choice.string();
    if (word == "none") asked.tool_choice = ToolChoice::None;
    if (word == "required" || word == "any") asked.tool_choice = ToolChoice::Required;
    return;
  }
  auto name = choice.at("function", "name");
  if (!name) name = choice.member("name");
  if (name) {
    asked.tool_choice = ToolChoice::Named;
    asked.named_tool = name->string();
  }
}

// response_format of chat, text.format of responses.
void read_format(JsonValue format, Asked& asked) {
  const auto type = format.member("type");
  if (!type) return;
  if (type->string() == "json_object") asked.json_object = true;
  if (type->string() != "json_schema") return;
  auto schema = format.at("json_schema", "schema");
  if (!schema) schema = format.member("schema");
  if (schema) asked.schema = *schema;
  asked.json_object = !schema.has_value();
}

Result<> read_count(JsonValue value, std::string_view field, std::optional<std::uint64_t>& out) {
  if (value.is_null()) return {};
  const auto number = value.integer();
  if (!number) return fail(invalid(field, "an integer"));
  if (*number < 1) {
    return fail(Error::client(ErrorKind::InvalidRequest,
                              fmt::format("Invalid '{}': integer below minimum value. Expected a value >= 1, "
                                          "but got {} instead.",
                                          field, *number),
                              std::string(field)));
  }
  out = static_cast<std::uint64_t>(*number);
  return {};
}

void read_stops(JsonValue value, Asked& asked) {
  if (value.is_string()) asked.stops.push_back(value.string());
  if (value.is_array()) {
    for (JsonElements items(value); items.next();) asked.stops.push_back(items.value().string());
  }
  std::erase(asked.stops, std::string{});
}

Result<> read_member(const JsonMembers& member, Asked& asked) {
  const JsonValue value = member.value();
  if (member.key_is("model")) {
    if (!value.is_string()) return fail(invalid("model", "a string"));
    asked.model = value.string();
  } else if (member.key_is("stream")) {
    if (!value.is_true() && !value.is_false() && !value.is_null())
      return fail(invalid("stream", "a boolean"));
    asked.stream = value.is_true();
  } else if (member.key_is("stream_options")) {
    const auto found = value.member("include_usage");
    asked.include_usage = found && found->is_true();
  } else if (member.key_is("n")) {
    std::optional<std::uint64_t> count;
    QQ_CHECK(read_count(value, "n", count));
    asked.choices = static_cast<unsigned>(std::min<std::uint64_t>(count.value_or(1), 128));
  } else if (member.key_is("tools")) {
    read_tools(value, asked);
  } else if (member.key_is("tool_choice")) {
    read_tool_choice(value, asked);
  } else if (member.key_is("parallel_tool_calls")) {
    asked.parallel_calls = !value.is_false();
  } else if (member.key_is("response_format")) {
    read_format(value, asked);
  } else if (member.key_is("text")) {
    if (const auto format = value.member("format")) read_format(*format, asked);
  } else if (member.key_is("logprobs")) {
    // Chat has a flag here; the old completions a number.
    asked.logprobs = value.is_true() || value.integer().has_value();
  } else if (member.key_is("top_logprobs")) {
    asked.top_logprobs = static_cast<unsigned>(std::clamp<std::int64_t>(value.integer().value_or(0), 0, 20));
  } else if (member.key_is("include")) {
    for (JsonElements items(value); items.next();) {
      if (items.value().string() == "message.output_text.logprobs") asked.logprobs = true;
      if (items.value().string() == "reasoning.encrypted_content") asked.sealed_thoughts = true;
    }
  } else if (member.key_is("max_tokens") || member.key_is("max_completion_tokens") ||
             member.key_is("max_output_tokens")) {
    return read_count(value, member.raw_key(), asked.max_tokens);
  } else if (member.key_is("stop")) {
    read_stops(value, asked);
  } else if (member.key_is("reasoning_effort")) {
    asked.reasoning = value.is_string() && value.string() != "none";
  } else if (member.key_is("reasoning")) {
    asked.reasoning = value.is_object();
  }
  return {};
}

Result<> read_prompt(Route route, JsonValue body, Asked& asked) {
  const auto from = [&](std::string_view field) -> Result<JsonValue> {
    const auto found = body.member(field);
    if (!found || found->is_null()) return fail(missing(field));
    asked.prompt_bytes = found->text().size();
    asked.hash = stable_hash(found->text());
    return *found;
  };
  switch (route) {
    case Route::ChatCompletions: {
      QQ_TRY(const JsonValue messages, from("messages"));
      return read_messages(messages, asked);
    }
    case Route::Compact:
    case Route::Responses: {
      QQ_TRY(const JsonValue input, from("input"));
      return read_input_items(input, asked);
    }
    case Route::Completions:
    case Route::ImagesGenerations: {
      QQ_TRY(const JsonValue prompt, from("prompt"));
      return read_inputs(prompt, "prompt", asked);
    }
    case Route::Embeddings:
    case Route::Moderations: {
      QQ_TRY(const JsonValue input, from("input"));
      return read_inputs(input, "input", asked);
    }
    default: break;
  }
  return {};
}

// What a turn of the user's holds; results of tools come before what the user says to them.
void read_user_turn(const model::Turn& turn, Asked& asked) {
  bool said = false;
  for (const model::Part& part : turn.parts) {
    if (const auto* result = part.as<model::ToolResultPart>()) {
      std::string text;
      for (const model::Part& inner : result->content) {
        if (const auto* prose = inner.as<model::TextPart>()) text += prose->text;
      }
      asked.tool_results.push_back(std::move(text));
      continue;
    }
    if (!std::exchange(said, true)) start_user_turn(asked);
    if (const auto* prose = part.as<model::TextPart>()) asked.text += prose->text;
    if (const auto* media = part.as<model::MediaPart>()) asked.media.push_back(describe_media(*media));
  }
}

void read_wishes(const model::ChatRequest& request, Asked& asked) {
  const model::Sampling& sampling = request.sampling;
  if (sampling.choices)
    asked.choices = static_cast<unsigned>(std::clamp<std::int64_t>(*sampling.choices, 1, 8));
  if (sampling.max_output_tokens && *sampling.max_output_tokens > 0)
    asked.max_tokens = static_cast<std::uint64_t>(*sampling.max_output_tokens);
  asked.stops = sampling.stop;
  std::erase(asked.stops, std::string{});
  asked.logprobs = sampling.logprobs.value_or(false);
  asked.top_logprobs =
      static_cast<unsigned>(std::clamp<std::int64_t>(sampling.top_logprobs.value_or(0), 0, 20));
  asked.parallel_calls = request.parallel_tool_calls.value_or(true);
  if (request.output) {
    using Kind = model::OutputFormat::Kind;
    if (request.output->kind == Kind::JsonSchema) asked.schema = JsonValue(request.output->schema);
    asked.json_object = request.output->kind == Kind::JsonObject;
  }
  if (const auto& wish = request.reasoning) {
    const bool off = wish->budget_tokens == 0 || wish->effort == model::ReasoningWish::Effort::None;
    asked.reasoning = !off && (wish->budget_tokens || wish->effort || wish->show == true);
  }
}

void read_tools_of(const model::ChatRequest& request, Asked& asked) {
  for (const model::Tool& tool : request.tools) {
    if (tool.cache) asked.cache_marked = true;
    if (tool.kind == model::Tool::Kind::Hosted) continue;
    asked.tools.push_back({tool.name, JsonValue(tool.schema)});
  }
  if (!request.tool_choice) return;
  const model::ToolChoice& choice = *request.tool_choice;
  using Mode = model::ToolChoice::Mode;
  if (choice.mode == Mode::None) asked.tool_choice = ToolChoice::None;
  if (choice.mode == Mode::Required) asked.tool_choice = ToolChoice::Required;
  if (choice.only.size() == 1) {
    asked.tool_choice = ToolChoice::Named;
    asked.named_tool = choice.only.front();
  }
}

}  // namespace

bool sounds_like_reasoning(std::string_view model) noexcept {
  return model.find("reason") != std::string_view::npos || model.find("think") != std::string_view::npos ||
         model.ends_with("-r1") || model.starts_with("o1") || model.starts_with("o3") ||
         model.starts_with("o4");
}

std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  std::uint64_t hash = seed ^ bytes.size();
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), 8);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29U;
    bytes.remove_prefix(size);
  }
  return hash;
}

Result<Asked> read_asked(Route route, std::string_view body, std::string_view path_model) {
  Asked asked;
  asked.route = route;
  asked.body = JsonValue(body);
  if (!asked.body.is_object()) return fail(invalid("body", "an object"));
  for (JsonMembers members(asked.body); members.next();) QQ_CHECK(read_member(members, asked));
  if (asked.model.empty()) asked.model = path_model;
  if (asked.model.empty() && route != Route::Moderations) {
    return fail(Error::client(ErrorKind::InvalidRequest, "you must provide a model parameter"));
  }
  if (is_native_embedding(route)) {
    if (!path_model.empty()) asked.model = path_model;
    QQ_CHECK(read_native_embeddings(path_model, asked));
  }
  asked.model = split_model(asked.model).name;
  asked.reasoning = asked.reasoning || sounds_like_reasoning(asked.model);
  QQ_CHECK(read_prompt(route, asked.body, asked));
  return asked;
}

Asked asked_of(std::shared_ptr<const model::ChatRequest> request, std::string_view prompt) {
  Asked asked;
  asked.model = split_model(request->model).name;
  asked.stream = request->stream;
  asked.prompt_bytes = prompt.size();
  asked.hash = stable_hash(prompt);
  asked.cache_marked = request->cache.has_value();
  read_tools_of(*request, asked);
  for (const model::Turn& turn : request->turns) {
    for (const model::Part& part : turn.parts)
      asked.cache_marked = asked.cache_marked || part.cache.has_value();
    if (turn.role == model::Role::User) read_user_turn(turn, asked);
    if (turn.role == model::Role::Assistant) asked.tool_results.clear();
  }
  read_wishes(*request, asked);
  asked.reasoning = asked.reasoning || sounds_like_reasoning(asked.model);
  asked.request = std::move(request);
  return asked;
}

}  // namespace qq::simulator
