// What goes up and what comes down: the body arrives byte for byte on each attempt, and only listed headers
// pass either way.
#include <fmt/format.h>
#include <openssl/evp.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string out;
  for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

std::optional<std::string> field_of(std::string_view head, std::string_view name) {
  wire::RequestHead parsed;
  if (wire::read_request_head(head, wire::HeadLimits{}, parsed).kind != wire::HeadVerdict::Kind::Complete)
    return std::nullopt;
  const auto found = parsed.fields.find(name);
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

Ask large_ask(std::size_t bytes) {
  std::string prompt(bytes, 'x');
  Random random(5);
  for (char& c : prompt) c = static_cast<char>('a' + random.below(26));
  return chat("chain", prompt);
}

void expect_same_body(World& world, const std::string& sent) {
  const std::string expected = replaced_all(sent, "\"chain\"", "\"sim-gpt\"");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& seen = world.provider(i).seen().requests();
    ASSERT_EQ(seen.size(), 1U) << i;
    EXPECT_EQ(seen[0].body_bytes, expected.size());
    EXPECT_EQ(seen[0].body_sha256, sha256(expected)) << "provider " << i;
    EXPECT_EQ(field_of(seen[0].head, "content-length"), std::to_string(expected.size()));
    EXPECT_EQ(field_of(seen[0].head, "content-type"), "application/json");
  }
}

class BodyIntegrity : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BodyIntegrity, EachAttemptSendsTheSame) {
  World world;
  world.provider(0).misbehave("fault=500");
  world.provider(1).misbehave("fault=reset_before_head");
  const Ask ask = large_ask(GetParam());
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.story(), "server_error,reset,success");
  expect_same_body(world, ask.body);
  world.expect_rest();
}

TEST_P(BodyIntegrity, ThroughNarrowPipesInSmallPieces) {
  World world;
  net::SimulatedNetwork narrow;
  narrow.up.window = 50'000;
  narrow.up.write_limit = 1'777;
  narrow.up.split = net::Split::random(9, 3'000);
  world.loop().set_network(narrow);
  world.provider(0).misbehave("fault=500");
  world.provider(1).misbehave("fault=502");
  const Ask ask = large_ask(GetParam());
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.story(), "server_error,server_error,success");
  expect_same_body(world, ask.body);
  world.expect_rest();
}

TEST_P(BodyIntegrity, FromAChunkedRequest) {
  World world;
  world.provider(0).misbehave("fault=500");
  world.provider(1).misbehave("fault=500");
  const Ask ask = large_ask(GetParam());
  std::string bytes = fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{}transfer-encoding: chunked\r\n\r\n", kKeyLine);
  for (std::size_t at = 0; at < ask.body.size(); at += 70'001) {
    const std::string_view piece = std::string_view(ask.body).substr(at, 70'001);
    bytes += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  }
  const Exchange heard = world.say(bytes + "0\r\n\r\n");
  EXPECT_EQ(heard.story(), "server_error,server_error,success");
  expect_same_body(world, ask.body);
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Sizes, BodyIntegrity, ::testing::Values(10U, 70'000U, 10U << 20U),
                         [](const auto& info) { return fmt::format("b{}", info.param); });

TEST(HeadersUp, OnlyTheListedOnesReachTheProvider) {
  World world;
  Ask ask = chat("alone");
  const std::vector<std::string> kept_back = {"cookie",
                                              "x-forwarded-for",
                                              "x-forwarded-host",
                                              "x-forwarded-proto",
                                              "forwarded",
                                              "x-real-ip",
                                              "openai-organization",
                                              "openai-project",
                                              "api-key",
                                              "x-api-key",
                                              "referer",
                                              "origin",
                                              "x-sim-scenario",
                                              "via",
                                              "te",
                                              "x-stainless-lang",
                                              "proxy-authorization",
                                              "accept-encoding",
                                              "x-request-id",
                                              "idempotency-key",
                                              "user-agent"};
  for (const std::string& name : kept_back) ask = ask.with_header(name, "canary-" + name);
  ask = ask.with_header("OpenAI-Beta", "assistants=v2").with_header("accept-language", "zh-CN");
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  ASSERT_EQ(world.provider(0).seen().requests().size(), 1U);
  const std::string& head = world.provider(0).seen().requests()[0].head;
  EXPECT_EQ(head.find("canary"), std::string::npos) << head;
  EXPECT_EQ(head.find("sk-of-the-tests"), std::string::npos) << head;
  EXPECT_EQ(field_of(head, "authorization"), "Bearer sk-upstream");
  EXPECT_EQ(field_of(head, "openai-beta"), "assistants=v2");
  EXPECT_EQ(field_of(head, "accept-language"), "zh-CN");
  EXPECT_EQ(field_of(head, "host"), "127.0.0.1:9001");
  EXPECT_EQ(field_of(head, "x-request-id"), heard.reply.header("x-request-id"));
  world.expect_rest();
}

// A provider of one's own choosing of headers: a recording.
TEST(HeadersDown, OnlyTheListedOnesReachTheClient) {
  simulator::Recording recording;
  recording.name = "own/one";
  recording.endpoint = "/v1/chat/completions";
  recording.body =
      R"({"id":"1","object":"chat.completion","model":"sim-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]})";
  recording.headers = {{"content-type", "application/json"},
                       {"set-cookie", "canary=1"},
                       {"server", "canary"},
                       {"x-ratelimit-remaining-requests", "canary"},
                       {"cf-ray", "canary"},
                       {"x-powered-by", "canary"},
                       {"openai-organization", "canary"},
                       {"x-request-id", "canary"},
                       {"strict-transport-security", "canary"},
                       {"alt-svc", "canary"},
                       {"access-control-allow-origin", "canary"},
                       {"x-queqiao-model", "canary"},
                       {"openai-processing-ms", "17"},
                       {"openai-version", "2020-10-01"}};
  for (const bool stream : {false, true}) {
    simulator::Recording one = recording;
    if (stream) {
      one.stream = true;
      one.headers[0].second = "text/event-stream";
      one.body =
          "data: "
          "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: "
          "[DONE]\n\n";
    }
    WorldSetup setup;
    std::vector<simulator::Recording> list;
    list.push_back(std::move(one));
    setup.simulator.library = simulator::Library(std::move(list));
    World world(std::move(setup));
    world.provider(0).misbehave("play=own/one");
    const Exchange heard = world.ask(stream ? chat("alone").streamed() : chat("alone"));
    EXPECT_EQ(heard.reply.status, 200) << heard.raw;
    EXPECT_EQ(heard.raw.find("canary"), std::string::npos) << heard.raw;
    EXPECT_EQ(heard.reply.header("openai-processing-ms"), "17");
    EXPECT_EQ(heard.reply.header("openai-version"), "2020-10-01");
    EXPECT_EQ(heard.reply.header("x-queqiao-model"), "m0");
    EXPECT_EQ(heard.reply.header("x-queqiao-route"), "alone");
    world.expect_rest();
  }
}

}  // namespace
}  // namespace qq::simulation
