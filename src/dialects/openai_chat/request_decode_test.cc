#include <fakes/neutral.h>

#include "dialects/carried_state.h"
#include "dialects/openai_chat/dialect.h"

namespace qq::dialects::openai_chat {
namespace request_decode_test {

model::ChatRequest decoded(std::string_view body) {
  auto request = client_side().decode_request(body, {});
  EXPECT_TRUE(request) << body << ": " << request.error().message;
  return request ? std::move(*request) : model::ChatRequest{};
}

std::string with_messages(std::string_view messages) {
  return std::string(R"({"model":"m","messages":)").append(messages).append("}");
}

Error refused(std::string_view body) {
  const auto request = client_side().decode_request(body, {});
  EXPECT_FALSE(request) << body;
  return request ? Error{} : request.error();
}

TEST(ChatRequestDecode, ReadsEveryField) {
  const model::ChatRequest request = decoded(R"({
    "model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,
    "stream_options":{"include_usage":true,"include_obfuscation":false},
    "max_completion_tokens":9,"temperature":0.5,"top_p":0.9,"top_k":3,"presence_penalty":0.25,
    "frequency_penalty":-0.5,"seed":7,"stop":["a","b"],"n":2,"logprobs":true,"top_logprobs":4,
    "logit_bias":{"1":-100},"modalities":["text","audio"],"audio":{"voice":"alloy","format":"wav"},"user":"u",
    "metadata":{"k":"v"},"service_tier":"flex","prompt_cache_key":"k","store":true,
    "reasoning_effort":"xhigh","verbosity":"low","parallel_tool_calls":false})");
  EXPECT_EQ(testing::describe(request),
            "request openai_chat model=m stream usage_in_stream\n"
            "  user\n"
            "    text \"Hi\"\n"
            "  not_parallel\n"
            "  reasoning effort xhigh\n"
            "  temperature 0.500000\n  top_p 0.900000\n  top_k 3\n"
            "  presence_penalty 0.250000\n  frequency_penalty -0.500000\n  seed 7\n"
            "  max_output_tokens 9\n  choices 2\n  logprobs 1\n  top_logprobs 4\n"
            "  stop \"a\"\n  stop \"b\"\n  logit_bias {\"1\":-100}\n"
            "  modality text\n  modality audio\n  audio_output {\"voice\":\"alloy\",\"format\":\"wav\"}\n"
            "  user u\n  metadata {\"k\":\"v\"}\n  service_tier flex\n  cache_key k\n  store\n"
            "  +verbosity=\"low\"\n");
}

TEST(ChatRequestDecode, NullIsAbsent) {
  const model::ChatRequest request = decoded(
      R"({"model":"m","messages":[{"role":"user","content":"","name":null}],"stream":null,"stop":null,
          "temperature":null,"tools":null,"tool_choice":null,"response_format":null,"stream_options":null})");
  EXPECT_EQ(testing::describe(request), "request openai_chat model=m\n  user\n");
}

TEST(ChatRequestDecode, ReadsContentPartsOfAllKinds) {
  const model::ChatRequest request = decoded(with_messages(R"([{"role":"user","content":[
    {"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},
    {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},
    {"type":"image_url","image_url":"https://x/y.png"},
    {"type":"video_url","video_url":{"url":"https://x/y.mp4"}},
    {"type":"input_audio","input_audio":{"data":"BBBB","format":"mp3"}},
    {"type":"input_audio","input_audio":"UklGRA=="},
    {"type":"file","file":{"file_id":"file-1"}},
    {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,CCCC"}},
    {"type":"file","file":{"file_data":"https://x/y.pdf"}},
    {"type":"file","file":{"file_data":"CCCC"}},
    {"type":"new_thing","x":1}]}])"));
  EXPECT_EQ(testing::describe_parts(request.turns.at(0).parts, ""),
            "text \"a\" cache 1h\n"
            "image base64 \"AAAA\" image/png detail low\n"
            "image url \"https://x/y.png\" \n"
            "video url \"https://x/y.mp4\" \n"
            "audio base64 \"BBBB\" audio/mpeg\n"
            "audio base64 \"UklGRA==\" audio/wav\n"
            "file file_id \"file-1\" \n"
            "file base64 \"CCCC\" application/pdf name \"a.pdf\"\n"
            "file url \"https://x/y.pdf\" \n"
            "file base64 \"CCCC\" \n"
            "opaque openai_chat new_thing {\"type\":\"new_thing\",\"x\":1}\n");
}

TEST(ChatRequestDecode, ResultsThatFollowEachOtherAreOneTurn) {
  const model::ChatRequest request = decoded(with_messages(R"([
    {"role":"assistant","content":null,"tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":""}},
      {"id":"b","type":"custom","custom":{"name":"g","input":"free"}}]},
    {"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"}]},
    {"role":"tool","tool_call_id":"a","content":"1"},
    {"role":"user","content":"go on"}])"));
  ASSERT_EQ(request.turns.size(), 3U);
  EXPECT_EQ(testing::describe_parts(request.turns[0].parts, ""), "call a f {}\ncustom_call b g free\n");
  EXPECT_EQ(testing::describe_parts(request.turns[1].parts, ""),
            "result of b g\n      text \"2\"\nresult of a f\n      text \"1\"\n");
}

