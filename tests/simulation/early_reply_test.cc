// Providers that speak before they have heard everything: interim replies, early refusals, TLS records that
// are no reply, and bytes that nobody asked for.
#include <fmt/format.h>

#include <filesystem>

#include "fakes/scripted_upstream.h"
#include "net/test_certificates.h"
#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

using fakes::ScriptedUpstream;

constexpr std::string_view kAddress = "127.0.0.2:9001";
constexpr std::size_t kBody = 300'000;
constexpr std::string_view kAnswer =
    R"({"id":"1","object":"chat.completion","model":"sim-gpt","choices":[{"index":0,"message":{"role":"assistant","content":"well"},"finish_reason":"stop"}]})";

std::string answer(int status = 200, std::string_view body = kAnswer) {
  return fmt::format("HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
                     status, body.size(), body);
}

// The whole request: its head ends somewhere, its body has the length of the ask's, renamed.
std::size_t request_size(std::string_view received) {
  const std::size_t head = received.find("\r\n\r\n");
  if (head == std::string_view::npos) return std::string_view::npos;
  const std::size_t at = received.find("content-length: ");
  return head + 4 + std::strtoul(received.data() + at + 16, nullptr, 10);
}

Task<bool> read_request(ScriptedUpstream& server, net::Stream& stream) {
  std::size_t want = server.received().size() + 1;
  const std::size_t begin = server.received().size();
  for (;;) {
    const bool come = co_await ScriptedUpstream::read_to(server, stream, want);
    if (!come) co_return false;
    const std::size_t size = request_size(std::string_view(server.received()).substr(begin));
    if (size == std::string_view::npos) {
      want = server.received().size() + 1;
    } else if (server.received().size() - begin < size) {
      want = begin + size;
    } else {
      co_return true;
    }
  }
}

WorldSetup scripted() {
  WorldSetup setup;
  setup.base_host = "127.0.0.2";
  return setup;
}

// A narrow pipe, so that the gateway is still sending when the provider speaks.
void narrow(World& world) {
  net::SimulatedNetwork network;
  network.up.window = 10'000;
  world.loop().set_network(net::Address::parse(kAddress).value(), network);
}

Ask large() {
  return chat("alone", std::string(kBody, 'p'));
}

template <int kStatus>
Task<void> interim(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, 2'000);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, fmt::format("HTTP/1.1 {} Wait\r\n", kStatus));
  co_await ScriptedUpstream::pause(server, 300ms);
  co_await ScriptedUpstream::write(stream, "x-more: 1\r\n\r\n");
  co_await ScriptedUpstream::pause(server, 300ms);
  std::size_t want = request_size(server.received());
  const bool whole = co_await ScriptedUpstream::read_to(server, stream, want);
  if (!whole) co_return;
  co_await ScriptedUpstream::write(stream, answer());
  co_await ScriptedUpstream::read_to(server, stream, want + 1);
}

class InterimReply : public ::testing::TestWithParam<ScriptedUpstream::Script> {};

TEST_P(InterimReply, DoesNotEndTheSending) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), GetParam());
  narrow(world);
  const Ask ask = large();
  const Exchange heard = world.ask(ask);
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  EXPECT_EQ(heard.story(), "success");
  EXPECT_NE(server.received().find(std::string(kBody, 'p')), std::string::npos);
  world.expect_rest();
  EXPECT_TRUE(server.idle());
}

INSTANTIATE_TEST_SUITE_P(Statuses, InterimReply, ::testing::Values(&interim<100>, &interim<103>));

Task<void> refuse_early(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, 2'000);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(
      stream,
      answer(413, R"({"error":{"message":"too large for us","type":"invalid_request_error","code":null}})"));
  co_await ScriptedUpstream::pause(server, 60s);
}

TEST(EarlyReply, ARefusalIsHeardAtOnce) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &refuse_early);
  narrow(world);
  const Exchange heard = world.ask(large());
  EXPECT_EQ(heard.reply.status, 413) << heard.raw;
  EXPECT_NE(heard.reply.body.find("too large for us"), std::string::npos);
  EXPECT_LE(heard.took, 100ms);
  EXPECT_EQ(world.counters().upstream_connections_open.get(), 0) << "half a request was sent on it";
  world.run_for(60s);
  world.expect_rest();
}

Task<void> answer_early(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, 2'000);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, answer());
  co_await ScriptedUpstream::pause(server, 60s);
}

TEST(EarlyReply, AnAnswerIsTakenAndTheConnectionDropped) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &answer_early);
  narrow(world);
  const Exchange heard = world.ask(large());
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  EXPECT_EQ(world.counters().upstream_connections_open.get(), 0);
  world.run_for(60s);
  world.expect_rest();
}

Task<void> answer_slowly(ScriptedUpstream& server, net::Stream& stream) {
  // Nothing is read for a while, so that the tickets come while the body is being sent.
  co_await ScriptedUpstream::pause(server, 500ms);
  const bool asked = co_await read_request(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, answer());
  co_await read_request(server, stream);
}

