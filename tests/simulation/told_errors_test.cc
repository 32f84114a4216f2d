// What a provider says of a failure, as an error event or as an error's body: it means what the catalogue
// says, and no key in it reaches the client or the log.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

constexpr std::string_view kKey = "sk-abcdefgh12345678";
constexpr std::string_view kHello =
    "data: "
    "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"sim-gpt\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";

// p0 answers whatever is asked with this.
WorldSetup saying(std::string body, bool stream, int status = 200) {
  simulator::Recording recording;
  recording.name = "told/words";
  recording.endpoint = "/v1/chat/completions";
  recording.method = "POST";
  recording.stream = stream;
  recording.status = status;
  recording.headers.push_back({"content-type", stream ? "text/event-stream" : "application/json"});
  recording.body = std::move(body);
  std::vector<simulator::Recording> library;
  library.push_back(std::move(recording));
  WorldSetup setup;
  setup.simulator.library = simulator::Library(std::move(library));
  return setup;
}

std::string limited(std::string_view details = {}) {
  return fmt::format(
      R"(data: {{"error":{{"message":"slow down, {}","type":"requests","code":"rate_limit_exceeded"{}}}}})"
      "\n\n",
      kKey, details);
}

// Everything that a record would let out.
std::string told_by(const KeptRecord& record) {
  std::string all;
  const auto add = [&all](const std::optional<Error>& error) {
    if (error) all += error->message + error->type + error->code + error->param + error->object;
  };
  add(record.error);
  for (const model::Attempt& attempt : record.attempts) add(attempt.error);
  return all;
}

// Where a provider is reached is the operator's to know.
TEST(UnreachableProvider, IsToldByItsNameAndLoggedWithItsAddress) {
  for (const bool stream : {false, true}) {
    WorldSetup setup;
    setup.base_host = "127.0.0.9";
    World world(std::move(setup));
    const Exchange heard = world.ask(stream ? chat("sim-gpt").streamed() : chat("sim-gpt"));
    EXPECT_NE(heard.raw.find("the provider `p0` cannot be reached: it cannot be connected to"),
              std::string::npos)
        << heard.raw;
    EXPECT_EQ(heard.raw.find("127.0.0"), std::string::npos) << heard.raw;
    ASSERT_TRUE(heard.record && heard.record->error);
    EXPECT_NE(heard.record->error->message.find("127.0.0.9"), std::string::npos)
        << heard.record->error->message;
  }
}

TEST(UnreachableProvider, IsToldByItsNameToWhoAsksForAFile) {
  WorldSetup setup;
  setup.base_host = "127.0.0.9";
  World world(std::move(setup));
  const Exchange heard = world.say(fmt::format(
      "POST /v1/files HTTP/1.1\r\nhost: x\r\n{}x-queqiao-model: sim-gpt\r\n"
      "content-type: multipart/form-data; boundary=b\r\ncontent-length: 134\r\n\r\n"
      "--b\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nx\r\n"
      "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\nx\r\n--b--\r\n",
      kKeyLine));
  EXPECT_NE(heard.raw.find("the provider `p0` cannot be reached"), std::string::npos) << heard.raw;
  EXPECT_EQ(heard.raw.find("127.0.0"), std::string::npos) << heard.raw;
}

TEST(ErrorEvent, OfALimitBeforeContentCoolsTheAccountAndFallsBack) {
  World world(saying(limited(R"(,"details":[{"retryDelay":"7s"}])"), true));
  world.provider(0).misbehave("play=told/words");
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_EQ(heard.story(), "rate_limited,success");
  EXPECT_EQ(heard.took, 0ms);
  const MonotonicTime refused = heard.attempts()[0].ended;
  EXPECT_EQ(world.health(0).available_at(refused), refused + 7s) << "the wait that it names";
  for (int i = 0; i < 6; ++i) EXPECT_EQ(world.ask(chat("backed").streamed()).story(), "refused,success");
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  EXPECT_EQ(told_by(*heard.record).find(kKey), std::string::npos);
  world.expect_rest();
}

