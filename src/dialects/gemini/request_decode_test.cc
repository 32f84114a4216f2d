// What clients say, in all the spellings that Google takes.
#include <fakes/gemini.h>

#include "dialects/carried_state.h"

namespace qq::dialects::gemini {
namespace {

using testing::decoded;
using testing::request_of;

constexpr std::string_view kHello = R"("contents":[{"role":"user","parts":[{"text":"hi"}]}])";

std::string with(std::string_view members) {
  return "{" + std::string(kHello) + "," + std::string(members) + "}";
}

TEST(GeminiRequest, ModelAndStreamComeFromTheUrl) {
  EXPECT_EQ(
      decoded("{" + std::string(kHello) + "}", {.path_model = "models/gemini-2.5-pro", .path_stream = true}),
      "request gemini model=gemini-2.5-pro stream usage_in_stream\n  user\n    text \"hi\"\n");
}

TEST(GeminiRequest, MayBeWrittenInSnakeCaseAndWithOneForAListOfOne) {
  const std::string camel = decoded(
      R"({"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}],)"
      R"("generationConfig":{"maxOutputTokens":7,"stopSequences":["x"],"thinkingConfig":{"thinkingBudget":9}},)"
      R"("tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}]}],)"
      R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}})");
  EXPECT_EQ(
      camel,
      decoded(
          R"({"system_instruction":{"parts":{"text":"s"}},"contents":{"parts":{"inline_data":{"mime_type":"image/png","data":"AA=="}}},)"
          R"("generation_config":{"max_output_tokens":"7","stop_sequences":"x","thinking_config":{"thinking_budget":9.0}},)"
          R"("tools":{"function_declarations":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}},)"
          R"("tool_config":{"function_calling_config":{"mode":"any","allowed_function_names":["f"]}}})"));
  EXPECT_EQ(camel,
            "request gemini model=asked usage_in_stream\n"
            "  system\n    text \"s\"\n"
            "  user\n    image base64 \"AA==\" image/png\n"
            "  tool function f \"\" {\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}\n"
            "  tool_choice required f\n"
            "  reasoning budget 9\n"
            "  max_output_tokens 7\n"
            "  stop \"x\"\n");
}

TEST(GeminiRequest, NullIsAbsent) {
  EXPECT_EQ(decoded(with(R"("tools":null,"toolConfig":null,"systemInstruction":null,"safetySettings":null,)"
                         R"("generationConfig":{"temperature":null,"thinkingConfig":null})")),
            decoded("{" + std::string(kHello) + "}"));
}

TEST(GeminiRequest, AllOfGenerationConfigIsRead) {
  EXPECT_EQ(
      decoded(with(
          R"("generationConfig":{"temperature":0.5,"topP":0.9,"topK":40.0,"candidateCount":2,"maxOutputTokens":5,)"
          R"("stopSequences":["a","b"],"presencePenalty":0.1,"frequencyPenalty":-0.25,"seed":7,"responseLogprobs":true,)"
          R"("logprobs":3,"responseMimeType":"application/json","responseSchema":{"type":"STRING"},)"
          R"("responseModalities":["TEXT","IMAGE"],"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"},)"
          R"("speechConfig":{"a":1},"mediaResolution":"MEDIA_RESOLUTION_LOW"},"cachedContent":"cachedContents/x",)"
          R"("labels":{"a":"b"},"serviceTier":"FLEX","safetySettings":[{"category":"c"}])")),
      "request gemini model=asked usage_in_stream\n  user\n    text \"hi\"\n"
      "  output json_schema  {\"type\":\"string\"}\n  reasoning effort low show\n"
      "  temperature 0.500000\n  top_p 0.900000\n  top_k 40\n  presence_penalty 0.100000\n"
      "  frequency_penalty -0.250000\n  seed 7\n  max_output_tokens 5\n  choices 2\n  logprobs 1\n  "
      "top_logprobs 3\n"
      "  stop \"a\"\n  stop \"b\"\n  modality text\n  modality image\n  metadata {\"a\":\"b\"}\n"
      "  service_tier flex\n  cached_content cachedContents/x\n"
      "  +generationConfig.speechConfig={\"a\":1}\n"
      "  +generationConfig.mediaResolution=\"MEDIA_RESOLUTION_LOW\"\n  "
      "+safetySettings=[{\"category\":\"c\"}]\n");
}

