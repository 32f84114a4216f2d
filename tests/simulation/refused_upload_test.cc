// Requests that end before the relay: uploads that are refused or given up, and what the log says of them.
#include <fmt/format.h>

#include "admission/key_hash.h"
#include "base/secret.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

constexpr std::string_view kTeamKey = "sk-of-the-team";

WorldSetup with_key() {
  static constexpr std::string_view kPepper = "pepper-of-the-simulated-gateway-0123";
  const auto hasher = admission::KeyHasher::make(Secret(std::string(kPepper)));
  WorldSetup setup;
  setup.limits = "{body_max: 64KiB, bodies_in_flight_max: 1MiB}";
  setup.more = fmt::format("key_pepper: \"{}\"\nkeys: [{{name: lab, owner: team-a, hash: \"{}\"}}]\n",
                           kPepper, admission::to_text(hasher.value().digest(kTeamKey)));
  return setup;
}

std::string head(std::string_view request_line, std::string_view more = {}) {
  return fmt::format("{} HTTP/1.1\r\nhost: g\r\nauthorization: Bearer {}\r\n{}\r\n", request_line, kTeamKey,
                     more);
}

std::string upload(std::size_t announced, std::size_t sent) {
  return head("POST /v1/chat/completions", fmt::format("content-length: {}\r\n", announced)) +
         std::string(sent, '[');
}

TEST(RefusedUpload, WhoWritesAllOfItBeforeReadingHearsWhy) {
  World world(with_key());
  Client& client = world.client();
  client.write_all_first();
  client.start(upload(3'000'000, 3'000'000));
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 413) << client.raw();
  EXPECT_TRUE(client.reply().complete);
  EXPECT_FALSE(client.reset_by_gateway());
  world.run_for(100ms);
  EXPECT_GT(world.counters().bytes_from_clients.get(), 3'000'000) << "nothing was left that turns the close "
                                                                     "into a reset";
  world.expect_rest();
}

TEST(RefusedUpload, AFewAreHeardOutAndNotForLong) {
  World world(with_key());
  std::vector<Client*> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(&world.client());
    clients.back()->stop_reading();  // so they never close either
    clients.back()->start(upload(3'000'000, 1'000));
  }
  world.run_for(4'900ms);
  EXPECT_EQ(world.counters().connections_open.get(), 64);
  world.run_for(200ms);
  EXPECT_EQ(world.counters().connections_open.get(), 0);
  for (Client* client : clients) client->leave(Client::Leave::Reset);
  world.expect_rest();
}

TEST(RequestLog, AnUploadThatIsGivenUpLeavesALine) {
  for (const auto how : {Client::Leave::Fin, Client::Leave::Reset}) {
    World world(with_key());
    Client& client = world.client();
    client.start(upload(10'000, 1'000), 0);
    world.run_for(1s);
    client.leave(how);
    world.run_for(1s);
    ASSERT_EQ(world.records().size(), 1U);
    const KeptRecord& record = world.records()[0];
    EXPECT_EQ(record.status, 0);
    ASSERT_TRUE(record.error);
    EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
    EXPECT_EQ(record.method + " " + record.path, "POST /v1/chat/completions");
    EXPECT_EQ(record.key + " of " + record.owner, "lab of team-a");
    EXPECT_EQ(record.bytes_from_client, 1'000U);
    EXPECT_EQ(record.ended - record.started, 1s);
    world.expect_rest();
  }
}

TEST(RequestLog, TheListOfModelsLeavesALineAndHealthChecksNone) {
  World world(with_key());
  const Exchange models = world.say(head("GET /v1/models"));
  EXPECT_EQ(models.reply.status, 200) << models.raw;
  ASSERT_EQ(world.records().size(), 1U);
  const KeptRecord& record = world.records()[0];
  EXPECT_EQ(record.status, 200);
  EXPECT_FALSE(record.error);
  EXPECT_EQ(record.method + " " + record.path, "GET /v1/models");
  EXPECT_EQ(record.key + " of " + record.owner, "lab of team-a");
  EXPECT_EQ(record.request_id, models.reply.header("x-request-id"));
  for (const std::string_view path : {"/healthz", "/readyz", "/metrics"})
    EXPECT_EQ(world.say(head(fmt::format("GET {}", path))).reply.status, 200);
  EXPECT_EQ(world.records().size(), 1U);
}

TEST(RequestLog, RefusalsTellWhoseKeyItWas) {
  World world(with_key());
  struct Refusal {
    std::string bytes;
    int status;
    std::string_view key;
  };
  std::string unknown = head("GET /v1/models");
  unknown.replace(unknown.find(kTeamKey), kTeamKey.size(), "sk-of-nobody");
  for (const auto& [bytes, status, key] : {
           Refusal{upload(3'000'000, 0), 413, "lab"},
           Refusal{head("POST /v1/chat/completions", "content-encoding: gzip\r\n"), 400, "lab"},
           Refusal{head("GET /v1/models/none"), 404, "lab"},
           Refusal{upload(1'000, 1'000), 400, "lab"},
           Refusal{unknown, 401, ""},
           Refusal{head("GET /nowhere"), 404, ""},
           Refusal{"nonsense\r\n\r\n", 400, ""},
       }) {
    const Exchange heard = world.say(bytes);
    EXPECT_EQ(heard.reply.status, status) << heard.raw;
    ASSERT_TRUE(heard.record) << bytes;
    EXPECT_EQ(heard.record->status, status);
    EXPECT_EQ(heard.record->key, key) << bytes;
    EXPECT_EQ(heard.record->owner, key.empty() ? "" : "team-a") << bytes;
    EXPECT_EQ(heard.record->request_id, heard.reply.header("x-request-id"));
  }
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
