// Chat over WebSocket: messages in, messages out, under the rules of RFC 6455 and the limits of HTTP.
#include <fmt/format.h>

#include "fakes/websocket_client.h"
#include "simulation/fault_case.h"
#include "wire/json.h"
#include "wire/sse.h"

namespace qq::simulation {
namespace {

using fakes::WebsocketClient;
using wire::Fin;
using wire::WebsocketClose;
using wire::WebsocketOpcode;

class Websocket : public ::testing::Test {
 protected:
  void make(WorldSetup setup = {}) { world_ = std::make_unique<World>(std::move(setup)); }
  static WorldSetup with(std::string_view timers, std::string_view limits = {}) {
    WorldSetup setup;
    setup.timers = timers;
    setup.limits = limits;
    return setup;
  }
  // Opens, and waits until that is done.
  WebsocketClient& open(std::string_view header_lines = kKeyLine, std::string_view behind = {}) {
    sockets_.push_back(std::make_unique<WebsocketClient>(world_->client()));
    sockets_.back()->open(header_lines, behind);
    run(10ms);
    return *sockets_.back();
  }
  // In steps, so that pings are answered soon.
  void run(Milliseconds time) {
    const Milliseconds step = std::max(time / 100, Milliseconds(1));
    for (Milliseconds at{0}; at < time; at += step) {
      world_->run_for(step);
      for (auto& socket : sockets_) socket->look();
    }
  }
  // What a strict client saw: nothing wrong, and the end that it should have been.
  void expect_closed(WebsocketClient& socket, std::string_view close) {
    run(10ms);
    EXPECT_EQ(socket.fault(), "");
    EXPECT_EQ(socket.close(), close);
    EXPECT_TRUE(socket.client().closed_by_gateway());
  }
  // More than the network takes at once.
  void say_large(WebsocketClient& socket, std::string_view text) {
    const std::string bytes = WebsocketClient::frame(WebsocketOpcode::Text, text);
    for (std::size_t at = 0; at < bytes.size(); at += 100'000) {
      socket.client().say(std::string_view(bytes).substr(at, 100'000));
      run(5ms);
    }
  }
  void hang_up(WebsocketClient& socket) {
    socket.say_close(WebsocketClose::Normal);
    expect_closed(socket, "1000 ");
  }
  // The data of the same answer over HTTP, message by message.
  static std::vector<std::string> over_http(std::string_view directives, const Ask& ask,
                                            std::string_view limits = {}) {
    World world(with("", limits));
    if (!directives.empty()) world.provider(0).misbehave(directives);
    const HttpReply reply = world.ask(ask).reply;
    if (!ask.stream) return {reply.body};
    std::vector<std::string> data;
    wire::SseDecoder decoder;
    wire::SseEvent event;
    for (std::size_t at = 0; decoder.next(reply.body, at, event);) {
      if (event.has_data) data.emplace_back(event.data);
    }
    return data;
  }
  static std::string text_of(std::span<const std::string> messages) {
    HttpReply reply;
    reply.headers.emplace_back("content-type", "text/event-stream");
    for (const std::string& message : messages) reply.body += "data: " + message + "\n\n";
    return text_in(reply);
  }

  std::unique_ptr<World> world_ = std::make_unique<World>();
  std::vector<std::unique_ptr<WebsocketClient>> sockets_;
};

// --- answers ---

TEST_F(Websocket, TheUpgradeIsAccepted) {
  WebsocketClient& socket = open();
  EXPECT_NE(socket.head().find("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos);
  EXPECT_EQ(socket.head().find("sec-websocket-protocol"), std::string::npos) << "none was offered";
  EXPECT_NE(socket.head().find("x-request-id: "), std::string::npos);
  hang_up(socket);
  EXPECT_TRUE(world_->records().empty()) << "an opening is no request";
  world_->expect_rest();
}

TEST_F(Websocket, NoExtensionIsAgreedTo) {
  WebsocketClient& socket = open(fmt::format(
      "{}sec-websocket-extensions: permessage-deflate; client_max_window_bits, x-webkit\r\n", kKeyLine));
  EXPECT_TRUE(socket.head().starts_with("HTTP/1.1 101 "));
  EXPECT_EQ(socket.head().find("sec-websocket-extensions"), std::string::npos);
  socket.client().say("\xc1\x80\x01\x02\x03\x04");  // the bit of a compressed message
  expect_closed(socket, "1002 a reserved bit is set");
  world_->expect_rest();
}

TEST_F(Websocket, AStreamComesAsItsDataAndDone) {
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  run(5s);
  const auto expected = over_http("", chat("alone").streamed());
  ASSERT_GT(expected.size(), 3U);
  EXPECT_EQ(socket.messages().size(), expected.size());
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  EXPECT_EQ(text_of(socket.messages()), text_of(expected));
  for (const std::string& message : socket.messages()) {
    if (message != "[DONE]") EXPECT_FALSE(wire::check_json(message)) << message;
  }
  ASSERT_EQ(world_->records().size(), 1U);
  const KeptRecord& record = world_->records()[0];
  EXPECT_EQ(record.path, "/v1/chat/completions (websocket)");
  EXPECT_EQ(record.method, "GET");
  EXPECT_EQ(record.status, 200);
  EXPECT_EQ(record.key, "tests");
  EXPECT_EQ(record.route, "alone");
  EXPECT_TRUE(record.stream);
  EXPECT_FALSE(record.error);
  EXPECT_EQ(record.bytes_from_client, chat("alone").streamed().body.size());
  EXPECT_GT(record.bytes_to_client, 100U);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AWholeAnswerIsOneMessage) {
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(5s);
  ASSERT_EQ(socket.messages().size(), 1U);
  HttpReply reply;
  reply.body = socket.messages()[0];
  HttpReply expected;
  expected.body = over_http("", chat("alone"))[0];
  EXPECT_EQ(text_in(reply), text_in(expected));
  EXPECT_EQ(reply.body.size(), expected.body.size());
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AnAnswerTooLargeToHoldIsOneMessageInFragments) {
  make(with("", "{held_answer_max: 1KiB}"));
  world_->provider(0).misbehave("words=9000; rate=9000");
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(20s);
  ASSERT_EQ(socket.messages().size(), 1U);
  EXPECT_EQ(socket.fault(), "");
  EXPECT_GT(socket.client().raw().find('\x01', socket.head().size()), 0U);
  EXPECT_EQ(socket.client().raw()[socket.head().size()], '\x01') << "text, not the last fragment";
  EXPECT_FALSE(wire::check_json(socket.messages()[0]));
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, ErrorsAreOneMessageAndTheConnectionStays) {
  WebsocketClient& socket = open();
  socket.say("{");
  socket.say(chat("nothing").body);
  run(1s);
  ASSERT_EQ(socket.messages().size(), 2U);
  EXPECT_NE(socket.messages()[0].find("\"error\""), std::string::npos);
  EXPECT_EQ(error_code_in(socket.messages()[1]), "model_not_found");
  world_->provider(0).misbehave("fault=400");
  socket.say(chat("alone").streamed().body);
  run(1s);
  ASSERT_EQ(socket.messages().size(), 3U);
  EXPECT_NE(socket.messages()[2].find("\"error\""), std::string::npos);
  world_->provider(0).behave();
  socket.say(chat("alone").body);
  run(5s);
  ASSERT_EQ(socket.messages().size(), 4U);
  EXPECT_NE(socket.messages()[3].find("\"choices\""), std::string::npos);
  ASSERT_EQ(world_->records().size(), 4U);
  EXPECT_EQ(world_->records()[1].status, 404);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AStreamThatBreaksEndsWithItsErrorAndNoDone) {
  world_->provider(0).misbehave("fault=reset_mid_body; at=5");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  run(10s);
  ASSERT_GT(socket.messages().size(), 1U);
  EXPECT_NE(socket.messages().back().find("\"error\""), std::string::npos);
  world_->provider(0).behave();
  socket.say(chat("spare").body);
  run(5s);
  EXPECT_NE(socket.messages().back().find("\"choices\""), std::string::npos) << "it goes on";
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AWholeAnswerThatBreaksHalfWayEndsTheConnection) {
  make(with("", "{held_answer_max: 1KiB}"));
  world_->provider(0).misbehave("words=9000; rate=9000; fault=reset_mid_body; at=3000");
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(30s);
  if (socket.messages().empty()) {
    expect_closed(socket, "1011 the answer could not be ended");
  } else {
    ADD_FAILURE() << socket.messages()[0].substr(0, 300);
  }
  world_->expect_rest();
}

TEST_F(Websocket, HeartbeatsArePings) {
  make(with("{heartbeat: 1s}"));
  world_->provider(0).misbehave("ttft=5500");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  run(5s);
  EXPECT_GE(socket.pings(), 4U);
  EXPECT_TRUE(socket.messages().empty());
  run(5s);
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  hang_up(socket);
  world_->expect_rest();
}

// --- several requests ---

TEST_F(Websocket, AnswersComeInTheOrderOfTheMessages) {
  world_->provider(0).misbehave("ttft=1000; words=5");
  WebsocketClient& socket = open();
  socket.say(chat("alone", "first").body);
  socket.say(chat("nothing").body);
  socket.say(chat("alone", "third").streamed().body);
  run(500ms);
  EXPECT_TRUE(socket.messages().empty()) << "the quick error waits for its turn";
  EXPECT_EQ(world_->provider(0).seen().total(), 1U) << "one at a time";
  run(9s);
  ASSERT_GT(socket.messages().size(), 3U);
  EXPECT_NE(socket.messages()[0].find("\"choices\""), std::string::npos);
  EXPECT_EQ(error_code_in(socket.messages()[1]), "model_not_found");
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, BeyondAFewThatWaitMessagesAreRefusedInTheirTurn) {
  world_->provider(0).misbehave("ttft=1000; words=5");
  WebsocketClient& socket = open();
  for (int i = 0; i < 7; ++i) socket.say(chat("alone").body);
  run(10ms);
  EXPECT_TRUE(socket.messages().empty());
  run(20s);
  ASSERT_EQ(socket.messages().size(), 7U);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NE(socket.messages()[i].find("\"choices\""), std::string::npos) << i;
  for (std::size_t i = 5; i < 7; ++i)
    EXPECT_NE(socket.messages()[i].find("\"error\""), std::string::npos) << i;
  EXPECT_EQ(world_->records().size(), 7U);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, WhoGoesOnAllTheSameIsClosedUpon) {
  world_->provider(0).misbehave("ttft=1000");
  WebsocketClient& socket = open();
  for (int i = 0; i < 40; ++i) socket.say(chat("alone").body);
  expect_closed(socket, "1008 too many messages at once; wait for answers");
  world_->expect_rest();
}

TEST_F(Websocket, MessagesMayComeWithTheHeadAndInFragments) {
  const std::string body = chat("alone").body;
  WebsocketClient& socket = open(kKeyLine, WebsocketClient::frame(WebsocketOpcode::Text, body));
  socket.say_frame(WebsocketOpcode::Text, body.substr(0, 10), Fin::No);
  run(100ms);
  socket.say_frame(WebsocketOpcode::Ping, "between");
  socket.say_frame(WebsocketOpcode::Continuation, body.substr(10));
  run(5s);
  EXPECT_EQ(socket.messages().size(), 2U);
  EXPECT_EQ(socket.pongs(), std::vector<std::string>{"between"});
  hang_up(socket);
  world_->expect_rest();
}

// --- control frames and the end ---

TEST_F(Websocket, PingsAreAnsweredWhileAnAnswerRuns) {
  world_->provider(0).misbehave("ttft=5000");
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(1s);
  socket.say_frame(WebsocketOpcode::Ping, "are you there?");
  run(10ms);
  EXPECT_EQ(socket.pongs(), std::vector<std::string>{"are you there?"});
  run(9s);
  EXPECT_EQ(socket.messages().size(), 1U);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, WhoIsSilentIsAskedAndThenClosedUpon) {
  WebsocketClient& socket = open();
  run(29s);
  EXPECT_EQ(socket.pings(), 0U);
  run(2s);
  EXPECT_EQ(socket.pings(), 1U);
  EXPECT_EQ(socket.close(), "");
  run(30s);
  expect_closed(socket, "1008 pings are not answered");
  world_->expect_rest();
}

TEST_F(Websocket, WhoAnswersPingsMayStay) {
  WebsocketClient& socket = open();
  socket.answer_pings();
  for (int i = 0; i < 10; ++i) run(60s);
  EXPECT_GE(socket.pings(), 15U);
  EXPECT_EQ(socket.close(), "");
  socket.say(chat("alone").body);
  run(5s);
  EXPECT_EQ(socket.messages().size(), 1U);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AnAnswerLongerThanThePatienceIsNoSilence) {
  make(with("{client_idle: 4s, heartbeat: 1h}"));
  world_->provider(0).misbehave("ttft=12000");
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(14s);
  EXPECT_EQ(socket.messages().size(), 1U);
  EXPECT_EQ(socket.close(), "");
  run(8s);
  expect_closed(socket, "1008 pings are not answered");
  world_->expect_rest();
}

TEST_F(Websocket, ACloseIsEchoedAndEndsTheRunningRequest) {
  world_->provider(0).misbehave("gap=1000; words=50");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  socket.say(chat("alone").body);
  run(5s);
  socket.say_close(WebsocketClose::GoingAway, "enough");
  expect_closed(socket, "1001 ");
  run(100ms);
  ASSERT_EQ(world_->records().size(), 2U) << "what waited for its turn is recorded, too";
  EXPECT_EQ(story_of(world_->records()[0].attempts), "cancelled");
  EXPECT_TRUE(world_->records()[1].attempts.empty());
  EXPECT_EQ(world_->records()[1].status, 0);
  EXPECT_EQ(world_->records()[1].key, "tests");
  EXPECT_EQ(world_->records()[1].path, "/v1/chat/completions (websocket)");
  EXPECT_EQ(world_->records()[1].bytes_from_client, chat("alone").body.size());
  EXPECT_EQ(world_->records()[1].bytes_to_client, 0U);
  for (const KeptRecord& record : world_->records()) EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
  world_->expect_rest();
}

TEST_F(Websocket, WhoSaysCloseBeforeItHasTakenItsAnswerHearsTheEcho) {
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(chat("alone").streamed().body);
  run(1s);
  socket.say_close(WebsocketClose::Normal);
  run(1s);
  ASSERT_EQ(world_->records().size(), 1U);
  EXPECT_EQ(world_->records()[0].error->kind, ErrorKind::ClientGone);
  socket.client().read_again();
  run(1s);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Websocket, AMessageThatIsCutOffIsRecorded) {
  WebsocketClient& socket = open();
  const std::string body = chat("alone").body;
  socket.say_frame(WebsocketOpcode::Text, body.substr(0, 10), Fin::No);
  run(1s);
  socket.client().leave(Client::Leave::Reset);
  run(100ms);
  ASSERT_EQ(world_->records().size(), 1U);
  EXPECT_EQ(world_->records()[0].error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(world_->records()[0].bytes_from_client, 10U);
  world_->expect_rest();
}

TEST_F(Websocket, WhoVanishesIsNoticed) {
  world_->provider(0).misbehave("gap=1000; words=50");
  for (const auto how : {Client::Leave::Reset, Client::Leave::Fin}) {
    WebsocketClient& socket = open();
    socket.say(chat("alone").streamed().body);
    run(3s);
    socket.client().leave(how);
    run(100ms);
    ASSERT_FALSE(world_->records().empty());
    ASSERT_TRUE(world_->records().back().error);
    EXPECT_EQ(world_->records().back().error->kind, ErrorKind::ClientGone);
  }
  EXPECT_EQ(world_->records().size(), 2U);
  world_->expect_rest();
}

TEST_F(Websocket, WhoBreaksTheRulesIsToldWhich) {
  struct Case {
    std::string bytes;
    const char* close;
  };
  const std::vector<Case> cases = {
      {"\x81\x02{}", "1002 a client's frame is not masked"},
      {WebsocketClient::frame(WebsocketOpcode::Continuation, "x"), "1002 a continuation of no message"},
      {WebsocketClient::frame(WebsocketOpcode::Binary, "x"),
       "1003 binary messages are not understood; send text"},
      {WebsocketClient::frame(WebsocketOpcode::Text, "\xff"), "1007 the message is not UTF-8"},
      {WebsocketClient::frame(WebsocketOpcode::Text, std::string(1'025, ' ')),
       "1009 the message is larger than it may be"},
  };
  make(with("", "{body_max: 1KiB}"));
  for (const Case& broken : cases) {
    WebsocketClient& socket = open();
    socket.client().say(broken.bytes);
    expect_closed(socket, broken.close);
  }
  WebsocketClient& largest = open();
  largest.say(std::string(1'024, ' '));
  run(1s);
  EXPECT_EQ(largest.messages().size(), 1U) << "an error, as it is no JSON";
  hang_up(largest);
  world_->expect_rest();
}

TEST_F(Websocket, ABrokenRuleEndsTheRunningRequest) {
  world_->provider(0).misbehave("gap=1000; words=50");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  run(3s);
  socket.client().say("\xff\xff");
  expect_closed(socket, "1002 a reserved bit is set");
  run(100ms);
  EXPECT_EQ(world_->records().size(), 1U);
  world_->expect_rest();
}

TEST_F(Websocket, AMessageThatDripsIsNotWaitedFor) {
  WebsocketClient& socket = open();
  socket.client().say(WebsocketClient::frame(WebsocketOpcode::Text, std::string(5'000, ' ')).substr(0, 20));
  run(9s);
  EXPECT_EQ(socket.close(), "");
  run(2s);
  expect_closed(socket, "1008 the message came too slowly");
  world_->expect_rest();
}

TEST_F(Websocket, AFrameThatDripsIsNoSignOfLife) {
  WebsocketClient& socket = open();
  const std::string ping = WebsocketClient::frame(WebsocketOpcode::Ping, std::string(100, 'p'));
  for (std::size_t i = 0; i < 13 && socket.client().running(); ++i) {
    socket.client().say(ping.substr(i, 1));
    run(5s);
  }
  expect_closed(socket, "1008 pings are not answered");
  world_->expect_rest();
}

// --- limits ---

TEST_F(Websocket, AClientThatTakesNothingIsCut) {
  make(with("{client_write_stall: 5s}"));
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(chat("alone").streamed().body);
  run(100ms);
  for (int i = 0; i < 1'000; ++i) socket.say_frame(WebsocketOpcode::Ping, fmt::format("ping {}", i));
  run(20s);
  ASSERT_EQ(world_->records().size(), 1U);
  EXPECT_EQ(world_->records()[0].error->kind, ErrorKind::ClientStalled);
  socket.client().leave(Client::Leave::Reset);
  world_->expect_rest();
}

TEST_F(Websocket, AClientThatReadsNothingHoldsItsProviderBack) {
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(chat("alone").streamed().body);
  run(5s);
  const std::int64_t read = world_->counters().bytes_from_upstreams.get();
  EXPECT_GT(read, 2'000);
  run(15s);
  EXPECT_EQ(world_->counters().bytes_from_upstreams.get(), read);
  socket.client().read_again();
  run(20s);
  EXPECT_GT(world_->counters().bytes_from_upstreams.get(), 4 * read);
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  EXPECT_EQ(text_of(socket.messages()), text_of(over_http("words=20000", chat("alone").streamed())));
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, EachMessageHasADeadlineFromItsTurnOn) {
  make(with("{total: 5s}"));
  world_->provider(0).misbehave("ttft=4000; words=5");
  WebsocketClient& socket = open();
  for (int i = 0; i < 3; ++i) socket.say(chat("alone").body);
  run(14s);
  ASSERT_EQ(socket.messages().size(), 3U);
  for (const std::string& message : socket.messages())
    EXPECT_NE(message.find("\"choices\""), std::string::npos) << message;
  for (const KeptRecord& record : world_->records()) EXPECT_LT(record.ended - record.started, 5s);
  world_->provider(0).misbehave("ttft=6000");
  socket.say(chat("alone").body);
  run(5'100ms);
  ASSERT_EQ(socket.messages().size(), 4U);
  EXPECT_EQ(error_code_in(socket.messages()[3]), "request_deadline");
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, WhoHasNotTakenItsStreamWhenItsTimeIsUpIsCut) {
  make(with("{total: 5s, heartbeat: 1h}"));
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(chat("alone").streamed().body);
  socket.say(chat("nothing").body);
  run(9s);
  ASSERT_FALSE(world_->records().empty());
  EXPECT_EQ(world_->records()[0].error->kind, ErrorKind::TotalTimeout);
  socket.client().read_again();
  run(1s);
  expect_closed(socket, "");
  EXPECT_EQ(socket.messages().back().find("model_not_found"), std::string::npos);
  EXPECT_EQ(world_->records().size(), 2U);
  world_->expect_rest();
}

TEST_F(Websocket, OfPingsThatPileUpTheLastIsAnswered) {
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=3000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(chat("alone").streamed().body);
  run(1s);
  for (int i = 0; i < 1'000; ++i) socket.say_frame(WebsocketOpcode::Ping, fmt::format("ping {}", i));
  run(1s);
  socket.client().read_again();
  run(20s);
  ASSERT_FALSE(socket.pongs().empty());
  EXPECT_LT(socket.pongs().size(), 100U);
  EXPECT_EQ(socket.pongs().back(), "ping 999");
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, AClientThatTakesItsAnswerSlowlyGetsAllOfIt) {
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=2000");
  WebsocketClient& socket = open();
  socket.client().read_slowly(1'000, 5ms);
  socket.say(chat("alone").streamed().body);
  run(60s);
  EXPECT_EQ(text_of(socket.messages()), text_of(over_http("words=2000", chat("alone").streamed())));
  EXPECT_EQ(socket.messages().back(), "[DONE]");
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, ShortOfMemoryMessagesAreRefused) {
  WebsocketClient& socket = open();
  world_->process().memory_step.store(2);
  socket.say(chat("alone").body);
  run(1s);
  ASSERT_EQ(socket.messages().size(), 1U);
  EXPECT_NE(socket.messages()[0].find("short of memory"), std::string::npos);
  EXPECT_EQ(world_->records().back().status, 503);
  world_->process().memory_step.store(1);
  say_large(socket, chat("alone", std::string(1U << 20U, 'x')).body);
  socket.say(chat("alone").body);
  run(5s);
  ASSERT_EQ(socket.messages().size(), 3U);
  EXPECT_NE(socket.messages()[1].find("short of memory"), std::string::npos);
  EXPECT_NE(socket.messages()[2].find("\"choices\""), std::string::npos);
  world_->process().memory_step.store(0);
  hang_up(socket);
  world_->expect_rest();
}

TEST_F(Websocket, BodiesCountTogether) {
  make(with("", "{bodies_in_flight_max: 1MiB, body_max: 1MiB}"));
  world_->provider(0).misbehave("ttft=2000");
  WebsocketClient& first = open();
  WebsocketClient& second = open();
  say_large(first, chat("alone", std::string(900'000, 'x')).body);
  run(100ms);
  say_large(second, chat("alone", std::string(300'000, 'x')).body);
  second.say(chat("alone").body);
  run(8s);
  ASSERT_EQ(first.messages().size(), 1U);
  EXPECT_NE(first.messages()[0].find("\"choices\""), std::string::npos);
  ASSERT_EQ(second.messages().size(), 2U);
  EXPECT_NE(second.messages()[0].find("\"error\""), std::string::npos);
  EXPECT_NE(second.messages()[1].find("\"choices\""), std::string::npos);
  hang_up(first);
  hang_up(second);
  world_->expect_rest();
}

// --- who may ---

constexpr std::string_view kKeyProtocol = "openai-insecure-api-key.sk-of-the-tests";

TEST_F(Websocket, BrowsersSendTheirKeyAsASubprotocol) {
  WebsocketClient& socket =
      open(fmt::format("sec-websocket-protocol: chat-completions, {}\r\n", kKeyProtocol));
  EXPECT_NE(socket.head().find("\r\nsec-websocket-protocol: chat-completions\r\n"), std::string::npos);
  EXPECT_EQ(socket.head().find("insecure"), std::string::npos) << "the key is not repeated";
  socket.say(chat("alone").body);
  run(5s);
  EXPECT_EQ(socket.messages().size(), 1U);
  hang_up(socket);
  WebsocketClient& alone = open(fmt::format("sec-websocket-protocol: {}\r\n", kKeyProtocol));
  EXPECT_TRUE(alone.head().starts_with("HTTP/1.1 101 "));
  EXPECT_EQ(alone.head().find("sec-websocket-protocol"), std::string::npos);
  hang_up(alone);
  world_->expect_rest();
}

TEST_F(Websocket, NobodyElseMayOpenOne) {
  struct Case {
    std::string lines;
    int status;
  };
  const std::vector<Case> cases = {
      {"", 401},
      {"authorization: Bearer sk-wrong\r\n", 401},
      {"sec-websocket-protocol: openai-insecure-api-key.sk-wrong\r\n", 401},
      {fmt::format("sec-websocket-protocol: {0}, {0}\r\n", kKeyProtocol), 400},
      {fmt::format("authorization: Bearer sk-wrong\r\nsec-websocket-protocol: {}\r\n", kKeyProtocol), 401},
  };
  for (const Case& refused : cases) {
    WebsocketClient& socket = open(refused.lines);
    EXPECT_TRUE(socket.head().starts_with(fmt::format("HTTP/1.1 {} ", refused.status))) << socket.head();
    EXPECT_EQ(world_->records().back().status, refused.status);
    EXPECT_EQ(world_->records().back().path, "/v1/chat/completions");
    socket.client().leave(Client::Leave::Reset);
  }
  const std::string post = chat("alone").with_header("sec-websocket-protocol", kKeyProtocol).bytes();
  EXPECT_EQ(world_->say(replaced_all(post, std::string(kKeyLine), "")).reply.status, 401)
      << "a subprotocol is no key of a POST";
  world_->expect_rest();
}

TEST_F(Websocket, AWrongHandshakeIsRefused) {
  const std::string good = fmt::format(
      "GET /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{}upgrade: websocket\r\nconnection: upgrade\r\n"
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      kKeyLine);
  Exchange heard = world_->say(replaced_all(good, "version: 13", "version: 8"));
  EXPECT_EQ(heard.reply.status, 426);
  EXPECT_EQ(heard.reply.header("sec-websocket-version"), "13");
  EXPECT_EQ(world_->say(replaced_all(good, "connection: upgrade", "connection: keep-alive")).reply.status,
            400);
  EXPECT_EQ(world_->say(replaced_all(good, "dGhl", "")).reply.status, 400);
  EXPECT_EQ(world_->say(replaced_all(good, "upgrade: websocket\r\n", "")).reply.status, 405) << "a plain GET";
  EXPECT_EQ(world_->say(replaced_all(good, "/v1/chat/completions", "/v1/embeddings")).reply.status, 405);
  world_->expect_rest();
}

// --- drain ---

TEST_F(Websocket, ADrainClosesUponWhoIsIdle) {
  WebsocketClient& socket = open();
  world_->start_drain(10s);
  run(100ms);
  expect_closed(socket, "1001 the gateway is shutting down");
  run(100ms);
  EXPECT_TRUE(world_->drained());
}

TEST_F(Websocket, ADrainLetsTheRunningAnswerEnd) {
  make(with("{drain_announce: 1s}"));
  world_->provider(0).misbehave("ttft=3000; words=5");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  socket.say(chat("alone").body);
  run(1s);
  world_->start_drain(60s);
  run(1s);
  EXPECT_EQ(socket.close(), "");
  run(10s);
  expect_closed(socket, "1001 the gateway is shutting down");
  ASSERT_GT(socket.messages().size(), 2U);
  EXPECT_EQ(socket.messages()[socket.messages().size() - 2], "[DONE]");
  EXPECT_NE(socket.messages().back().find("shutting down"), std::string::npos) << "to the one that waited";
  EXPECT_TRUE(world_->drained());
}

TEST_F(Websocket, AtTheDrainsEndTheRunningAnswerIsCutWithItsReason) {
  world_->provider(0).misbehave("gap=1000; words=500");
  WebsocketClient& socket = open();
  socket.say(chat("alone").streamed().body);
  run(3s);
  world_->start_drain(5s);
  run(6s);
  expect_closed(socket, "1001 the gateway is shutting down");
  EXPECT_EQ(error_code_in(socket.messages().back()), "gateway_shutting_down");
  run(4s);
  EXPECT_TRUE(world_->drained());
}

TEST_F(Websocket, AtTheDrainsEndAWholeAnswerThatHasBegunIsCut) {
  make(with("", "{held_answer_max: 1KiB}"));
  world_->provider(0).misbehave("words=9000; rate=500");
  WebsocketClient& socket = open();
  socket.say(chat("alone").body);
  run(5s);
  world_->start_drain(2s);
  run(3s);
  expect_closed(socket, "1001 the gateway is shutting down");
  EXPECT_TRUE(socket.messages().empty());
  run(4s);
  EXPECT_TRUE(world_->drained());
}

TEST_F(Websocket, WhoIsIdleHoldsNoOldConfiguration) {
  make();
  WebsocketClient& quiet = open();
  WebsocketClient& asked = open();
  asked.say(chat("alone").body);
  run(5s);
  EXPECT_EQ(asked.messages().size(), 1U);
  EXPECT_TRUE(world_->reload().expired());
  world_->provider(0).misbehave("delay=2000");
  asked.say(chat("alone").body);
  run(100ms);
  EXPECT_FALSE(world_->reload().expired()) << "the running request is served under the one it began with";
  run(5s);
  EXPECT_EQ(asked.messages().size(), 2U);
  hang_up(quiet);
  hang_up(asked);
}

TEST_F(Websocket, DuringADrainNoneIsOpened) {
  make(with("{drain_announce: 5s}"));
  world_->say("GET /readyz HTTP/1.1\r\nhost: g\r\n\r\n");
  world_->start_drain(10s);
  run(10ms);
  WebsocketClient& socket = open();
  EXPECT_TRUE(socket.head().starts_with("HTTP/1.1 503 ")) << socket.head();
  run(10s);
  EXPECT_TRUE(world_->drained());
}

}  // namespace
}  // namespace qq::simulation
