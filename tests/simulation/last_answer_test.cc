// Answers that end their connection: the client gets all of it and then an orderly end, whatever it still has
// to say. A close while bytes of its own are unread or on their way would be a reset.
#include "simulation/fault_case.h"

namespace qq::simulation::last_answer {
namespace {

struct Case {
  const char* name;
  std::string bytes;
  int status;
};

std::string closing(const Ask& ask) {
  return ask.with_header("connection", "close").bytes();
}
std::string get(std::string_view path, std::string_view more = "connection: close\r\n") {
  return std::string("GET ")
      .append(path)
      .append(" HTTP/1.1\r\nhost: g\r\n")
      .append(kKeyLine)
      .append(more)
      .append("\r\n");
}

std::vector<Case> cases() {
  std::string old = chat("alone").bytes();
  old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
  std::string old_stream = chat("alone").streamed().bytes();
  old_stream.replace(old_stream.find("HTTP/1.1"), 8, "HTTP/1.0");
  return {{"whole", closing(chat("alone")), 200},
          {"stream", closing(chat("alone").streamed()), 200},
          {"http10", old, 200},
          {"http10_stream", old_stream, 200},
          {"error", closing(chat("no-such-route")), 404},
          {"refusal", get("/nowhere"), 404},
          {"models", get("/v1/models"), 200},
          {"health", get("/healthz"), 200},
          {"bad_head", "nonsense\r\n\r\n", 400}};
}

class LastAnswer : public ::testing::TestWithParam<Case> {
 protected:
  // A client that reads late, so that the answer is on its way to it when the gateway is done.
  Client& ask(std::string bytes) {
    Client& client = world_.client();
    client.stop_reading();
    client.start(std::move(bytes), 0);
    world_.run_for(1s);
    return client;
  }
  void expect_orderly_end(Client& client) {
    client.read_again();
    world_.run_until_end(client);
    EXPECT_EQ(client.reply().status, GetParam().status) << client.raw();
    EXPECT_TRUE(client.reply().complete);
    EXPECT_TRUE(client.closed_by_gateway());
    EXPECT_FALSE(client.reset_by_gateway());
    world_.expect_rest();
  }
  World world_;
};

TEST_P(LastAnswer, ArrivesThoughMoreWasSentAlong) {
  expect_orderly_end(ask(GetParam().bytes + std::string(200'000, 'z')));
}

TEST_P(LastAnswer, ArrivesThoughMoreIsSentBehindIt) {
  Client& client = ask(GetParam().bytes);
  client.say("\r\n");
  world_.run_for(1s);
  client.say(std::string(100'000, 'z'));
  world_.run_for(1s);
  expect_orderly_end(client);
}

INSTANTIATE_TEST_SUITE_P(Answers, LastAnswer, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Lingering, LastsAsLongAsTheAnswerIsTaken) {
  World world;
  world.provider(0).misbehave("words=2000");
  Client& client = world.client();
  client.read_slowly(500, 500ms);
  client.start(closing(chat("alone")), 0);
  world.run_for(8s);
  client.say("\r\n");
  world.run_until_end(client);
  EXPECT_GT(client.ended() - client.started(), 8s);
  EXPECT_TRUE(client.reply().complete);
  EXPECT_FALSE(client.reset_by_gateway());
  world.expect_rest();
}

TEST(Lingering, LastsFiveSecondsWithWhoNeverCloses) {
  World world;
  std::vector<Client*> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(&world.client());
    clients.back()->stop_reading();
    clients.back()->start(closing(chat("alone")), 0);
  }
  world.run_for(4'900ms);
  EXPECT_EQ(world.counters().connections_open.get(), 100) << "as cheap as idle ones, which stay longer";
  world.run_for(300ms);
  EXPECT_EQ(world.counters().connections_open.get(), 0);
  for (Client* client : clients) client->leave(Client::Leave::Reset);
  world.expect_rest();
}

// Who sends and sends is not read for ever.
TEST(Lingering, ReadsSoMuchAndNoMore) {
  WorldSetup setup;
  setup.limits = "{body_max: 64KiB, bodies_in_flight_max: 1MiB}";
  World world(std::move(setup));
  Client& client = world.client();
  client.write_all_first();
  client.start(get("/healthz") + std::string(20'000'000, 'z'), 0);
  world.run_for(1s);
  EXPECT_EQ(world.counters().connections_open.get(), 0);
  EXPECT_LT(world.counters().bytes_from_clients.get(), 18'000'000);
  EXPECT_GT(world.counters().bytes_from_clients.get(), 16'000'000);
  world.expect_rest();
}

TEST(Lingering, EndsWithTheDrain) {
  World world;
  Client& client = world.client();
  client.stop_reading();
  client.start(closing(chat("alone")), 0);
  world.run_for(100ms);
  EXPECT_EQ(world.counters().connections_open.get(), 1);
  world.start_drain(0ms);
  world.run_for(3'100ms);
  EXPECT_TRUE(world.drained());
  client.leave(Client::Leave::Reset);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::last_answer
