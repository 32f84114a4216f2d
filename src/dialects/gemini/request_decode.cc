#include "dialects/gemini/request_decode.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dialects/gemini/content_decode.h"
#include "dialects/gemini/members.h"
#include "dialects/gemini/schema.h"
#include "dialects/reasoning.h"

namespace qq::dialects::gemini {
namespace {

using model::ChatRequest;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

Result<> take_number(JsonValue value, const std::string& path, std::optional<std::int64_t>& into) {
  into = whole_number(value);
  if (!into) return fail(wrong_type(path, "a whole number"));
  return {};
}

Result<> take_number(JsonValue value, const std::string& path, std::optional<double>& into) {
  into = real_number(value);
  if (!into) return fail(wrong_type(path, "a number"));
  return {};
}

Result<> take_flag(JsonValue value, const std::string& path, std::optional<bool>& into) {
  if (!value.is_true() && !value.is_false()) return fail(wrong_type(path, "true or false"));
  into = value.is_true();
  return {};
}

Result<> take_texts(JsonValue value, const std::string& path, std::vector<std::string>& into) {
  return read_list(value, path, [&](const std::string& at, JsonValue each) -> Result<> {
    QQ_TRY(std::string text, text_field(each, at));
    into.push_back(std::move(text));
    return {};
  });
}

// ---- tools ------------------------------------------------------------------------------------------------

Result<> take_function(JsonValue value, const std::string& path, ChatRequest& request) {
  constexpr std::array<std::string_view, 4> kFields{"name", "description", "parameters",
                                                    "parametersJsonSchema"};
  model::Tool tool;
  QQ_CHECK(read_members(
      value, kFields, path, [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
        const std::string param = join_path(path, key);
        switch (field) {
          case 0: {
            QQ_TRY(tool.name, text_field(member, param));
            return {};
          }
          case 1: {
            QQ_TRY(tool.description, text_field(member, param));
            return {};
          }
          case 2:
          case 3:
            if (!member.is_object()) return fail(wrong_type(param, "an object"));
            if (!tool.schema.empty()) {
              return fail(invalid_field("give either 'parameters' or 'parametersJsonSchema'", param));
            }
            tool.schema = field == 2 ? decode_schema(member) : std::string(member.text());
            return {};
          default: tool.extra.push_back(extra_field({}, key, member)); return {};
        }
      }));
  if (tool.name.empty()) {
    const std::string param = join_path(path, "name");
    return fail(invalid_field("'" + param + "' is missing or empty", param));
  }
  request.tools.push_back(std::move(tool));
  return {};
}

Result<> take_tool(JsonValue value, const std::string& path, ChatRequest& request) {
  constexpr std::array<std::string_view, 1> kFields{"functionDeclarations"};
  return read_members(
      value, kFields, path, [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
        if (field == 0) {
          return read_list(member, join_path(path, kFields[0]), [&](const std::string& at, JsonValue each) {
            return take_function(each, at, request);
          });
        }
        // What Google runs itself: search, code execution, URL context, maps.
        model::Tool hosted;
        hosted.kind = model::Tool::Kind::Hosted;
        hosted.hosted_by = model::Dialect::Gemini;
        hosted.name = key_text(key);
        hosted.schema.append("{\"").append(key).append("\":").append(member.text()).append(1, '}');
        request.tools.push_back(std::move(hosted));
        return {};
      });
}

Result<> take_calling_config(JsonValue value, const std::string& path, ChatRequest& request) {
  constexpr std::array<std::string_view, 2> kFields{"mode", "allowedFunctionNames"};
  model::ToolChoice choice;
  bool said = false;
  QQ_CHECK(read_members(
      value, kFields, path, [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
        if (field == 1) {
          said = true;
          return take_texts(member, join_path(path, kFields[1]), choice.only);
        }
        if (field == 2) {
          request.extra.push_back(extra_field(path, key, member));
          return {};
        }
        const std::string param = join_path(path, kFields[0]);
        QQ_TRY(std::string mode, text_field(member, param));
        mode = lower(mode);
        if (mode == "mode_unspecified") return {};
        said = true;
        if (mode == "auto") return {};
        if (mode == "any") {
          choice.mode = model::ToolChoice::Mode::Required;
        } else if (mode == "none") {
          choice.mode = model::ToolChoice::Mode::None;
        } else if (mode == "validated") {  // a call or text, but calls by their schema
          request.extra.push_back({param, "\"VALIDATED\""});
        } else {
          return fail(invalid_field("'" + param + "' must be AUTO, ANY, NONE or VALIDATED", param));
        }
        return {};
      }));
  if (said) request.tool_choice = std::move(choice);
  return {};
}

Result<> take_tool_config(JsonValue value, const std::string& path, ChatRequest& request) {
  constexpr std::array<std::string_view, 1> kFields{"functionCallingConfig"};
  return read_members(value, kFields, path,
                      [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
                        if (field == 0)
                          return take_calling_config(member, join_path(path, kFields[0]), request);
                        request.extra.push_back(extra_field(path, key, member));
                        return {};
                      });
}

// ---- generationConfig -------------------------------------------------------------------------------------

Result<> take_thinking(JsonValue value, const std::string& path, ChatRequest& request) {
  constexpr std::array<std::string_view, 3> kFields{"includeThoughts", "thinkingBudget", "thinkingLevel"};
  model::ReasoningWish wish;
  QQ_CHECK(read_members(
      value, kFields, path, [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
        const std::string param = join_path(path, key);
        switch (field) {
          case 0: return take_flag(member, param, wish.show);
          case 1: return take_number(member, param, wish.budget_tokens);
          case 2: {
            QQ_TRY(const std::string level, text_field(member, param));
            const std::string word = lower(level);
            if (word == "thinking_level_unspecified") return {};
            wish.effort = effort_of(word);
            if (!wish.effort) {
              return fail(invalid_field("'" + param + "' must be MINIMAL, LOW, MEDIUM or HIGH", param));
            }
            return {};
          }
          default: request.extra.push_back(extra_field(path, key, member)); return {};
        }
      }));
  if (wish.show || wish.budget_tokens || wish.effort) request.reasoning = std::move(wish);
  return {};
}

struct Format {
  std::string mime_type;
  JsonValue schema;       // responseSchema
  JsonValue json_schema;  // responseJsonSchema
};

void take_format(const Format& format, std::string_view path, ChatRequest& request) {
  const bool has_schema = !format.schema.text().empty() || !format.json_schema.text().empty();
  if (format.mime_type.empty() && !has_schema) return;
  const bool is_json = format.mime_type.empty() || format.mime_type == "application/json";
  if (!is_json && format.mime_type != "text/plain") {  // text/x.enum: a form of its own
    std::string mime_type;
    wire::append_json_string(mime_type, format.mime_type);
    request.extra.push_back({join_path(path, "responseMimeType"), std::move(mime_type)});
    if (!format.schema.text().empty()) {
      request.extra.push_back(extra_field(path, "responseSchema", format.schema));
    }
    return;
  }
  model::OutputFormat output;
  if (is_json) {
    using Kind = model::OutputFormat::Kind;
    output.kind = has_schema ? Kind::JsonSchema : Kind::JsonObject;
    if (!format.json_schema.text().empty()) {
      output.schema = format.json_schema.text();
    } else if (has_schema) {
      output.schema = decode_schema(format.schema);
    }
  }
  request.output = std::move(output);
}

constexpr std::array<std::string_view, 16> kConfigFields{"temperature",
                                                         "topP",
                                                         "topK",
                                                         "candidateCount",
                                                         "maxOutputTokens",
                                                         "stopSequences",
                                                         "presencePenalty",
                                                         "frequencyPenalty",
                                                         "seed",
                                                         "responseLogprobs",
                                                         "logprobs",
                                                         "responseMimeType",
                                                         "responseSchema",
                                                         "responseJsonSchema",
                                                         "responseModalities",
                                                         "thinkingConfig"};

Result<> take_config(JsonValue value, const std::string& path, ChatRequest& request) {
  model::Sampling& sampling = request.sampling;
  Format format;
  QQ_CHECK(read_members(
      value, kConfigFields, path, [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
        const std::string param = join_path(path, field < kConfigFields.size() ? kConfigFields[field] : key);
        switch (field) {
          case 0: return take_number(member, param, sampling.temperature);
          case 1: return take_number(member, param, sampling.top_p);
          case 2: return take_number(member, param, sampling.top_k);
          case 3: return take_number(member, param, sampling.choices);
          case 4: return take_number(member, param, sampling.max_output_tokens);
          case 5: return take_texts(member, param, sampling.stop);
          case 6: return take_number(member, param, sampling.presence_penalty);
          case 7: return take_number(member, param, sampling.frequency_penalty);
          case 8: return take_number(member, param, sampling.seed);
          case 9: return take_flag(member, param, sampling.logprobs);
          case 10: return take_number(member, param, sampling.top_logprobs);
          case 11: {
            QQ_TRY(format.mime_type, text_field(member, param));
            return {};
          }
          case 12:
          case 13:
            if (field == 12 && !member.is_object()) return fail(wrong_type(param, "an object"));
            (field == 12 ? format.schema : format.json_schema) = member;
            return {};
          case 14: {
            QQ_CHECK(take_texts(member, param, request.modalities));
            for (std::string& modality : request.modalities) modality = lower(modality);
            return {};
          }
          case 15: return take_thinking(member, param, request);
          default: request.extra.push_back(extra_field(path, key, member)); return {};
        }
      }));
  take_format(format, path, request);
  return {};
}

// ---- the whole --------------------------------------------------------------------------------------------

// "models/gemini-2.5-flash" and Vertex's "publishers/google/models/…" name the same.
std::string_view bare_model(std::string_view name) noexcept {
  constexpr std::string_view kPlace = "models/";
  const std::size_t at = name.rfind(kPlace);
  return at == std::string_view::npos ? name : name.substr(at + kPlace.size());
}

void take_tier(std::string_view tier, ChatRequest& request) {
  std::string word = lower(tier);
  if (word == "unspecified" || word == "service_tier_unspecified") return;
  request.service_tier = word == "standard" ? "default" : std::move(word);
}

constexpr std::array<std::string_view, 9> kRequestFields{"contents",   "systemInstruction", "tools",
                                                         "toolConfig", "generationConfig",  "cachedContent",
                                                         "labels",     "serviceTier",       "model"};

}  // namespace

Result<ChatRequest> decode_request(JsonValue document, const RequestHead& head) {
  ChatRequest request;
  request.dialect = model::Dialect::Gemini;
  request.model = bare_model(head.path_model);
  request.stream = head.path_stream;
  request.usage_in_stream = true;  // it always has it
  ContentDecoder contents;
  bool has_contents = false;
  QQ_CHECK(read_members(document, kRequestFields, {},
                        [&](std::size_t field, std::string_view key, JsonValue value) -> Result<> {
                          const std::string path(field < kRequestFields.size() ? kRequestFields[field] : key);
                          switch (field) {
                            case 0:
                              has_contents = value.text() != "[]";
                              return contents.take_contents(value, path);
                            case 1: return contents.take_system(value, path);
                            case 2:
                              return read_list(value, path, [&](const std::string& at, JsonValue tool) {
                                return take_tool(tool, at, request);
                              });
                            case 3: return take_tool_config(value, path, request);
                            case 4: return take_config(value, path, request);
                            case 5: {
                              QQ_TRY(request.cached_content, text_field(value, path));
                              return {};
                            }
                            case 6:
                              if (!value.is_object()) return fail(wrong_type(path, "an object"));
                              request.metadata = value.text();
                              return {};
                            case 7: {
                              QQ_TRY(const std::string tier, text_field(value, path));
                              take_tier(tier, request);
                              return {};
                            }
                            case 8: {  // the URL's counts
                              QQ_TRY(const std::string model, text_field(value, path));
                              if (request.model.empty()) request.model = bare_model(model);
                              return {};
                            }
                            default: request.extra.push_back(extra_field({}, key, value)); return {};
                          }
                        }));
  if (request.model.empty()) {
    return fail(
        invalid_field("the URL names no model; post to /v1beta/models/NAME:generateContent", "model"));
  }
  if (!has_contents) {
    return fail(
        invalid_field("'contents' is missing or empty; give the conversation's contents", "contents"));
  }
  contents.release(request.turns);
  return request;
}

Result<ChatRequest> decode_request(std::string_view body, const RequestHead& head) {
  if (const auto error = wire::check_json(body)) {
    return fail(invalid_field("the body is not valid JSON: " + std::string(error->reason) + " at byte " +
                                  std::to_string(error->offset),
                              {}));
  }
  const JsonValue document(body);
  if (!document.is_object()) return fail(invalid_field("the body must be a JSON object", {}));
  return decode_request(document, head);
}

}  // namespace qq::dialects::gemini
