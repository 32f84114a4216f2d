// HTTP/1.1 as the listener speaks it: one strict reading, no second chance for ambiguity, and connections
// that end when they should.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nhost: g\r\n{}\r\n", path, kKeyLine);
}

const std::string kSmuggled = get("/v1/models");

struct Attack {
  std::string name;
  std::string bytes;
  int status = 400;
};

std::string post(std::string_view fields, std::string_view body = {}) {
  return fmt::format("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{}{}\r\n{}", kKeyLine, fields, body);
}

const std::vector<Attack> kAttacks = {
    {"length_and_chunked", post("content-length: 5\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n")},
    {"chunked_and_length", post("transfer-encoding: chunked\r\ncontent-length: 5\r\n", "0\r\n\r\n")},
    {"two_lengths", post("content-length: 5\r\ncontent-length: 6\r\n", "{...}")},
    {"same_length_twice", post("content-length: 2\r\ncontent-length: 2\r\n", "{}")},
    {"length_list", post("content-length: 2, 2\r\n", "{}")},
    {"length_plus", post("content-length: +2\r\n", "{}")},
    {"length_minus", post("content-length: -2\r\n", "{}")},
    {"length_hex", post("content-length: 0x2\r\n", "{}")},
    {"length_overflow", post("content-length: 18446744073709551618\r\n", "{}")},
    {"te_identity_chunked", post("transfer-encoding: identity, chunked\r\n", "0\r\n\r\n"), 0},
    {"te_twice", post("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"), 0},
    {"te_xchunked", post("transfer-encoding: xchunked\r\n", "0\r\n\r\n"), 0},
    {"te_vertical_tab", post("transfer-encoding: \vchunked\r\n", "0\r\n\r\n"), 0},
    {"space_before_colon", post("transfer-encoding : chunked\r\n", "0\r\n\r\n")},
    {"bare_lf", "POST /v1/chat/completions HTTP/1.1\nhost: g\ncontent-length: 2\n\n{}"},
    {"bare_cr", post("x-a: b\rtransfer-encoding: chunked\r\n", "0\r\n\r\n")},
    {"folded", post("x-a: b\r\n transfer-encoding: chunked\r\n", "0\r\n\r\n")},
    {"nul", post(std::string_view("x-a: b\0c\r\n", 10))},
    {"no_host", "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"},
    {"two_hosts", post("host: h\r\ncontent-length: 2\r\n", "{}")},
    {"chunk_size_sign", post("transfer-encoding: chunked\r\n", "+2\r\n{}\r\n0\r\n\r\n")},
    {"chunk_size_hex_prefix", post("transfer-encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n")},
    {"chunk_without_end", post("transfer-encoding: chunked\r\n", "2\r\n{}0\r\n\r\n")},
    {"chunk_bare_lf", post("transfer-encoding: chunked\r\n", "2\n{}\n0\n\n")},
    {"chunk_size_overflow", post("transfer-encoding: chunked\r\n", "10000000000000002\r\n{}\r\n0\r\n\r\n")},
    {"http2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0},
    {"http09", "GET /v1/models\r\n"},
    {"not_http", "\x16\x03\x01\x02\x01\x01\xfc\x03\x03 hello there, this is a TLS hello\r\n\r\n"},
};

class Smuggling : public ::testing::TestWithParam<Attack> {};

TEST_P(Smuggling, EndsTheConnectionWithOneRefusal) {
  const Attack& attack = GetParam();
  for (const auto& split : {net::Split::whole(), net::Split::each(1)}) {
    World world;
    net::SimulatedNetwork network;
    network.up.split = split;
    world.loop().set_network(world.gateway(), network);
    const Exchange heard = world.say(attack.bytes + kSmuggled, 0);
    EXPECT_TRUE(heard.closed) << heard.raw;
    if (attack.status != 0) EXPECT_EQ(heard.reply.status, attack.status) << heard.raw;
    EXPECT_GE(heard.reply.status, 400);
    EXPECT_TRUE(heard.reply.complete);
    EXPECT_FALSE(heard.reply.keep_alive);
    EXPECT_EQ(heard.raw.find("HTTP/1.1 ", 5), std::string::npos) << "one reply only";
    EXPECT_EQ(heard.raw.find("\"object\":\"list\""), std::string::npos);
    EXPECT_EQ(world.provider(0).seen().total(), 0U);
    world.expect_rest();
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Smuggling, ::testing::ValuesIn(kAttacks),
                         [](const auto& info) { return info.param.name; });

TEST(Pipelining, IsAnsweredInOrder) {
  for (const auto& split : {net::Split::whole(), net::Split::each(1), net::Split::each(37)}) {
    World world;
    world.provider(0).misbehave("delay=300");
    net::SimulatedNetwork network;
    network.up.split = split;
    world.loop().set_network(world.gateway(), network);
    const std::string bytes = chat("alone").bytes() + kSmuggled + chat("alone").streamed().bytes() +
                              get("/v1/models/spare") + "GET /healthz HTTP/1.1\r\nhost: g\r\n\r\n" +
                              "GET /nowhere HTTP/1.1\r\nhost: g\r\n\r\n" + responses("spare").bytes() +
                              kSmuggled;
    Client& client = world.client();
    client.start(bytes, 8);
    world.run_until_end(client);
    ASSERT_EQ(client.reader().complete_replies(), 8U) << client.raw();
    EXPECT_EQ(client.reader().error(), "");
    EXPECT_NE(client.reply(0).body.find("chat.completion\""), std::string::npos);
    EXPECT_NE(client.reply(1).body.find("\"object\":\"list\""), std::string::npos);
    EXPECT_NE(client.reply(2).body.find("data: [DONE]"), std::string::npos);
    EXPECT_NE(client.reply(3).body.find("\"id\":\"spare\""), std::string::npos) << client.reply(3).body;
    EXPECT_NE(client.reply(4).body.find("alive"), std::string::npos);
    EXPECT_EQ(client.reply(5).status, 404);
    EXPECT_NE(client.reply(6).body.find("\"object\":\"response\""), std::string::npos);
    EXPECT_NE(client.reply(7).body.find("\"object\":\"list\""), std::string::npos);
    world.expect_rest();
  }
}

// What one connection has read so far must not be touched by what others read meanwhile.
TEST(SplitHeads, AreNotMixedWithOtherConnections) {
  World world;
  const std::string bytes = chat("alone").bytes();
  for (std::size_t at = 1; at < bytes.size(); at += 3) {
    Client& slow = world.client();
    slow.start(bytes.substr(0, at));
    world.run_for(1ms);
    EXPECT_EQ(world.ask(chat("spare", "Something else entirely.")).reply.status, 200);
    ASSERT_TRUE(slow.running()) << "after " << at << " bytes";
    slow.say(bytes.substr(at));
    world.run_until_end(slow);
    ASSERT_EQ(slow.reply().status, 200) << "after " << at << " bytes: " << slow.raw();
    EXPECT_NE(text_in(slow.reply()).find("rivers"), std::string::npos);
  }
  world.expect_rest();
}

TEST(OldClients, Http10GetsALengthAndAClose) {
  World world;
  const std::string body = chat("alone").body;
  const Exchange heard =
      world.say(fmt::format("POST /v1/chat/completions HTTP/1.0\r\n{}content-length: {}\r\n\r\n{}", kKeyLine,
                            body.size(), body),
                0);
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_FALSE(heard.reply.header("transfer-encoding"));
  EXPECT_TRUE(heard.closed);
  world.expect_rest();
}

TEST(OldClients, Http10StreamsUntilClose) {
  World world;
  const std::string body = chat("alone").streamed().body;
  const Exchange heard =
      world.say(fmt::format("POST /v1/chat/completions HTTP/1.0\r\nconnection: keep-alive\r\n"
                            "{}content-length: {}\r\n\r\n{}",
                            kKeyLine, body.size(), body),
                0);
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.until_close);
  EXPECT_FALSE(heard.reply.header("transfer-encoding"));
  EXPECT_TRUE(heard.reply.body.ends_with("data: [DONE]\n\n")) << heard.reply.body;
  EXPECT_TRUE(heard.closed);
  world.expect_rest();
}

// Nothing but the end of the connection tells how the answer ended.
TEST(OldClients, Http10SeesThatALargeAnswerWasCut) {
  WorldSetup setup;
  setup.limits = "{held_answer_max: 1KiB}";
  World world(std::move(setup));
  world.provider(0).misbehave("words=2000; rate=100000; fault=truncated_json");
  const std::string body = chat("alone").body;
  const Exchange heard =
      world.say(fmt::format("POST /v1/chat/completions HTTP/1.0\r\n{}content-length: {}\r\n\r\n{}", kKeyLine,
                            body.size(), body),
                0);
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.until_close);
  EXPECT_TRUE(heard.reset) << "an orderly end would make it whole";
  EXPECT_TRUE(heard.record->interrupted);
  world.expect_rest();
}