TEST(ChatRequestDecode, NullArgumentsAreAnEmptyObject) {
  const model::ChatRequest request = decoded(with_messages(
      R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"null"}}]}])"));
  EXPECT_EQ(request.turns[0].parts[0].as<model::ToolCallPart>()->arguments, "{}");
}

TEST(ChatRequestDecode, ReadsThoughtsUnderAllTheirNames) {
  for (const char* field :
       {R"("reasoning_content":"t")", R"("reasoning":"t")", R"("reasoning":"t","reasoning_content":"t")",
        R"("reasoning_details":[{"type":"reasoning.text","text":"t"}])",
        R"("reasoning":"t","reasoning_details":[{"type":"reasoning.text","text":"t"}])"}) {
    const model::ChatRequest request = decoded(
        with_messages(std::string(R"([{"role":"assistant","content":"x",)").append(field).append("}]")));
    EXPECT_EQ(testing::describe_parts(request.turns.at(0).parts, ""), "reasoning \"t\"\ntext \"x\"\n")
        << field;
  }
}

TEST(ChatRequestDecode, StateOfDetailsKnowsItsMaker) {
  const std::string sealed = state_field({model::Dialect::Anthropic, "sig"}, model::Dialect::OpenAiChat);
  const model::ChatRequest request = decoded(with_messages(
      R"([{"role":"assistant","content":"x","reasoning_details":[
        {"type":"reasoning.text","text":"a","signature":")" +
      sealed + R"(","index":0},
        {"type":"reasoning.summary","summary":"b","id":"rs_1","index":1},
        {"type":"reasoning.encrypted","data":"enc","id":"rs_1","index":1,"format":"openai-responses-v1"}]}])"));
  EXPECT_EQ(testing::describe_parts(request.turns.at(0).parts, ""),
            "reasoning \"a\" state anthropic:sig\n"
            "reasoning_summary \"b\" id rs_1 state openai_chat:{\"type\":\"reasoning.encrypted\","
            "\"data\":\"enc\",\"id\":\"rs_1\",\"index\":1,\"format\":\"openai-responses-v1\"}\n"
            "text \"x\"\n");
}

std::string carrying(const Carried& carried) {
  return *with_carried("call_1", carried);
}
Carried thought_of_anthropic() {
  Carried carried;
  model::Part thought(model::ReasoningPart{.text = "why", .id = {}});
  thought.state = {model::Dialect::Anthropic, "sig"};
  carried.reasoning.push_back(thought);
  carried.call = {model::Dialect::Gemini, "ts"};
  return carried;
}

TEST(ChatRequestDecode, StateComesBackOutOfTheIdOfACall) {
  const std::string id = carrying(thought_of_anthropic());
  const model::ChatRequest request = decoded(with_messages(
      R"([{"role":"assistant","content":"x","tool_calls":[{"id":")" + id +
      R"(","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":")" +
      id + R"(","content":"1"}])"));
  EXPECT_EQ(testing::describe_parts(request.turns.at(0).parts, ""),
            "text \"x\"\nreasoning \"why\" state anthropic:sig\ncall call_1 f {} state gemini:ts\n");
  EXPECT_EQ(testing::describe_parts(request.turns.at(1).parts, ""), "result of call_1 f\n      text \"1\"\n");
}

TEST(ChatRequestDecode, AThoughtThatTheHistoryHoldsIsNotPutThereTwice) {
  const std::string id = carrying(thought_of_anthropic());
  const std::string sealed = state_field({model::Dialect::Anthropic, "sig"}, model::Dialect::OpenAiChat);
  const std::string call =
      R"("tool_calls":[{"id":")" + id + R"(","function":{"name":"f","arguments":"{}"}}]}])";
  const std::string with_details = R"([{"role":"assistant","reasoning_content":"why","reasoning_details":[
      {"type":"reasoning.text","text":"why","signature":")" +
                                   sealed + R"("}],)" + call;
  const std::string with_text = R"([{"role":"assistant","reasoning_content":"why",)" + call;
  for (const std::string& messages : {with_details, with_text}) {
    EXPECT_EQ(testing::describe_parts(decoded(with_messages(messages)).turns.at(0).parts, ""),
              "reasoning \"why\" state anthropic:sig\ncall call_1 f {} state gemini:ts\n");
  }
}

