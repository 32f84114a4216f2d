// Names of tools that a target does not take, and generations that break, through the whole gateway.
#include <fmt/format.h>

#include "fakes/http_script.h"
#include "simulation/world.h"
#include "wire/json.h"

namespace qq::simulation::tool_names {
namespace {

constexpr std::string_view kLong = "mcp__plugin_yt-content-strategist_youtube-analytics__get_video_details";

WorldSetup one_provider(std::string_view kind) {
  WorldSetup setup;
  setup.providers = 0;
  setup.config = fmt::format(
      "listeners: [{{address: \"127.0.0.1:8080\"}}]\n"
      "providers:\n"
      "  - {{name: p, kind: {}, base_url: \"http://127.0.0.1:9101/v1\", allow_private_address: true, "
      "accounts: [{{name: main, credential: sk-upstream}}]}}\n"
      "models:\n"
      "  - {{name: asked, provider: p, upstream_name: real-model}}\n",
      kind);
  return setup;
}

Ask messages(bool stream) {
  Ask ask;
  ask.path = "/v1/messages";
  ask.body = fmt::format(
      R"({{"model":"asked","max_tokens":500,"tools":[{{"name":"{0}","input_schema":{{"type":"object"}}}}],)"
      R"("tool_choice":{{"type":"tool","name":"{0}"}},"messages":[{{"role":"user","content":"Hi"}}]}})",
      kLong);
  return stream ? ask.streamed() : ask;
}

std::string name_asked(const std::string& request) {
  const std::string_view body = std::string_view(request).substr(request.find("\r\n\r\n"));
  wire::JsonElements tools(*wire::JsonValue(body).member("tools"));
  EXPECT_TRUE(tools.next());
  return tools.value().at("function", "name")->string();
}

TEST(ToolNames, ALongNameIsMadeToFitAndPutBack) {
  World world(one_provider("zhipu"));
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
  provider.replies = {{.body = R"({"choices":[{"index":0,"message":{"role":"assistant","content":"a"},)"
                               R"("finish_reason":"stop"}]})"}};
  static_cast<void>(world.ask(messages(false)));
  ASSERT_EQ(provider.requests.size(), 1U);
  const std::string name = name_asked(provider.requests[0]);
  EXPECT_EQ(name.size(), 64U);
  EXPECT_EQ(provider.requests[0].find(kLong), std::string::npos) << provider.requests[0];

  const std::string call = fmt::format(
      R"([{{"index":0,"id":"call_1","type":"function","function":{{"name":"{}","arguments":"{{}}"}}}}])",
      name);
  provider.replies = {
      {.body = fmt::format(
           R"({{"choices":[{{"index":0,"message":{{"role":"assistant","tool_calls":{}}},"finish_reason":"tool_calls"}}]}})",
           call)}};
  const Exchange whole = world.ask(messages(false));
  EXPECT_NE(whole.reply.body.find(kLong), std::string::npos) << whole.reply.body;
  provider.replies = {
      {.body =
           fmt::format("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":{}}},\"finish_reason\":"
                       "\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n",
                       call),
       .content_type = "text/event-stream"}};
  const Exchange streamed = world.ask(messages(true));
  EXPECT_NE(streamed.reply.body.find(kLong), std::string::npos) << streamed.reply.body;
  EXPECT_EQ(streamed.reply.body.find(name), std::string::npos) << streamed.reply.body;
  world.expect_rest();
}

TEST(BrokenGeneration, IsToldAsTheClientsErrorAndBilled) {
  World world(one_provider("gemini"));
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
  const std::string text =
      R"({"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see"}]},"index":0}]})";
  const std::string end =
      R"({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0}],)"
      R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}})";
  provider.replies = {
      {.body = "data: " + text + "\n\ndata: " + end + "\n\n", .content_type = "text/event-stream"}};
  Ask ask;
  ask.path = "/v1/messages";
  ask.body = R"({"model":"asked","max_tokens":500,"messages":[{"role":"user","content":"Hi"}]})";
  const Exchange heard = world.ask(ask.streamed());
  EXPECT_NE(heard.reply.body.find("event: error\n"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(heard.reply.body.find("end_turn"), std::string::npos) << heard.reply.body;
  ASSERT_TRUE(heard.record);
  EXPECT_TRUE(heard.record->interrupted);
  EXPECT_EQ(heard.record->usage.output_total(), 4);

  provider.replies = {{.body =
                           R"({"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see"}]},)"
                           R"("finishReason":"MALFORMED_FUNCTION_CALL","index":0}]})"}};
  const Exchange whole = world.ask(ask);
  EXPECT_GE(whole.reply.status, 500) << whole.reply.body;
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::tool_names