TEST(ErrorEvent, OfALimitAfterContentCoolsTheAccountAndIsToldInOurWords) {
  World world(saying(std::string(kHello) + limited(), true));
  world.provider(0).misbehave("play=told/words");
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_EQ(heard.story(), "rate_limited");
  EXPECT_TRUE(heard.record->interrupted);
  EXPECT_EQ(text_in(heard.reply), "Hello");
  const std::size_t event = heard.reply.body.find("data: {\"error\":");
  ASSERT_NE(event, std::string::npos) << heard.reply.body;
  EXPECT_NE(heard.reply.body.find("at its rate limits", event), std::string::npos) << heard.reply.body;
  EXPECT_NE(heard.reply.body.find("rate_limit_exceeded", event), std::string::npos);
  EXPECT_EQ(heard.reply.body.find(kKey), std::string::npos);
  EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
  EXPECT_EQ(told_by(*heard.record).find(kKey), std::string::npos);
  EXPECT_TRUE(world.health(0).available_at(heard.attempts()[0].ended));
  EXPECT_EQ(world.provider(1).seen().total(), 0U) << "never a second answer behind the first";
  // Limits are no failures, however often they come.
  for (int i = 0; i < 8; ++i) {
    world.run_for(61s);
    EXPECT_EQ(world.ask(chat("alone").streamed()).story(), "rate_limited");
  }
  EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
  world.expect_rest();
}

TEST(ErrorEvent, OfADeadKeyAfterContentSaysNothingOfOurAccount) {
  World world(
      saying(std::string(kHello) +
                 R"(data: {"error":{"message":"Incorrect API key","code":"invalid_api_key","type":"auth"}})"
                 "\n\n",
             true));
  world.provider(0).misbehave("play=told/words");
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_EQ(heard.story(), "credential_dead");
  EXPECT_EQ(heard.reply.body.find("API key"), std::string::npos) << heard.reply.body;
  EXPECT_NE(heard.reply.body.find("upstream_unavailable"), std::string::npos);
  EXPECT_EQ(world.ask(chat("backed").streamed()).story(), "refused,success");
  world.expect_rest();
}

// What callers can provoke, however often, must not take the target from the others.
TEST(ErrorEvent, OfACallersDoingSaysNothingOfTheTarget) {
  struct Said {
    std::string_view object;
    bool counts = false;
  };
  for (const Said& said : {Said{R"({"message":"x","type":"invalid_request_error","code":null})"},
                           Said{R"({"message":"x","type":"BadRequestError"})"},
                           Said{R"({"message":"x","code":"invalid_prompt"})"},
                           Said{R"({"message":"x","code":"image_parse_error"})"},
                           Said{R"({"message":"x","type":"server_error"})", true}}) {
    for (const std::string_view before : {std::string_view(), kHello}) {
      World world(saying(fmt::format("{}data: {{\"error\":{}}}\n\n", before, said.object), true));
      world.provider(0).misbehave("play=told/words");
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(world.ask(chat("alone").streamed()).story(), said.counts ? "stream_error" : "refused");
      }
      EXPECT_EQ(world.health(0).state(),
                said.counts ? resilience::CircuitState::Open : resilience::CircuitState::Closed)
          << said.object;
      world.expect_rest();
    }
  }
}

TEST(ErrorInAnAnswer, InsideAChoiceMeansTheSame) {
  const std::string body = fmt::format(
      R"({{"id":"g","object":"chat.completion","model":"sim-gpt","choices":[{{"index":0,"finish_reason":"error",)"
      R"("message":{{"role":"assistant","content":""}},"error":{{"code":429,"message":"slow down, {}"}}}}]}})",
      kKey);
  World world(saying(body, false));
  world.provider(0).misbehave("play=told/words");
  const Exchange heard = world.ask(chat("backed"));
  EXPECT_EQ(heard.story(), "rate_limited,success");
  EXPECT_EQ(heard.attempts()[0].error->message, "slow down, sk-****");
  EXPECT_TRUE(world.health(0).available_at(heard.attempts()[0].ended));
  EXPECT_EQ(world.ask(chat("backed").streamed()).story(), "refused,success");
  world.expect_rest();
}