TEST(GeminiRequest, JsonIsAskedForWithAndWithoutASchema) {
  EXPECT_NE(decoded(with(R"("generationConfig":{"responseMimeType":"application/json"})"))
                .find("output json_object"),
            std::string::npos);
  EXPECT_NE(decoded(with(R"("generationConfig":{"responseJsonSchema":{"const":1}})"))
                .find("output json_schema  {\"const\":1}"),
            std::string::npos);
  EXPECT_NE(
      decoded(
          with(R"("generationConfig":{"responseMimeType":"text/x.enum","responseSchema":{"enum":["a"]}})"))
          .find("+generationConfig.responseMimeType=\"text/x.enum\"\n  +generationConfig.responseSchema={"),
      std::string::npos);
}

TEST(GeminiRequest, HostedToolsAndFunctionsMayShareAnEntry) {
  EXPECT_NE(
      decoded(
          with(R"("tools":[{"googleSearch":{},"functionDeclarations":[{"name":"f","description":"d",)"
               R"("parametersJsonSchema":{"type":"object"},"behavior":"BLOCKING"}]},{"code_execution":{}}])"))
          .find("  tool hosted googleSearch \"\" {\"googleSearch\":{}}\n"
                "  tool function f \"d\" {\"type\":\"object\"} +behavior=\"BLOCKING\"\n"
                "  tool hosted code_execution \"\" {\"code_execution\":{}}\n"),
      std::string::npos);
}

TEST(GeminiRequest, CallsWithoutIdsGetSomeAndResultsFindThemByNameAndOrder) {
  EXPECT_EQ(
      decoded(
          R"({"contents":[{"parts":[{"text":"q"}]},)"
          R"({"role":"model","parts":[{"functionCall":{"name":"f","args":{"n": 1}}},{"functionCall":{"name":"g"}},{"functionCall":{"name":"f","args":{"n":2}}}]},)"
          R"({"role":"function","parts":[{"functionResponse":{"name":"g","response":{"output":"from g"}}},)"
          R"({"functionResponse":{"name":"f","response":{"error":"first"}}},{"functionResponse":{"name":"f","response":{"x":[ 1 ]}}}]}]})"),
      "request gemini model=asked usage_in_stream\n  user\n    text \"q\"\n"
      "  assistant\n    call call_0 f {\"n\":1}\n    call call_1 g {}\n    call call_2 f {\"n\":2}\n"
      "  user\n    result of call_1 g\n      text \"from g\"\n    result of call_0 f error\n      text "
      "\"first\"\n"
      "    result of call_2 f\n      text \"{\"x\":[1]}\"\n");
}

TEST(GeminiRequest, ResultsMayHaveMediaAndOnlyAnId) {
  EXPECT_NE(decoded(R"({"contents":[{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}}]},)"
                    R"({"role":"user","parts":[{"functionResponse":{"id":"a","response":{"output":"o"},)"
                    R"("parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}]})")
                .find("result of a f\n      text \"o\"\n      image base64 \"AA==\" image/png"),
            std::string::npos);
}

TEST(GeminiRequest, WhatTravelledInAnIdIsPutBackBeforeTheCall) {
  Carried carried;
  carried.call = {model::Dialect::Gemini, "sig"};
  model::Part thought(model::ReasoningPart{.kind = model::ReasoningPart::Kind::Full, .text = "hm", .id = {}});
  thought.state = {model::Dialect::Anthropic, "anthropic's"};
  carried.reasoning.push_back(thought);
  const std::string id = with_carried("toolu_1", carried).value();
  EXPECT_EQ(decoded(R"({"contents":[{"role":"model","parts":[{"functionCall":{"id":")" + id +
                    R"(","name":"f"}}]},{"parts":[{"functionResponse":{"id":")" + id +
                    R"(","name":"f","response":{"output":"o"}}}]}]})"),
            "request gemini model=asked usage_in_stream\n"
            "  assistant\n    reasoning \"hm\" state anthropic:anthropic's\n    call toolu_1 f {} state "
            "gemini:sig\n"
            "  user\n    result of toolu_1 f\n      text \"o\"\n");
}

