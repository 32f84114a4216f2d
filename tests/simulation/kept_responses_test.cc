// Stateful responses at a provider that only has chat: the gateway keeps what was said.
#include <fmt/format.h>

#include "simulation/world.h"
#include "wire/json.h"

namespace qq::simulation::kept {
namespace {

// Provider p0 speaks chat only: Zhipu's kind offers no responses.
WorldSetup chat_only() {
  WorldSetup setup;
  setup.config = R"(
listeners: [{address: "127.0.0.1:8080", serve: [api]}]
providers:
  - {name: p0, kind: zhipu, base_url: "http://127.0.0.1:9001/v1", allow_private_address: true, accounts: [{name: main, credential: sk-upstream}]}
models: [{name: glm, provider: p0, upstream_name: sim-gpt}]
)";
  setup.providers = 1;
  return setup;
}

Ask say(std::string_view input, std::string_view more = "") {
  Ask ask;
  ask.path = "/v1/responses";
  ask.body = R"({"model":"glm","input":")" + std::string(input) + "\"" + std::string(more) + "}";
  return ask;
}

std::string id_of(const Exchange& heard) {
  return wire::JsonValue(heard.reply.body).member("id")->string();
}

// The response object inside the event that ends a stream.
std::string last_response(const Exchange& heard) {
  const std::string& body = heard.reply.body;
  const std::size_t at = body.rfind("event: response.completed\ndata: ");
  EXPECT_NE(at, std::string::npos) << body;
  const std::size_t data = body.find("{", at);
  return std::string(wire::JsonValue(std::string_view(body).substr(data, body.find("\n\n", data) - data))
                         .member("response")
                         ->text());
}

TEST(KeptResponses, AnEarlierAnswerIsPutIntoTheNextRequest) {
  World world(chat_only());
  const Exchange first = world.ask(say("Tell me of the river Thames."));
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  const Exchange second =
      world.ask(say("And the next?", R"(,"previous_response_id":")" + id_of(first) + "\""));
  ASSERT_EQ(second.reply.status, 200) << second.reply.body;
  const std::string& asked = world.provider(0).seen().requests().back().body;
  EXPECT_NE(asked.find("river Thames"), std::string::npos) << asked;
  EXPECT_NE(asked.find("And the next?"), std::string::npos);
  EXPECT_EQ(asked.find("previous_response_id"), std::string::npos);
  EXPECT_EQ(wire::JsonValue(second.reply.body).member("previous_response_id")->string(), id_of(first));
  const Exchange third = world.ask(say("Third?", R"(,"previous_response_id":")" + id_of(second) + "\""));
  const std::string& whole = world.provider(0).seen().requests().back().body;
  EXPECT_LT(whole.find("river Thames"), whole.find("And the next?"));
  EXPECT_LT(whole.find("And the next?"), whole.find("Third?"));
  EXPECT_EQ(third.reply.status, 200);
  world.expect_rest();
}

TEST(KeptResponses, AreTakenByTheirClientsInTheClientsOwnTime) {
  World world(chat_only());
  world.provider(0).misbehave("words=4000; rate=1000000");
  const Exchange kept = world.ask(say("Tell me of the river Thames."));
  ASSERT_GT(kept.reply.body.size(), 10'000U);
  world.narrow(1'000);
  Client& client = world.client();
  client.read_slowly(100, 100ms);
  client.start(
      fmt::format("GET /v1/responses/{} HTTP/1.1\r\nhost: gateway\r\n{}\r\n", id_of(kept), kKeyLine));
  world.run_until_end(client);
  EXPECT_TRUE(client.reply().complete);
  EXPECT_GT(client.ended() - client.started(), 9s) << "the store's five seconds are not the client's";
  EXPECT_EQ(wire::JsonValue(client.reply().body).member("id")->string(), id_of(kept));
  world.expect_rest();
}

TEST(KeptResponses, AStreamedAnswerIsKeptBeforeItsEndIsTold) {
  World world(chat_only());
  const Exchange first = world.ask(say("Tell me of the river Thames.").streamed());
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  EXPECT_TRUE(first.reply.complete);
  const std::string id = wire::JsonValue(last_response(first)).member("id")->string();
  const Exchange second =
      world.ask(say("And the next?", R"(,"previous_response_id":")" + id + "\"").streamed());
  ASSERT_EQ(second.reply.status, 200) << second.reply.body;
  EXPECT_NE(world.provider(0).seen().requests().back().body.find("river Thames"), std::string::npos);
  EXPECT_EQ(wire::JsonValue(last_response(second)).member("previous_response_id")->string(), id);
  EXPECT_EQ(wire::JsonValue(last_response(second)).member("store")->text(), "true");
  world.expect_rest();
}

TEST(KeptResponses, WhatWasNotKeptIsNotFound) {
  World world(chat_only());
  const Exchange first = world.ask(say("Hello", R"(,"store":false)"));
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  const Exchange second = world.ask(say("Next", R"(,"previous_response_id":")" + id_of(first) + "\""));
  EXPECT_EQ(second.reply.status, 404) << second.reply.body;
  EXPECT_EQ(world.ask(say("Next", R"(,"previous_response_id":"resp_nobody")")).reply.status, 404);
  EXPECT_EQ(world.provider(0).seen().requests().size(), 1U);
}

