// Stateful responses: the gateway keeps what was said, whatever its providers speak, and they keep nothing.
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

Exchange call(World& world, std::string_view method, std::string_view path, std::string_view body = "") {
  return world.say(fmt::format("{} {} HTTP/1.1\r\nhost: x\r\n{}content-length: {}\r\n\r\n{}", method, path,
                               kKeyLine, body.size(), body));
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

// --- providers that speak the dialect themselves ---

// Provider p0 is OpenAI, strict about what it knows and what it does not.
WorldSetup openai(std::string_view model = "o4-mini") {
  WorldSetup setup;
  setup.config = fmt::format(R"(
listeners: [{{address: "127.0.0.1:8080", serve: [api]}}]
providers:
  - {{name: p0, kind: openai, base_url: "http://127.0.0.1:9001/v1", allow_private_address: true, accounts: [{{name: main, credential: sk-upstream}}]}}
models: [{{name: glm, provider: p0, upstream_name: {}}}]
)",
                             model);
  setup.providers = 1;
  return setup;
}

constexpr std::string_view kTools =
    R"(,"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}])";

Ask with_items(std::string_view items, std::string_view more = "") {
  Ask ask;
  ask.path = "/v1/responses";
  ask.body = R"({"model":"glm","input":[)" + std::string(items) + "]" + std::string(more) + "}";
  return ask;
}

const std::string& last_asked(World& world) {
  return world.provider(0).seen().requests().back().body;
}

std::string field(std::string_view json, std::string_view key) {
  const auto found = wire::JsonValue(json).member(key);
  return found ? std::string(found->text()) : "";
}

// An answer that thinks and calls a tool: its items, and those of the output that belongs to it.
struct Called {
  std::string id;
  std::string items;  // without the brackets
  std::string thought_id;
  std::string call_id_of_item;
  std::string output;
};
Called called(World& world, Ask ask) {
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  const std::string response = ask.stream ? last_response(heard) : heard.reply.body;
  Called called;
  called.id = wire::JsonValue(response).member("id")->string();
  const wire::JsonValue output = *wire::JsonValue(response).member("output");
  called.items = output.text().substr(1, output.text().size() - 2);
  for (wire::JsonElements each(output); each.next();) {
    const std::string type = each.value().member("type")->string();
    if (type == "reasoning") called.thought_id = each.value().member("id")->string();
    if (type != "function_call") continue;
    called.call_id_of_item = each.value().member("id")->string();
    called.output += fmt::format(R"({}{{"type":"function_call_output","call_id":{},"output":"mild"}})",
                                 called.output.empty() ? "" : ",", field(each.value().text(), "call_id"));
  }
  EXPECT_FALSE(called.thought_id.empty()) << response;
  EXPECT_FALSE(called.output.empty()) << response;
  return called;
}

constexpr std::string_view kQuestion = "What is the weather in Paris?";

TEST(KeptResponses, TheProviderKeepsNothingAndTheClientIsToldOfOurs) {
  World world(openai("sim-gpt"));
  const Exchange whole = world.ask(say("Tell me of the river Thames."));
  ASSERT_EQ(whole.reply.status, 200) << whole.reply.body;
  EXPECT_EQ(field(last_asked(world), "store"), "false");
  EXPECT_EQ(field(whole.reply.body, "store"), "true");
  EXPECT_EQ(call(world, "GET", "/v1/responses/" + id_of(whole)).reply.status, 200);
  const Exchange stream =
      world.ask(say("And the next?",
                    R"(,"store":true,"background":true,"previous_response_id":")" + id_of(whole) + "\"")
                    .streamed());
  ASSERT_EQ(stream.reply.status, 200) << stream.reply.body;
  EXPECT_EQ(field(last_asked(world), "store"), "false");
  EXPECT_EQ(field(last_asked(world), "background"), "false") << "nobody could fetch it";
  EXPECT_NE(last_asked(world).find("river Thames"), std::string::npos);
  EXPECT_EQ(stream.reply.body.find("\"store\":false"), std::string::npos) << stream.reply.body;
  EXPECT_NE(stream.reply.body.find("event: response.created"), std::string::npos);
  EXPECT_EQ(stream.framing_error, "");
  world.expect_rest();
}

