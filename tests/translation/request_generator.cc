#include "translation/request_generator.h"

#include <array>

namespace qq::translation {

using dialects::Field;
using model::Part;
using model::Role;

std::string RequestGenerator::words() {
  constexpr std::array kWords{"river",      "Brücke",      "the", "\"quoted\"", "two\nlines", "橋",
                              "{\"a\": 1}", "back\\slash", "😀",  "tab\there",  "</end>",     "7"};
  std::string out = kWords[below(kWords.size())];
  for (std::uint64_t more = below(5); more > 0; --more) out.append(" ").append(kWords[below(kWords.size())]);
  return out;
}

Part RequestGenerator::image() {
  model::MediaPart media{.kind = model::MediaPart::Kind::Image};
  media.data = "aGVsbG8=";
  media.media_type = sometimes() ? "image/jpeg" : "image/png";
  return Part(std::move(media));
}

void RequestGenerator::add_tools(model::ChatRequest& request) {
  if (!may_(Field::Tools) || sometimes()) return;
  constexpr std::array kSchemas{
      R"({"type":"object","properties":{"city":{"type":"string","description":"where"}},"required":["city"]})",
      R"({"type":"object","properties":{"count":{"type":"integer"},"kind":{"type":"string","enum":["a","b"]}},"required":["count"]})",
      R"({"type":"object","properties":{"list":{"type":"array","items":{"type":"number"}}},"required":["list"]})"};
  const std::uint64_t count = 1 + below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    model::Tool tool;
    tool.name = "tool_" + std::to_string(i);
    tool.description = words();
    tool.schema = kSchemas[below(kSchemas.size())];
    if (wants(Field::StrictTools)) {
      tool.strict = true;
      tool.schema.insert(tool.schema.size() - 1, R"(,"additionalProperties":false)");  // which goes with it
    }
    request.tools.push_back(std::move(tool));
  }
  if (!wants(Field::ToolChoice)) return;
  model::ToolChoice& choice = request.tool_choice.emplace();
  choice.mode = static_cast<model::ToolChoice::Mode>(below(3));
  if (choice.mode == model::ToolChoice::Mode::Required && sometimes()) choice.only = {"tool_0"};
  if (choice.mode == model::ToolChoice::Mode::Required && wants(Field::ParallelToolCalls))
    request.parallel_tool_calls = false;
}

void RequestGenerator::add_turns(model::ChatRequest& request) {
  const auto turn = [&](Role role) -> model::Turn& {
    model::Turn& made = request.turns.emplace_back();
    made.role = role;
    return made;
  };
  if (sometimes()) turn(Role::System).parts.push_back(text());
  for (std::uint64_t rounds = below(4); rounds > 0; --rounds) {
    turn(Role::User).parts.push_back(text());
    model::Turn& answer = turn(Role::Assistant);
    if (request.tools.empty() || sometimes()) {
      answer.parts.push_back(text());
      continue;
    }
    if (sometimes()) answer.parts.push_back(text());
    std::vector<Part> results;
    for (std::uint64_t count = 1 + below(2); count > 0; --count) {
      const std::string id = "call_" + std::to_string(calls_++);
      const std::string& name = request.tools[below(request.tools.size())].name;
      answer.parts.emplace_back(
          model::ToolCallPart{.id = id,
                              .name = name,
                              .arguments = sometimes() ? "{}" : R"({"city":"Zürich \"ZH\"","n":[1,null]})"});
      model::ToolResultPart result{.call_id = id, .name = name, .content = {}};
      result.content.push_back(text());
      results.emplace_back(std::move(result));
    }
    turn(Role::User).parts = std::move(results);
    turn(Role::Assistant).parts.push_back(text());
  }
  model::Turn& last = turn(Role::User);
  last.parts.push_back(text());
  if (wants(Field::ImageInput)) last.parts.push_back(image());
  if (sometimes()) last.parts.push_back(text());
}

void RequestGenerator::add_sampling(model::ChatRequest& request) {
  model::Sampling& sampling = request.sampling;
  sampling.max_output_tokens = 2000 + static_cast<std::int64_t>(below(30000));
  const auto fraction = [&] { return static_cast<double>(below(5)) / 4; };
  if (wants(Field::Temperature)) {
    sampling.temperature = fraction();
  } else if (wants(Field::TopP)) {
    sampling.top_p = fraction();
  }
  if (wants(Field::TopK)) sampling.top_k = 1 + static_cast<std::int64_t>(below(100));
  if (wants(Field::PresencePenalty)) sampling.presence_penalty = 0.5;
  if (wants(Field::FrequencyPenalty)) sampling.frequency_penalty = -0.25;
  if (wants(Field::Seed)) sampling.seed = static_cast<std::int64_t>(below(1000));
  if (wants(Field::Stop)) sampling.stop = {"END", "\n##"};
  if (wants(Field::Choices)) sampling.choices = 2;
}

void RequestGenerator::add_rest(model::ChatRequest& request) {
  if (wants(Field::JsonSchema)) {
    model::OutputFormat& output = request.output.emplace();
    output.kind = model::OutputFormat::Kind::JsonSchema;
    output.name = "answer";
    output.schema =
        R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false})";
  } else if (wants(Field::JsonObject)) {
    request.output.emplace().kind = model::OutputFormat::Kind::JsonObject;
  }
  if (wants(Field::User)) request.user = "user-" + std::to_string(below(10));
  if (wants(Field::Metadata)) request.metadata = R"({"team":"blue"})";
  if (wants(Field::CacheKey)) request.cache_key = "key-1";
  // OpenAI takes metadata of what it stores alone.
  if (wants(Field::Store) || (!request.metadata.empty() && may_(Field::Store))) request.store = true;
}

model::ChatRequest RequestGenerator::make() {
  model::ChatRequest request;
  request.model = "asked";
  request.stream = sometimes();
  add_tools(request);
  add_turns(request);
  add_sampling(request);
  add_rest(request);
  return request;
}

}  // namespace qq::translation