// Of p0, by a client with room for a few bytes of the answer.
Client& ask_and_read_nothing(World& world, const Ask& ask) {
  world.provider(0).misbehave("play=told/words");
  world.narrow(20);
  Client& client = world.client();
  client.stop_reading();
  client.start(ask.bytes());
  return client;
}

TEST(ErrorEvent, IsEvidenceAlsoIfItsClientDoesNotStayForIt) {
  for (const Client::Leave how : {Client::Leave::Reset, Client::Leave::Fin}) {
    World world(saying(std::string(kHello) + "data: {\"error\":{\"message\":\"lost\"}}\n\n", true));
    Client& client = ask_and_read_nothing(world, chat("alone").streamed());
    world.run_for(1s);
    EXPECT_TRUE(world.records().empty()) << "it waits behind what is pending";
    client.leave(how);
    world.run_for(1s);
    ASSERT_EQ(world.records().size(), 1U);
    EXPECT_EQ(story_of(world.records()[0].attempts), "stream_error");
    EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientGone);
    client.read_again();
    world.expect_rest();
  }
}

TEST(ErrorEvent, IsEvidenceAlsoIfItsClientStalls) {
  WorldSetup setup = saying(std::string(kHello) + "data: {\"error\":{\"message\":\"lost\"}}\n\n", true);
  setup.timers = "{client_write_stall: 2s, heartbeat: 1h}";
  World world(std::move(setup));
  Client& client = ask_and_read_nothing(world, chat("alone").streamed());
  world.run_for(3s);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), "stream_error");
  EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientStalled) << "nobody was told";
  EXPECT_FALSE(world.records()[0].interrupted);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

