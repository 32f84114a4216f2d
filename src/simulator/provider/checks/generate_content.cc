// Google's generateContent: its reader of JSON refuses every name that it does not know, calls and results
// must match in number, and Gemini 3 wants its signatures back
// (ai.google.dev/gemini-api/docs/thought-signatures).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/base64.h"
#include "simulator/provider/answer.h"
#include "simulator/provider/checks/check.h"
#include "simulator/provider/signature.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 9> kContentMembers{
    "contents",         "systemInstruction", "tools",  "toolConfig", "safetySettings",
    "generationConfig", "cachedContent",     "labels", "model"};
constexpr std::array<std::string_view, 23> kConfigMembers{"temperature",
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
                                                          "thinkingConfig",
                                                          "speechConfig",
                                                          "mediaResolution",
                                                          "imageConfig",
                                                          "routingConfig",
                                                          "audioTimestamp",
                                                          "enableEnhancedCivicAnswers",
                                                          "modelSelectionConfig"};
// Schema of the API: OpenAPI 3.0, in part.
constexpr std::array<std::string_view, 24> kSchemaMembers{"type",
                                                          "format",
                                                          "title",
                                                          "description",
                                                          "nullable",
                                                          "enum",
                                                          "maxItems",
                                                          "minItems",
                                                          "properties",
                                                          "required",
                                                          "minProperties",
                                                          "maxProperties",
                                                          "minLength",
                                                          "maxLength",
                                                          "pattern",
                                                          "example",
                                                          "anyOf",
                                                          "propertyOrdering",
                                                          "default",
                                                          "items",
                                                          "minimum",
                                                          "maximum",
                                                          "property_ordering",
                                                          "any_of"};

// What Google takes for history that is not its own.
bool is_pass(std::string_view signature) noexcept {
  return signature == "skip_thought_signature_validator" ||
         signature == "context_engineering_is_the_way_to_go";
}

// "thinkingConfig" of "thinking_config": names are taken in both.
std::string camel(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' && i + 1 < name.size()) {
      out += static_cast<char>(name[++i] & ~0x20);
    } else {
      out += name[i];
    }
  }
  return out;
}

std::optional<JsonValue> either_member(JsonValue object, std::string_view name) {
  for (JsonMembers at(object); at.next();) {
    if (camel(at.raw_key()) == name) return at.value();
  }
  return std::nullopt;
}

class ContentCheck {
 public:
  ContentCheck(const RequestText& request, bool wants_signatures)
      : request_(request), wants_signatures_(wants_signatures) {}

  Refusal run() {
    const JsonValue body(request_.body);
    known_names(body, kContentMembers, "");
    if (const auto config = either_member(body, "generationConfig")) check_config(*config);
    if (const auto tools = either_member(body, "tools")) check_tools(*tools);
    const auto contents = body.member("contents");
    if (!contents || contents->text() == "[]") {
      refuse("* GenerateContentRequest.contents: contents is not specified\n");
    } else if (contents->is_array()) {
      check_turns(*contents);
    }
    return std::move(refusal_);
  }

 private:
  void refuse(std::string message) {
    if (!refusal_) refusal_ = refused(request_, std::move(message));
  }
  void unknown(std::string_view name, const std::string& where) {
    refuse(fmt::format("Invalid JSON payload received. Unknown name \"{}\"{}: Cannot find field.", name,
                       where.empty() ? std::string() : fmt::format(" at '{}'", where)));
  }
  void known_names(JsonValue object, Names names, const std::string& where) {
    for (JsonMembers at(object); at.next();) {
      if (std::ranges::find(names, camel(at.raw_key())) == names.end()) unknown(at.raw_key(), where);
    }
  }

  void check_config(JsonValue config) {
    known_names(config, kConfigMembers, "generation_config");
    if (const auto schema = either_member(config, "responseSchema"))
      check_schema(*schema, "generation_config.response_schema");
    std::size_t stops = 0;
    if (const auto list = either_member(config, "stopSequences")) {
      for (JsonElements items(*list); items.next();) ++stops;
    }
    if (stops > 5) refuse("Unable to submit request because it has more than 5 stop sequences.");
  }

  void check_schema(JsonValue schema, const std::string& where) {
    if (!schema.is_object()) return;
    for (JsonMembers at(schema); at.next();) {
      if (std::ranges::find(kSchemaMembers, at.raw_key()) == kSchemaMembers.end())
        unknown(at.raw_key(), where);
      if (at.key_is("properties")) {
        std::size_t index = 0;
        for (JsonMembers each(at.value()); each.next(); ++index)
          check_schema(each.value(), fmt::format("{}.properties[{}].value", where, index));
      } else if (at.key_is("items")) {
        check_schema(at.value(), where + ".items");
      } else if (at.key_is("anyOf")) {
        std::size_t index = 0;
        for (JsonElements each(at.value()); each.next(); ++index)
          check_schema(each.value(), fmt::format("{}.any_of[{}]", where, index));
      }
    }
  }