TEST(EarlyReply, TlsTicketsAreNoReply) {
  const net::testing::Certificate authority = net::testing::make_certificate(
      {.name = "simulation-ca", .alternative_names = {}, .issuer = nullptr, .authority = true});
  const net::testing::Certificate own = net::testing::make_certificate({.name = "simulation-own",
                                                                        .alternative_names = "IP:127.0.0.2",
                                                                        .issuer = &authority,
                                                                        .authority = false});
  net::TlsServerOptions server_options;
  server_options.certificate_file = own.certificate_file;
  server_options.key_file = own.key_file;
  net::TlsClientOptions client_options;
  client_options.ca_file = authority.certificate_file;
  WorldSetup setup;
  setup.providers = 1;
  setup.tls = net::TlsClientContext::make(client_options).value();
  setup.config =
      "listeners: [{address: \"127.0.0.1:8080\"}]\n"
      "providers: [{name: p0, kind: openai_compatible, base_url: \"https://127.0.0.2:9001/v1\", "
      "allow_private_address: true, accounts: [{name: main, credential: sk-upstream}]}]\n"
      "models: [{name: alone, provider: p0, upstream_name: sim-gpt}]\n";
  World world(std::move(setup));
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &answer_slowly,
                          net::TlsServerContext::make(server_options).value());
  narrow(world);
  const Exchange heard = world.ask(large());
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  EXPECT_EQ(heard.story(), "success");
  EXPECT_NE(server.received().find(std::string(kBody, 'p')), std::string::npos);
  world.expect_rest();
}

Task<void> speak_unasked(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await read_request(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, answer());
  co_await ScriptedUpstream::pause(server, 1s);
  std::string poison(kAnswer);
  poison.replace(poison.find("well"), 4, "evil");
  co_await ScriptedUpstream::write(stream, answer(200, poison));
  co_await read_request(server, stream);
}

TEST(UnaskedBytes, OnAnIdleConnectionNeverBecomeAnAnswer) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &speak_unasked);
  EXPECT_EQ(text_in(world.ask(chat("alone")).reply), "well");
  world.run_for(1'500ms);
  EXPECT_EQ(text_in(world.ask(chat("alone")).reply), "well");
  EXPECT_EQ(server.connections(), 2);
  world.run_for(2s);
  world.expect_rest();
}

Task<void> answer_twice(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await read_request(server, stream);
  if (!asked) co_return;
  co_await ScriptedUpstream::write(stream, answer() + answer());
  co_await read_request(server, stream);
}

TEST(UnaskedBytes, BehindTheAnswerEndTheConnection) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &answer_twice);
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  EXPECT_EQ(world.counters().upstream_connections_open.get(), 0);
  EXPECT_EQ(world.ask(chat("alone")).reply.status, 200);
  EXPECT_EQ(server.connections(), 2);
  world.expect_rest();
}

std::string as_chunk(std::string_view payload) {
  return fmt::format("{:x}\r\n{}\r\n", payload.size(), payload);
}

std::string stream_without_end() {
  return "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" +
         as_chunk(R"(data: {"model":"sim-gpt","choices":[{"index":0,"delta":{"content":"well"}}]})"
                  "\n\n") +
         as_chunk(R"(data: {"model":"sim-gpt","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                  "\n\n");
}

template <bool kDone>
Task<void> end_in_junk(ScriptedUpstream& server, net::Stream& stream) {
  const bool asked = co_await read_request(server, stream);
  if (!asked) co_return;
  std::string reply = stream_without_end();
  if (!kDone) reply.resize(reply.find("\r\n", reply.find("well")) + 2);  // only the content
  if (kDone) reply += as_chunk("data: [DONE]\n\n");
  reply += "zzzz\r\n";
  co_await ScriptedUpstream::write(stream, reply);
  co_await read_request(server, stream);
}

TEST(UnaskedBytes, BehindTheEndOfAStreamDoNotUndoIt) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &end_in_junk<true>);
  const Exchange heard = world.ask(chat("alone").streamed());
  EXPECT_EQ(heard.reply.status, 200) << heard.raw;
  EXPECT_EQ(heard.story(), "success");
  EXPECT_EQ(text_in(heard.reply), "well");
  EXPECT_TRUE(heard.reply.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(world.counters().upstream_connections_open.get(), 0) << "it is not trusted again";
  world.expect_rest();
}

TEST(UnaskedBytes, TogetherWithTheFirstContentLeaveTheChoiceOfAnotherTarget) {
  World world(scripted());
  ScriptedUpstream server(world.loop(), net::Address::parse(kAddress).value(), &end_in_junk<false>);
  const Exchange heard = world.ask(chat("backed").streamed());
  EXPECT_EQ(heard.story(), "bad_frame,success");
  EXPECT_EQ(heard.reply.body.find("well"), std::string::npos);
  world.run_for(60s);
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