TEST(OldClients, Http10MayKeepAlive) {
  World world;
  const std::string body = chat("alone").body;
  const std::string one = fmt::format(
      "POST /v1/chat/completions HTTP/1.0\r\nconnection: keep-alive\r\n"
      "{}content-length: {}\r\n\r\n{}",
      kKeyLine, body.size(), body);
  Client& client = world.client();
  client.start(one + one, 2);
  world.run_until_end(client);
  EXPECT_EQ(client.reader().complete_replies(), 2U);
  world.expect_rest();
}

TEST(ExpectContinue, IsInvitedThenServed) {
  World world;
  const std::string body = chat("alone").body;
  Client& client = world.client();
  client.start(
      fmt::format("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nexpect: 100-continue\r\n"
                  "{}content-length: {}\r\n\r\n",
                  kKeyLine, body.size()));
  world.run_for(1s);
  EXPECT_EQ(client.raw(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say(body);
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200);
  world.expect_rest();
}

TEST(ExpectContinue, IsNotInvitedToARefusal) {
  World world;
  Client& client = world.client();
  client.start(post("expect: 100-continue\r\ncontent-length: 67108865\r\n"));
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 413);
  EXPECT_EQ(client.reader().interim_replies(), 0);
  world.expect_rest();
}

TEST(LargeBodies, OneByteTooManyIsRefusedUnread) {
  World world;
  Client& client = world.client();
  client.start(post("content-length: 67108865\r\n", "{"), 0);
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 413);
  EXPECT_EQ(error_code_in(client.reply().body), "request_too_large");
  EXPECT_TRUE(client.closed_by_gateway());
  world.expect_rest();
}