  void check_tools(JsonValue tools) {
    std::size_t index = 0;
    for (JsonElements items(tools); items.next(); ++index) {
      const auto functions = either_member(items.value(), "functionDeclarations");
      if (!functions) continue;
      std::size_t number = 0;
      for (JsonElements each(*functions); each.next(); ++number) {
        const std::string where = fmt::format("tools[{}].function_declarations[{}]", index, number);
        const std::string name = text_member(each.value(), "name");
        const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                 c == '.' || c == '-' || c == ':';
        });
        if (!fits) refuse(fmt::format("* GenerateContentRequest.{}.name: Invalid function name.", where));
        if (const auto schema = each.value().member("parameters"))
          check_schema(*schema, where + ".parameters");
      }
    }
  }

  void check_turns(JsonValue contents) {
    std::size_t calls = 0;  // of the turn before
    std::size_t index = 0;
    std::string before;
    for (JsonElements turns(contents); turns.next(); ++index) {
      const std::string role = text_member(turns.value(), "role");
      if (role.empty() && request_.path.vendor == "vertex") {
        refuse("Please use a valid role: user, model.");
      } else if (!role.empty() && role != "user" && role != "model" && role != "function") {
        refuse("Please use a valid role: user, model.");
      }
      Turn turn = read_turn(turns.value(), index);
      if (role == "model") {
        if (calls > 0) mismatch();
        if (turn.calls > 0 && before != "user" && before != "function") {
          refuse(
              "Please ensure that function call turn comes immediately after a user turn or after a function "
              "response turn.");
        }
        if (turn.calls > 0) steps_.push_back({index, turn.first_signature});
        calls = turn.calls;
      } else {
        if (turn.results != calls) mismatch();
        calls = 0;
        // A user's own words begin the turn whose signatures are wanted.
        if (turn.results == 0) steps_.clear();
      }
      before = role.empty() ? "user" : role;
    }
    if (calls > 0) mismatch();
    check_signatures();
  }
  void mismatch() {
    refuse(
        "Please ensure that the number of function response parts is equal to the number of function call "
        "parts of the function call turn.");
  }

  struct Turn {
    std::size_t calls = 0;
    std::size_t results = 0;
    std::string first_signature;  // of the first call
  };
  Turn read_turn(JsonValue content, std::size_t index) {
    Turn turn;
    const auto parts = content.member("parts");
    if (!parts || parts->text() == "[]") {
      refuse(fmt::format("* GenerateContentRequest.contents[{}].parts: contents.parts must not be empty.\n",
                         index));
      return turn;
    }
    std::size_t number = 0;
    for (JsonElements items(*parts); items.next(); ++number) {
      const JsonValue part = items.value();
      const auto signature = either_member(part, "thoughtSignature");
      if (signature) check_signature(signature->string());
      if (const auto call = either_member(part, "functionCall")) {
        if (turn.calls++ == 0 && signature) turn.first_signature = signature->string();
        const auto args = call->member("args");
        if (args && !args->is_object() && !args->is_null())
          refuse(fmt::format("Invalid value at 'contents[{}].parts[{}].function_call.args'", index, number));
        if (const std::string id = text_member(*call, "id"); !id.empty()) ids_.push_back(id);
      } else if (const auto result = either_member(part, "functionResponse")) {
        ++turn.results;
        const auto response = result->member("response");
        if (!response || !response->is_object()) {
          refuse(fmt::format("Invalid value at 'contents[{}].parts[{}].function_response.response'", index,
                             number));
        }
        const std::string id = text_member(*result, "id");
        if (!id.empty() && std::ranges::find(ids_, id) == ids_.end())
          refuse(fmt::format("Function response id {} does not match any function call.", id));
        if (text_member(*result, "name").empty()) {
          refuse(fmt::format(
              "* GenerateContentRequest.contents[{}].parts[{}].function_response.name: Name cannot "
              "be empty.\n",
              index, number));
        }
      } else if (part.text() == "{}") {
        refuse(fmt::format(
            "* GenerateContentRequest.contents[{}].parts[{}].data: required oneof field 'data' must "
            "have one initialized field\n",
            index, number));
      }
    }
    return turn;
  }

  // On whatever part it came: one of another maker's is refused.
  void check_signature(std::string_view signature) {
    if (!from_base64(signature) && !is_pass(signature)) {
      refuse("Invalid value at 'contents.parts.thought_signature' (TYPE_BYTES), Base64 decoding failed.");
    } else if (!is_pass(signature) && !is_signature(model::Dialect::Gemini, signature)) {
      refuse("Thought signature is not valid.");
    }
  }

  // The first call of every step since the user's last words.
  void check_signatures() {
    if (!wants_signatures_) return;
    for (const Step& step : steps_) {
      if (!step.signature.empty()) continue;
      refuse(fmt::format(
          "Function call is missing a thought_signature in functionCall parts. This is required for "
          "tools to work correctly, and missing thought_signature may lead to degraded model "
          "performance. Additional data, function call in content {}.",
          step.content));
    }
  }

  struct Step {
    std::size_t content;
    std::string signature;
  };

  const RequestText& request_;
  bool wants_signatures_;
  Refusal refusal_;
  std::vector<Step> steps_;
  std::vector<std::string> ids_;
};

}  // namespace

Refusal refuse_generate_content(const RequestText& request, std::string_view model, const Script& script) {
  return ContentCheck(request, needs_signatures(model, script)).run();
}

}  // namespace qq::simulator