TEST(KeptResponses, WhatOurStoreDoesNotKnowMayBeTheProvidersOwn) {
  World world;
  Ask ask = responses("alone");
  ask.body = R"({"model":"alone","input":"hi","previous_response_id":"resp_theirs"})";
  world.ask(ask);
  EXPECT_NE(world.provider(0).seen().requests().back().body.find("resp_theirs"), std::string::npos);
}

Exchange call(World& world, std::string_view method, std::string_view path, std::string_view body = "") {
  return world.say(fmt::format("{} {} HTTP/1.1\r\nhost: x\r\n{}content-length: {}\r\n\r\n{}", method, path,
                               kKeyLine, body.size(), body));
}

TEST(StoredObjects, AResponseIsReadAndDeleted) {
  World world(chat_only());
  const std::string id = id_of(world.ask(say("Tell me of the river Thames.")));
  const Exchange read = call(world, "GET", "/v1/responses/" + id);
  EXPECT_EQ(read.reply.status, 200) << read.reply.body;
  EXPECT_EQ(wire::JsonValue(read.reply.body).member("id")->string(), id);
  const Exchange input = call(world, "GET", "/v1/responses/" + id + "/input_items?limit=5");
  EXPECT_NE(input.reply.body.find("river Thames"), std::string::npos) << input.reply.body;
  EXPECT_EQ(call(world, "POST", "/v1/responses/" + id + "/cancel").reply.status, 400);
  const Exchange gone = call(world, "DELETE", "/v1/responses/" + id);
  EXPECT_EQ(gone.reply.status, 200) << gone.reply.body;
  EXPECT_EQ(call(world, "GET", "/v1/responses/" + id).reply.status, 404);
  EXPECT_EQ(call(world, "PUT", "/v1/responses/" + id).reply.status, 405);
  EXPECT_EQ(call(world, "GET", "/v1/responses/" + id + "/input_items?limit=0").reply.status, 400);
  world.expect_rest();
}

TEST(StoredObjects, ABrokenItemComesIntoNoConversation) {
  World world(chat_only());
  const Exchange refused =
      call(world, "POST", "/v1/conversations", R"({"items":[{"role":"user","content":"x"},{}]})");
  EXPECT_EQ(refused.reply.status, 400) << refused.reply.body;
  EXPECT_EQ(wire::JsonValue(refused.reply.body).at("error", "param")->string(), "items[1].type");
  const Exchange made = call(world, "POST", "/v1/conversations", "{}");
  const std::string id = wire::JsonValue(made.reply.body).member("id")->string();
  const Exchange twice = call(world, "POST", "/v1/conversations/" + id + "/items",
                              R"({"items":[],"items":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(twice.reply.status, 400) << twice.reply.body;
  world.expect_rest();
}

TEST(StoredObjects, AConversationGrowsByWhatIsSaidInIt) {
  World world(chat_only());
  const Exchange made =
      call(world, "POST", "/v1/conversations",
           R"({"metadata":{"a":"b"},"items":[{"type":"message","role":"user","content":"First."}]})");
  ASSERT_EQ(made.reply.status, 200) << made.reply.body;
  const std::string id = wire::JsonValue(made.reply.body).member("id")->string();
  const Exchange heard = world.ask(say("Second.", R"(,"conversation":")" + id + "\""));
  ASSERT_EQ(heard.reply.status, 200) << heard.reply.body;
  const std::string& asked = world.provider(0).seen().requests().back().body;
  EXPECT_LT(asked.find("First."), asked.find("Second.")) << asked;
  const Exchange items = call(world, "GET", "/v1/conversations/" + id + "/items?order=asc");
  const std::string& body = items.reply.body;
  EXPECT_LT(body.find("First."), body.find("Second.")) << body;
  EXPECT_NE(body.find("output_text"), std::string::npos) << "the answer is an item, too";
  EXPECT_EQ(call(world, "GET", "/v1/conversations/" + id).reply.status, 200);
  EXPECT_EQ(call(world, "DELETE", "/v1/conversations/" + id).reply.status, 200);
  EXPECT_EQ(call(world, "GET", "/v1/conversations/" + id + "/items").reply.status, 404);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::kept