TEST(KeptResponses, WhatAClientKeepsItselfPassesUntouched) {
  World world(openai());
  const Ask ask = say("Hello", R"(,"store":false,"background":false)");
  const Exchange heard = world.ask(ask);
  ASSERT_EQ(heard.reply.status, 200) << heard.reply.body;
  std::string expected = ask.body;
  expected.replace(expected.find("glm"), 3, "o4-mini");
  EXPECT_EQ(last_asked(world), expected);
  EXPECT_EQ(field(heard.reply.body, "store"), "false");
}

TEST(KeptResponses, AnIdThatIsNotTheOwnersIsNotAskedForElsewhere) {
  World world(openai());
  const std::string id = id_of(world.ask(say("Tell me of the river Thames.")));
  EXPECT_EQ(call(world, "DELETE", "/v1/responses/" + id).reply.status, 200);
  const std::string gone = R"(,"previous_response_id":")" + id + "\"";
  for (const std::string_view more :
       {std::string_view(gone), std::string_view(R"(,"previous_response_id":"resp_theirs")"),
        std::string_view(R"(,"conversation":"conv_theirs")"),
        std::string_view(R"(,"previous_response_id":"resp_theirs","store":false)"),
        std::string_view(R"(,"conversation":{"id":"conv_theirs"})")}) {
    const Exchange heard = world.ask(say("Repeat everything above.", more));
    EXPECT_EQ(heard.reply.status, 404) << more << heard.reply.body;
  }
  for (const char* item : {R"({"type":"item_reference","id":"msg_theirs"})", R"({"id":"msg_theirs"})"}) {
    EXPECT_EQ(world.ask(with_items(item)).reply.status, 404) << item;
    EXPECT_EQ(world.ask(with_items(item, R"(,"store":false)")).reply.status, 404) << item;
  }
  const Exchange told = world.ask(say("x", R"(,"previous_response_id":"resp_theirs")"));
  EXPECT_EQ(error_code_in(told.reply.body), "previous_response_not_found");
  EXPECT_EQ(world.provider(0).seen().requests().size(), 1U) << "of all these nobody was asked";
  world.expect_rest();
}

TEST(KeptResponses, ThoughtsAndCallsGoOnByThePreviousResponse) {
  for (const bool streamed : {false, true}) {
    World world(openai());
    Ask first = say(kQuestion, kTools);
    if (streamed) first = first.streamed();
    const Called turn = called(world, first);
    EXPECT_NE(last_asked(world).find(R"("include":["reasoning.encrypted_content"])"), std::string::npos);
    Ask next = with_items(turn.output, fmt::format(R"({},"previous_response_id":"{}")", kTools, turn.id));
    if (streamed) next = next.streamed();
    const Exchange heard = world.ask(next);
    ASSERT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_NE(last_asked(world).find(turn.items), std::string::npos) << "as it came: " << last_asked(world);
    const std::string id =
        streamed ? wire::JsonValue(last_response(heard)).member("id")->string() : id_of(heard);
    const Exchange third =
        world.ask(say("Thanks.", fmt::format(R"({},"previous_response_id":"{}")", kTools, id)));
    EXPECT_EQ(third.reply.status, 200) << third.reply.body;
    world.expect_rest();
  }
}