TEST(LargeBodies, ChunksAreCountedToo) {
  WorldSetup setup;
  setup.limits = "{body_max: 64KiB}";
  World world(std::move(setup));
  const std::string chunk = fmt::format("4000\r\n{}\r\n", std::string(0x4000, ' '));
  std::string bytes = post("transfer-encoding: chunked\r\n");
  for (int i = 0; i < 5; ++i) bytes += chunk;
  Client& client = world.client();
  client.start(bytes + "0\r\n\r\n", 0);
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 413) << client.raw();
  world.expect_rest();
}

TEST(LargeBodies, AChunkThatAnnouncesTooMuchIsRefusedAtOnce) {
  const std::string most = fmt::format("8000\r\n{}\r\n", std::string(0x8000, ' '));
  for (const std::string& chunks :
       {std::string("10001\r\n"), std::string("7fffffffffffffff\r\n{"), most + "8001\r\n"}) {
    for (const auto& split : {net::Split::whole(), net::Split::each(1'000)}) {
      WorldSetup setup;
      setup.limits = "{body_max: 64KiB}";
      World world(std::move(setup));
      net::SimulatedNetwork network;
      network.up.split = split;
      world.loop().set_network(world.gateway(), network);
      Client& client = world.client();
      client.start(post("transfer-encoding: chunked\r\n", chunks));
      world.run_until_end(client);
      EXPECT_EQ(client.reply().status, 413) << client.raw();
      EXPECT_LT(client.ended() - client.started(), 1s);
      world.expect_rest();
    }
  }
}

TEST(LargeBodies, ChunksMayBeAsLargeAsTheBody) {
  WorldSetup setup;
  setup.limits = "{body_max: 64KiB}";
  World world(std::move(setup));
  Ask ask = chat("alone");
  ask.body.append(64UL * 1024 - ask.body.size(), ' ');
  const Exchange heard =
      world.say(post("transfer-encoding: chunked\r\n", fmt::format("10000\r\n{}\r\n0\r\n\r\n", ask.body)));
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  world.expect_rest();
}

TEST(Refusals, OfAMethodNameThoseThatAreAllowed) {
  for (const auto& [line, allowed] :
       {std::pair("GET /v1/chat/completions?x=1", "POST"), std::pair("DELETE /v1/responses", "POST"),
        std::pair("POST /v1/models", "GET, HEAD"), std::pair("PUT /v1/models/alone", "GET, HEAD")}) {
    World world;
    const Exchange heard = world.say(fmt::format("{} HTTP/1.1\r\nhost: g\r\n\r\n", line));
    EXPECT_EQ(heard.reply.status, 405) << heard.raw;
    EXPECT_EQ(heard.reply.header("allow"), allowed) << line;
  }
}

TEST(Refusals, OfALongPathAreThoseOfTheWholePath) {
  World world;
  const std::string model(300, 'm');
  const Exchange heard =
      world.say(fmt::format("GET /v1beta/models/{}:generateContent HTTP/1.1\r\nhost: g\r\n\r\n", model));
  EXPECT_EQ(heard.reply.status, 405) << heard.raw;
  EXPECT_EQ(heard.reply.header("allow"), "POST");
  EXPECT_NE(heard.reply.body.find("\"status\":"), std::string::npos) << heard.reply.body;
}

TEST(Refusals, ShowNoHalfOfACharacter) {
  World world;
  std::string model = "m";  // so that the 200th byte is the first of two
  for (int i = 0; i < 150; ++i) model += "\xc3\xa9";
  const Exchange heard = world.ask(chat(model));
  EXPECT_EQ(heard.reply.status, 404);
  EXPECT_NE(heard.reply.body.find("\xc3\xa9` does not exist"), std::string::npos) << heard.reply.body;
}

TEST(Refusals, NameTheSettingThatTakesMore) {
  std::string many_fields;
  for (int i = 0; i < 200; ++i) many_fields += fmt::format("x-{}: y\r\n", i);
  struct Case {
    std::string bytes;
    int status;
    std::string_view says;
  };
  const std::vector<Case> cases = {
      {post(fmt::format("x-long: {}\r\n", std::string(70'000, 'x'))), 431,
       "65536 bytes of request line and headers (limits.head_max)"},
      {post(many_fields), 431, "too many header fields; this gateway takes 100"},
      {fmt::format("GET /{} HTTP/1.1\r\nhost: g\r\n\r\n", std::string(9'000, 'x')), 414, "takes 8192 bytes"},
      {post("content-length: 67108865\r\n"), 413, "(67108864 bytes, limits.body_max)"},
  };
  for (const Case& one : cases) {
    World world;
    const Exchange heard = world.say(one.bytes);
    EXPECT_EQ(heard.reply.status, one.status) << heard.raw;
    EXPECT_NE(heard.reply.body.find(one.says), std::string::npos) << heard.reply.body;
  }
}

TEST(Refusals, OfAModelsNameRepeatItAlsoIfItIsNoEncoding) {
  for (const auto& [path, name] : {std::pair("%zz%00%ff", "`%zz%00%ff`"), std::pair("a%2Fb", "`a/b`")}) {
    World world;
    const Exchange heard = world.say(get(fmt::format("/v1/models/{}", path)));
    EXPECT_EQ(heard.reply.status, 404);
    EXPECT_NE(heard.reply.body.find(name), std::string::npos) << heard.reply.body;
  }
}

TEST(Refusals, AreRecordedWithWhatWasAsked) {
  struct Case {
    std::string bytes;
    int status;
    std::string what;
  };
  const std::vector<Case> cases = {
      {"GET /nowhere?key=1 HTTP/1.1\r\nhost: g\r\n\r\n", 404, "GET /nowhere"},
      {"DELETE /v1/responses HTTP/1.1\r\nhost: g\r\n\r\n", 405, "DELETE /v1/responses"},
      {post("content-length: 67108865\r\n"), 413, "POST /v1/chat/completions"},
      {post("content-length: 4\r\n", "nope"), 400, "POST /v1/chat/completions"},
      {chat("unknown").bytes(), 404, "POST /v1/chat/completions"},
      {post("transfer-encoding: chunked\r\n", "zz\r\n"), 400, "POST /v1/chat/completions"},
  };
  for (const Case& one : cases) {
    World world;
    const Exchange heard = world.say(one.bytes);
    EXPECT_EQ(heard.reply.status, one.status) << one.bytes;
    ASSERT_TRUE(heard.record) << one.bytes;
    EXPECT_EQ(heard.record->status, one.status);
    EXPECT_EQ(heard.record->method + " " + heard.record->path, one.what);
    EXPECT_EQ(heard.record->request_id, heard.reply.header("x-request-id"));
    ASSERT_TRUE(heard.record->error);
    EXPECT_EQ(heard.record->error->origin, ErrorOrigin::Client);
    EXPECT_EQ(heard.reply.body.find("key=1"), std::string::npos);
    world.expect_rest();
  }
}

TEST(SlowClients, ASlowHeadIsClosedAtItsTimer) {
  World world;
  Client& client = world.client();
  client.start("POST /v1/chat/completions HTTP/1.1\r\n", 0);
  for (int i = 1; i < 40; ++i) {
    world.loop().after(i * 500ms, [&client] {
      if (client.running()) client.say("x");
    });
  }
  world.run_until_end(client);
  EXPECT_EQ(client.ended() - client.started(), 10s);
  world.expect_rest();
}

TEST(SlowClients, AnIdleFirstConnectionIsClosedAtTheHeadTimer) {
  World world;
  Client& client = world.client();
  client.start("", 0);
  world.run_until_end(client);
  EXPECT_EQ(client.ended() - client.started(), 10s);
  EXPECT_EQ(client.raw(), "");
  world.expect_rest();
}

TEST(SlowClients, AnIdleKeptConnectionIsClosedAtItsTimer) {
  World world;
  Client& client = world.client();
  client.start(chat("alone").bytes(), 0);
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200);
  EXPECT_EQ(client.ended() - client.started(), 60s);
  world.expect_rest();
}

TEST(SlowClients, ABodyMustKeepItsPace) {
  // 512 bytes a second: after the grace of 10 s half of what is due is missing at 20 s.
  World world;
  Client& client = world.client();
  client.start(post("content-length: 1000000\r\n"), 0);
  for (int i = 1; i < 60; ++i) {
    world.loop().after(i * 1s - 1ms, [&client] {
      if (client.running()) client.say(std::string(512, ' '));
    });
  }
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 408) << client.raw();
  const auto took = client.ended() - client.started();
  EXPECT_GE(took, 19s);
  EXPECT_LE(took, 22s);
  world.expect_rest();
}

TEST(SlowClients, AFastEnoughBodyIsServed) {
  World world;
  Ask ask = chat("alone", std::string(30'000, 'y'));
  const std::string bytes = ask.bytes();
  Client& client = world.client();
  client.start(bytes.substr(0, 400));
  for (std::size_t at = 400; at < bytes.size(); at += 1'100) {
    world.loop().after(std::chrono::seconds(1 + at / 1'100),
                       [&client, piece = bytes.substr(at, 1'100)] { client.say(piece); });
  }
  world.run_until_end(client);
  EXPECT_EQ(client.reply().status, 200) << client.raw();
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