TEST(ErrorInAnAnswer, ThatItsClientDoesNotTakeIsTheClientsStall) {
  WorldSetup setup = saying(R"({"error":{"message":"no"}})", false, 400);
  setup.timers = "{client_write_stall: 1s}";
  World world(std::move(setup));
  Client& client = ask_and_read_nothing(world, chat("alone"));
  world.run_for(1'500ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), "refused");
  EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientStalled);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

// Also if the last words' time is over before a client counts as stalled.
TEST(ErrorInAnAnswer, ThatItsClientHasNotTakenInTimeWasNotTold) {
  World world(saying(R"({"error":{"message":"no"}})", false, 400));
  world.provider(0).misbehave("play=told/words");
  world.narrow(20);
  Client& client = world.client();
  client.stop_reading();
  client.start(chat("alone").bytes());
  world.run_for(2'100ms);
  ASSERT_EQ(world.records().size(), 1U);
  EXPECT_EQ(story_of(world.records()[0].attempts), "refused");
  EXPECT_EQ(world.records()[0].error->kind, ErrorKind::ClientStalled);
  EXPECT_FALSE(world.records()[0].interrupted);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

TEST(ErrorEvent, ThatItsClientHasNotTakenInTimeWasNotTold) {
  World world;
  world.provider(0).misbehave("words=20; gap=100; fault=error_middle; at=10");
  const std::string whole = world.ask(chat("alone").streamed()).raw;
  const std::size_t event = whole.find("data: {\"error\":");
  ASSERT_NE(event, std::string::npos) << whole;
  world.narrow(event + 20);  // the error does not fit in, all before does
  Client& client = world.client();
  client.stop_reading();
  client.start(chat("alone").streamed().bytes());
  world.run_for(5s);
  ASSERT_EQ(world.records().size(), 2U);
  const KeptRecord& record = world.records()[1];
  EXPECT_EQ(story_of(record.attempts), "stream_error");
  EXPECT_EQ(record.error->kind, ErrorKind::ClientStalled);
  EXPECT_TRUE(record.interrupted);
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

struct Leak {
  std::string name;
  std::string body;
  int status = 400;
  bool stream = false;
};
constexpr std::string_view kCredential = "plain/word=secret";
std::string dots(std::size_t count) {
  return std::string(count, '.');
}
const std::vector<Leak> kLeaks = {
    {"message", R"({"error":{"message":"no plain/word=secret","type":"a","param":"b","code":"c"}})"},
    {"code", R"({"error":{"message":"no","type":"plain/word=secret","code":"plain/word=secret"}})", 422},
    {"other_members", R"({"error":{"message":"no","code":"c","debug":{"key":["plain/word=secret"]}}})"},
    {"escaped", R"({"error":{"message":"no plain\/word=secret","code":"c"}})"},
    {"escaped_key", R"({"error":{"message":"no sk\u002dabcdefgh12345678","code":"c"}})"},
    {"text_429", "slow down plain/word=secret", 429},
    {"text_500", "oh plain/word=secret", 500},
    {"error_string", R"({"error":"no plain/word=secret","code":"c"})"},
    {"unstreamed", R"({"error":{"message":"no plain/word=secret","code":"c"}})", 200},
    {"first_event", "data: {\"error\":{\"message\":\"no plain/word=secret\",\"code\":\"c\"}}\n\n", 200, true},
    {"later_event", std::string(kHello) + "data: {\"error\":{\"message\":\"no plain\\/word=secret\"}}\n\n",
     200, true},
    // At the borders where words are cut: the message's, the text's, the body's.
    {"message_cut", fmt::format(R"({{"error":{{"message":"{}plain/word=secret"}}}})", dots(2'036))},
    {"escaped_cut", fmt::format(R"({{"error":{{"message":"{}plain\/word=secret"}}}})", dots(2'036))},
    {"text_cut", dots(188) + "plain/word=secret", 500},
    {"body_cut", std::string(64 * 1024 - 12, ' ') + "plain/word=secret", 500},
    {"json_cut", R"({"error":{"message":"no plain\/word=secret)" + dots(70 * 1024)},
    {"unstreamed_cut", fmt::format(R"({{"error":{{"message":"{}plain/word=secret"}}}})", dots(2'036)), 200},
    {"event_cut",
     fmt::format("{}data: {{\"error\":{{\"message\":\"{}plain/word=secret\"}}}}\n\n", kHello, dots(2'036)),
     200, true},
    {"named_event", std::string(kHello) + "event: error\ndata: no plain/word=secret\n\n", 200, true},
};

// A provider's word may be absurd; one that is alone must be found well again all the same.
TEST(AbsurdWait, EndsWhileTheClientStillWaits) {
  for (const auto& [fault, most] : {std::pair("503", 120s), std::pair("429", 600s)}) {
    World world;
    world.provider(0).misbehave(fmt::format("fault={}; retry_after=1000000000", fault));
    const Exchange heard = world.ask(chat("alone"));
    EXPECT_EQ(heard.reply.header("retry-after"), std::to_string(most.count()));
    ASSERT_EQ(heard.attempts().size(), 1U);
    EXPECT_EQ(heard.attempts()[0].error->retry_after, most) << "the log says the same";
    world.provider(0).behave();
    world.run_for(most - 1s);
    EXPECT_EQ(world.ask(chat("alone")).story(), "refused");
    world.run_for(1s);
    EXPECT_EQ(world.ask(chat("alone")).story(), "success");
    world.expect_rest();
  }
}

class OurCredential : public ::testing::TestWithParam<Leak> {};

TEST_P(OurCredential, IsNeverToldWhateverTheProviderEchoes) {
  const Leak& leak = GetParam();
  for (const bool stream : {false, true}) {
    if (leak.stream && !stream) continue;
    WorldSetup setup = saying(leak.body, leak.stream, leak.status);
    setup.accounts = fmt::format("[{{name: main, credential: {}}}]", kCredential);
    World world(std::move(setup));
    world.provider(0).misbehave("play=told/words");
    const Exchange heard = world.ask(stream ? chat("alone").streamed() : chat("alone"));
    ASSERT_TRUE(heard.record && heard.record->error);
    const std::string told = heard.raw + told_by(*heard.record);
    for (const std::string_view part : {"word=secret", "plain/wo", "plain\\/wo"}) {
      EXPECT_EQ(told.find(part), std::string::npos) << told;
    }
    EXPECT_EQ(told.find("abcdefgh12345678"), std::string::npos) << told;
    EXPECT_NE(heard.reply.body.find("\"error\""), std::string::npos) << heard.reply.body;
    world.expect_rest();
  }
}

INSTANTIATE_TEST_SUITE_P(Table, OurCredential, ::testing::ValuesIn(kLeaks),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace qq::simulation