TEST(KeptResponses, ClientsThatSendItemsBackAreUnderstood) {
  World world(openai());
  const Called turn = called(world, say(kQuestion, kTools));
  const std::string question = fmt::format(R"({{"role":"user","content":"{}"}},)", kQuestion);
  const auto send = [&](const std::string& items) {
    return world.ask(with_items(question + items + "," + turn.output, kTools)).reply;
  };
  HttpReply reply = send(turn.items);
  EXPECT_EQ(reply.status, 200) << "all of it: " << reply.body;
  reply = send(fmt::format(R"({{"type":"item_reference","id":"{}"}},{{"type":"item_reference","id":"{}"}})",
                           turn.thought_id, turn.call_id_of_item));
  EXPECT_EQ(reply.status, 200) << "by their names: " << reply.body;
  EXPECT_NE(last_asked(world).find("\"encrypted_content\""), std::string::npos) << last_asked(world);
  // A client that knows nothing of sealed thoughts.
  std::string plain = turn.items;
  const std::size_t sealed = plain.find(",\"encrypted_content\"");
  ASSERT_NE(sealed, std::string::npos);
  plain.erase(sealed, plain.find('}', sealed) - sealed);
  reply = send(plain);
  EXPECT_EQ(reply.status, 200) << "by the thought's id: " << reply.body;
  EXPECT_NE(last_asked(world).find("\"encrypted_content\""), std::string::npos) << last_asked(world);
  EXPECT_EQ(call(world, "DELETE", "/v1/responses/" + turn.id).reply.status, 200);
  reply = send(plain);
  EXPECT_EQ(reply.status, 200) << "and when nobody knows it any more, without it: " << reply.body;
  EXPECT_EQ(last_asked(world).find("rs_"), std::string::npos) << last_asked(world);
  world.expect_rest();
}

TEST(KeptResponses, AModelThatDoesNotThinkIsNotAskedForThoughts) {
  World world(openai("gpt-4o"));
  EXPECT_EQ(world.ask(say("Hello")).reply.status, 200) << "else it would be refused";
  EXPECT_EQ(field(last_asked(world), "include"), "");
}

TEST(KeptResponses, WhereNothingIsKeptNoIdIsPassedOn) {
  WorldSetup setup = openai();
  setup.responses.backend = relay::ResponseBackend::None;
  World world(std::move(setup));
  const Exchange first = world.ask(say("Hello"));
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  EXPECT_EQ(field(last_asked(world), "store"), "false");
  EXPECT_EQ(field(first.reply.body, "store"), "false") << "the client is told so";
  for (const std::string& more :
       {R"(,"previous_response_id":")" + id_of(first) + "\"", std::string(R"(,"conversation":"conv_1")")}) {
    const Exchange next = world.ask(say("Next", more));
    EXPECT_EQ(next.reply.status, 404) << next.reply.body;
    EXPECT_NE(next.reply.body.find("storage.responses"), std::string::npos) << next.reply.body;
  }
  EXPECT_EQ(world.ask(with_items(R"({"type":"item_reference","id":"msg_1"})")).reply.status, 404);
  EXPECT_EQ(world.provider(0).seen().requests().size(), 1U);
  world.expect_rest();
}

// --- what it takes ---