TEST(ChatRequestDecode, ReadsToolsAndTheirChoice) {
  const std::string tools = R"({"model":"m","messages":[],"tools":[
    {"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},
    {"function":{"name":"g"}},{"type":"custom","custom":{"name":"h","format":{"type":"text"}}},
    {"type":"web_search","depth":1}],"tool_choice":)";
  const auto choice = [&](std::string_view json) {
    const std::string text = testing::describe(decoded(std::string(tools).append(json).append("}")));
    return text.substr(text.find("  tool_choice"));
  };
  EXPECT_NE(testing::describe(decoded(tools + "\"auto\"}"))
                .find("  tool function f \"d\" {\"type\":\"object\"} strict\n  tool function g \"\" \n"
                      "  tool custom h \"\" {\"type\":\"text\"}\n"
                      "  tool hosted web_search \"\" {\"type\":\"web_search\",\"depth\":1}\n"),
            std::string::npos);
  EXPECT_EQ(choice(R"("none")"), "  tool_choice none\n");
  EXPECT_EQ(choice(R"("any")"), "  tool_choice required\n");
  EXPECT_EQ(choice(R"({"type":"function","function":{"name":"f"}})"), "  tool_choice required f\n");
  EXPECT_EQ(choice(R"({"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[
              {"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"h"}}]}})"),
            "  tool_choice auto f h\n");
}

TEST(ChatRequestDecode, ReadsOpenRoutersReasoning) {
  const auto wish = [](std::string_view json) {
    const std::string text = testing::describe(
        decoded(std::string(R"({"model":"m","messages":[],"reasoning":)").append(json).append("}")));
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(wish(R"({"max_tokens":2000,"exclude":true})"), "  reasoning budget 2000 hide\n");
  EXPECT_EQ(wish(R"({"effort":"high"})"), "  reasoning effort high\n");
  EXPECT_EQ(wish(R"({"enabled":true})"), "  reasoning effort medium\n");
  EXPECT_EQ(wish(R"({"enabled":false})"), "  reasoning effort none\n");
}

// A body may hold that many of them: looked for anew for each annotation, the text would take minutes.
TEST(ChatRequestDecode, ManyAnnotationsFindTheirTextBehindManyRefusals) {
  constexpr std::size_t kMany = 200'000;
  std::string body = R"({"model":"m","messages":[{"role":"assistant","content":[{"type":"text","text":"a"})";
  for (std::size_t i = 0; i < kMany; ++i) body += R"(,{"type":"refusal","refusal":"x"})";
  body += R"(],"annotations":[1)";
  for (std::size_t i = 1; i < kMany; ++i) body += ",1";
  body += "]}]}";
  const model::ChatRequest request = decoded(body);
  ASSERT_EQ(request.turns.size(), 1U);
  EXPECT_EQ(request.turns[0].parts.at(0).as<model::TextPart>()->citations.size(), kMany);
}

TEST(ChatRequestDecode, ErrorsNameTheFieldAsItWasWritten) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"messages":[]})", "model"},
      {R"({"model":"m"})", "messages"},
      {R"({"model":"m","messages":{}})", "messages"},
      {R"({"model":"m","messages":[],"temperature":"hot"})", "temperature"},
      {R"({"model":"m","messages":[],"n":1.5})", "n"},
      {R"({"model":"m","messages":[],"max_tokens":1,"max_completion_tokens":1})", "max_tokens"},
      {R"({"model":"m","messages":[],"model":"o"})", "model"},
      {R"({"mod\u0065l":"m","messages":[]})", "model"},
      {R"({"model":"m","messages":[],"stop":[1]})", "stop[0]"},
      {R"({"model":"m","messages":[],"tools":[{"type":"function","function":{}}]})",
       "tools[0].function.name"},
      {R"({"model":"m","messages":[],"tool_choice":"perhaps"})", "tool_choice"},
      {R"({"model":"m","messages":[],"functions":[]})", "functions"},
      {R"({"model":"m","messages":[],"reasoning":{"effort":"much"}})", "reasoning.effort"},
      {R"({"model":"m","messages":[],"stream_options":{"include_usage":1}})", "stream_options.include_usage"},
      {with_messages(R"([{"content":"x"}])"), "messages[0].role"},
      {with_messages(R"([{"role":"user"}])"), "messages[0].content"},
      {with_messages(
           R"([{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":1}]}])"),
       "messages[1].content[0].text"},
      {with_messages(R"([{"role":"user","content":[{"text":"a"}]}])"), "messages[0].content[0].type"},
      {with_messages(R"([{"role":"tool","content":"x"}])"), "messages[0].tool_call_id"},
      {with_messages(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}])"),
       "messages[0].tool_calls[0].id"},
      {with_messages(R"([{"role":"user","role":"user","content":"x"}])"), "messages[0].role"},
  };
  for (const auto& [body, param] : cases) {
    const Error error = refused(body);
    EXPECT_EQ(error.kind, ErrorKind::InvalidRequest) << body;
    EXPECT_EQ(error.param, param) << body;
    EXPECT_NE(error.message.find(param), std::string::npos) << error.message;
  }
  EXPECT_EQ(refused("{").code, "invalid_json");
  EXPECT_EQ(refused("[]").code, "invalid_type");
}

}  // namespace request_decode_test
}  // namespace qq::dialects::openai_chat