TEST(GeminiRequest, WhatTravelledInAnIdIsLeftThereIfTheHistoryHoldsItItself) {
  Carried carried;
  model::Part thought(model::ReasoningPart{.text = "hm", .id = {}});
  thought.state = {model::Dialect::Anthropic, "theirs"};
  carried.reasoning.push_back(thought);
  const std::string id = with_carried("t", carried).value();
  const std::string shown = R"({"text":"hm","thought":true,"thoughtSignature":")" +
                            state_field(thought.state, model::Dialect::Gemini) + R"("})";
  for (const char* between : {",", R"(]},{"role":"model","parts":[)"}) {
    EXPECT_EQ(decoded(R"({"contents":[{"role":"model","parts":[)" + shown + between +
                      R"({"functionCall":{"id":")" + id + R"(","name":"f"}}]}]})"),
              "request gemini model=asked usage_in_stream\n"
              "  assistant\n    reasoning \"hm\" state anthropic:theirs\n    call t f {}\n");
  }
}

TEST(GeminiRequest, SignaturesAreStatesOfWhoeverMadeThem) {
  const std::string foreign = state_field({model::Dialect::Anthropic, "theirs"}, model::Dialect::Gemini);
  EXPECT_EQ(
      decoded(
          R"({"contents":[{"role":"model","parts":[{"text":"a","thought":true,"thoughtSignature":")" +
          foreign +
          R"("},{"text":"b","thought":true},{"text":"c","thoughtSignature":"own"},{"thought_signature":"alone"}]}]})"),
      "request gemini model=asked usage_in_stream\n  assistant\n"
      "    reasoning \"a\" state anthropic:theirs\n    reasoning_summary \"b\"\n"
      "    text \"c\" state gemini:own\n    text \"\" state gemini:alone\n");
}

// Google's JavaScript SDK keeps a content per response of a stream in its chats.
TEST(GeminiRequest, DeltasThatAClientKeptAreOneTurn) {
  EXPECT_EQ(
      decoded(
          R"({"contents":[{"parts":[{"text":"q"}]},{"role":"model","parts":[{"text":""}]},)"
          R"({"role":"model","parts":[{"text":"th","thought":true}]},{"role":"model","parts":[{"text":"ink","thought":true}]},)"
          R"({"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},)"
          R"({"role":"model","parts":[{"text":"","thoughtSignature":"s"}]},{"role":"model","parts":[{"text":"c"}]},)"
          R"({"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"model","parts":[{"text":""}]}]})"),
      "request gemini model=asked usage_in_stream\n  user\n    text \"q\"\n"
      "  assistant\n    reasoning_summary \"think\"\n    text \"ab\" state gemini:s\n    text \"c\"\n    "
      "call call_0 f {}\n");
}

TEST(GeminiRequest, PartsOfGooglesOwnAreKeptWhole) {
  EXPECT_EQ(
      decoded(
          R"({"contents":[{"role":"model","parts":[{"executableCode":{"code":"1"},"thoughtSignature":"s"},)"
          R"({"codeExecutionResult":{}},{"somethingNew":{"a":1}}]}]})"),
      "request gemini model=asked usage_in_stream\n  assistant\n"
      "    opaque gemini executableCode {\"executableCode\":{\"code\":\"1\"},\"thoughtSignature\":\"s\"}\n"
      "    opaque gemini codeExecutionResult {\"codeExecutionResult\":{}}\n"
      "    opaque gemini somethingNew {\"somethingNew\":{\"a\":1}}\n");
}

struct Refusal {
  std::string_view body;
  std::string_view error;  // "param: message"
};