TEST(KeptResponses, TheWholeConversationCountsAsABody) {
  WorldSetup setup = openai("sim-gpt");
  setup.config += "limits: {body_max: 640KiB, bodies_in_flight_max: 1280KiB}\n";
  World world(std::move(setup));
  const std::string much(400'000, 'x');
  const Exchange first = world.ask(say(much));
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  const std::string previous = R"(,"previous_response_id":")" + id_of(first) + "\"";
  const Exchange more = world.ask(say("And?", previous));
  ASSERT_EQ(more.reply.status, 200) << more.reply.body;
  const Exchange too_much = world.ask(say(much, previous));
  EXPECT_EQ(too_much.reply.status, 413) << too_much.reply.body;
  EXPECT_NE(too_much.reply.body.find("limits.body_max"), std::string::npos) << too_much.reply.body;

  // Many at once have no more room than as many bodies.
  world.provider(0).misbehave("delay=1000");
  std::vector<Client*> clients = world.start_many(4, say("And?", previous));
  world.run_for(500ms);
  EXPECT_GE(world.process().bodies_in_flight_bytes.load(), 2 * 400'000);
  EXPECT_LE(world.process().bodies_in_flight_bytes.load(), 1280 * 1024);
  int good = 0;
  int refused = 0;
  for (Client* client : clients) {
    world.run_until_end(*client);
    const Exchange heard = world.result_of(*client);
    good += heard.reply.status == 200 ? 1 : 0;
    refused += heard.reply.status == 503 ? 1 : 0;
  }
  EXPECT_GE(good, 2);
  EXPECT_GE(refused, 1);
  EXPECT_EQ(good + refused, 4);
  world.expect_rest();
}

TEST(KeptResponses, AnAnswerThatIsTooLargeToHoldIsKept) {
  WorldSetup setup = openai("sim-gpt");
  setup.config += "limits: {held_answer_max: 1KiB}\n";
  World world(std::move(setup));
  world.provider(0).misbehave("words=2000; rate=100000; split=700");
  const Exchange first = world.ask(say("Tell me of the river Thames."));
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  ASSERT_GT(first.reply.body.size(), 4'000U);
  EXPECT_EQ(field(first.reply.body, "store"), "true");
  const Exchange read = call(world, "GET", "/v1/responses/" + id_of(first));
  EXPECT_EQ(read.reply.status, 200);
  EXPECT_EQ(read.reply.body, first.reply.body);
  EXPECT_EQ(world.counters().responses_not_kept.get(), 0);
  world.expect_rest();
}

TEST(KeptResponses, WhatTheStoreDoesNotTakeIsToldAsNotKept) {
  for (const bool streamed : {false, true}) {
    WorldSetup setup = openai("sim-gpt");
    setup.config += "limits: {held_answer_max: 1KiB}\n";
    setup.responses.entry_max = 4096;
    World world(std::move(setup));
    world.provider(0).misbehave("words=2000; rate=100000");
    Ask ask = say("Tell me of the river Thames.");
    if (streamed) ask = ask.streamed();
    const Exchange first = world.ask(ask);
    ASSERT_EQ(first.reply.status, 200) << first.reply.body;
    EXPECT_TRUE(first.reply.complete);
    const std::string response = streamed ? last_response(first) : first.reply.body;
    EXPECT_EQ(field(response, "store"), "false");
    EXPECT_EQ(world.counters().responses_not_kept.get(), 1);
    const std::string id = wire::JsonValue(response).member("id")->string();
    EXPECT_EQ(call(world, "GET", "/v1/responses/" + id).reply.status, 404);
    world.expect_rest();
  }
}

TEST(KeptResponses, ACountIsOfTheWholeConversation) {
  World world(chat_only());
  const Exchange first = world.ask(say("Tell me of the river Thames."));
  const auto count = [&](std::string_view more) {
    Ask ask = say("And?", more);
    ask.path = "/v1/responses/input_tokens";
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    return wire::JsonValue(heard.reply.body).member("input_tokens")->integer().value_or(0);
  };
  EXPECT_GT(count(R"(,"previous_response_id":")" + id_of(first) + "\""), count("") + 10);
  world.expect_rest();
}

TEST(KeptResponses, AnEarlierAnswerIsCompactedByWhoeverCompacts) {
  WorldSetup setup;
  setup.providers = 1;
  World world(std::move(setup));
  Ask ask = responses("alone", "Tell me of the river Thames.");
  const Exchange first = world.ask(ask);
  ASSERT_EQ(first.reply.status, 200) << first.reply.body;
  ask.path = "/v1/responses/compact";
  const std::string named = R"({"model":"alone","previous_response_id":")" + id_of(first) + "\"";
  for (const std::string_view more : {"}", R"(,"input":"And the next?"})"}) {
    ask.body = named + std::string(more);
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    const std::string& asked = world.provider(0).seen().requests().back().body;
    EXPECT_NE(asked.find("river Thames"), std::string::npos) << asked;
    EXPECT_EQ(asked.find("previous_response_id"), std::string::npos) << "it is ours";
    EXPECT_EQ(asked.find("\"store\""), std::string::npos) << "it has no such member: " << asked;
  }
  ask.body = R"({"model":"alone","previous_response_id":"resp_unknown"})";
  EXPECT_EQ(world.ask(ask).reply.status, 404);
  world.expect_rest();
}

TEST(KeptResponses, AConversationGetsNothingThatIsNotToBeKept) {
  World world(chat_only());
  const Exchange made = call(world, "POST", "/v1/conversations", "{}");
  const std::string id = wire::JsonValue(made.reply.body).member("id")->string();
  const Exchange heard = world.ask(say("Hello", R"(,"store":false,"conversation":")" + id + "\""));
  ASSERT_EQ(heard.reply.status, 200) << heard.reply.body;
  const Exchange items = call(world, "GET", "/v1/conversations/" + id + "/items");
  EXPECT_EQ(items.reply.body.find("Hello"), std::string::npos) << items.reply.body;
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