TEST(GeminiRequest, MistakesAreToldWithTheirField) {
  const Refusal refusals[] = {
      {"{", ": the body is not valid JSON: expected a key at byte 1"},
      {"[]", ": the body must be a JSON object"},
      {"{}", "contents: 'contents' is missing or empty; give the conversation's contents"},
      {R"({"contents":[]})", "contents: 'contents' is missing or empty; give the conversation's contents"},
      {R"({"contents":[{"role":"system","parts":[]}]})",
       "contents[0].role: 'contents[0].role' must be \"user\" or \"model\""},
      {R"({"contents":[{"parts":[{"text":1}]}]})",
       "contents[0].parts[0].text: 'contents[0].parts[0].text' must be a string"},
      {R"({"contents":[{"parts":[{}]}]})",
       "contents[0].parts[0]: 'contents[0].parts[0]' has no content; give it \"text\" or another kind"},
      {R"({"contents":[{"parts":["a"]}]})", "contents[0].parts[0]: 'contents[0].parts[0]' must be an object"},
      {R"({"contents":[{"parts":[{"functionCall":{}}]}]})",
       "contents[0].parts[0].functionCall.name: 'contents[0].parts[0].functionCall.name' is missing or "
       "empty"},
      {R"({"contents":[{"parts":[{"functionCall":{"name":"f","args":"x"}}]}]})",
       "contents[0].parts[0].functionCall.args: 'contents[0].parts[0].functionCall.args' must be an object"},
      {R"({"contents":[{"parts":[{"inlineData":{"mimeType":"a/b"}}]}]})",
       "contents[0].parts[0].inlineData.data: 'contents[0].parts[0].inlineData.data' is missing or empty"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"topK":1.5}})",
       "generationConfig.topK: 'generationConfig.topK' must be a whole number"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"generation_config":{"temperature":"hot"}})",
       "generationConfig.temperature: 'generationConfig.temperature' must be a number"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"huge"}}})",
       "generationConfig.thinkingConfig.thinkingLevel: 'generationConfig.thinkingConfig.thinkingLevel' must "
       "be MINIMAL, LOW, "
       "MEDIUM or HIGH"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"toolConfig":{"functionCallingConfig":{"mode":"SOME"}}})",
       "toolConfig.functionCallingConfig.mode: 'toolConfig.functionCallingConfig.mode' must be AUTO, ANY, "
       "NONE or VALIDATED"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{},"parametersJsonSchema":{}}]}]})",
       "tools[0].functionDeclarations[0].parametersJsonSchema: give either 'parameters' or "
       "'parametersJsonSchema'"},
      {R"({"contents":[{"parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"inlineData":{"data":"AA=="}}]}})",
       "systemInstruction: 'systemInstruction' can only have text parts"},
  };
  for (const Refusal& refusal : refusals) EXPECT_EQ(decoded(refusal.body), refusal.error) << refusal.body;
}

TEST(GeminiRequest, TwoSpellingsOfOneFieldAreRefused) {
  EXPECT_EQ(
      decoded(R"({"contents":[{"parts":[{"text":"a"}]}],"systemInstruction":{},"system_instruction":{}})"),
      "systemInstruction: the key \"systemInstruction\" is given twice; give it once");
  EXPECT_EQ(decoded(R"({"cont\u0065nts":[]})"),
            "contents: the key \"contents\" is written with escapes; write it plainly");
  EXPECT_EQ(decoded(R"({"contents":[{"parts":[{"te\u0078t":"a"}]}]})"),
            "contents[0].parts[0].text: the key \"contents[0].parts[0].text\" is written with escapes; write "
            "it plainly");
  EXPECT_EQ(decoded(R"({"contents":[{"parts":[{"functionCall":{"name":"f","name":"g"}}]}]})"),
            "contents[0].parts[0].functionCall.name: the key \"contents[0].parts[0].functionCall.name\" is "
            "given twice; give it once");
}

TEST(GeminiRequest, WithoutAModelIsRefused) {
  EXPECT_EQ(decoded("{" + std::string(kHello) + "}", {}),
            "model: the URL names no model; post to /v1beta/models/NAME:generateContent");
  EXPECT_EQ(request_of(with(R"("model":"models/x")"), {}).model, "x");
}

}  // namespace
}  // namespace qq::dialects::gemini
