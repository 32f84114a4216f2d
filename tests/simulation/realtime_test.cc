// Realtime: a WebSocket to a provider, relayed and metered.
#include <fmt/format.h>

#include "fakes/websocket_client.h"
#include "simulation/fault_case.h"
#include "wire/json.h"

namespace qq::simulation {
namespace {

using fakes::WebsocketClient;
using relay::RecordPart;
using wire::Fin;
using wire::WebsocketClose;
using wire::WebsocketOpcode;

constexpr std::string_view kAsk = R"({"type":"response.create"})";
constexpr std::string_view kSay =
    R"({"type":"conversation.item.create","item":{"type":"message","role":"user","content":[)"
    R"({"type":"input_text","text":"How deep is it?"}]}})";

std::string opening(std::string_view target, std::string_view lines = kKeyLine) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nhost: gateway\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
      "sec-websocket-version: 13\r\nsec-websocket-key: {}\r\n{}\r\n",
      target, WebsocketClient::kKey, lines);
}

class Realtime : public ::testing::Test {
 protected:
  void make(WorldSetup setup = {}) { world_ = std::make_unique<World>(std::move(setup)); }
  static WorldSetup with(std::string_view timers, std::string_view limits = {}) {
    WorldSetup setup;
    setup.timers = timers;
    setup.limits = limits;
    return setup;
  }
  WebsocketClient& open(std::string_view model = "alone", std::string_view lines = kKeyLine) {
    sockets_.push_back(std::make_unique<WebsocketClient>(world_->client()));
    sockets_.back()->open(lines, {}, fmt::format("/v1/realtime?model={}", model));
    run(50ms);
    return *sockets_.back();
  }
  void run(Milliseconds time) {
    const Milliseconds step = std::max(time / 100, Milliseconds(1));
    for (Milliseconds at{0}; at < time; at += step) {
      world_->run_for(step);
      for (auto& socket : sockets_) socket->look();
    }
  }
  void expect_closed(WebsocketClient& socket, std::string_view close) {
    run(20ms);
    EXPECT_EQ(socket.fault(), "");
    EXPECT_EQ(socket.close(), close);
    run(2s);
    EXPECT_TRUE(socket.client().closed_by_gateway());
  }
  static std::string type_of(std::string_view message) {
    const auto type = wire::JsonValue(message).member("type");
    return type ? type->string() : "none";
  }
  static std::size_t count(const WebsocketClient& socket, std::string_view type) {
    return static_cast<std::size_t>(std::ranges::count_if(
        socket.messages(), [&](const std::string& message) { return type_of(message) == type; }));
  }
  static std::string model_in(std::string_view message, std::string_view of) {
    const auto model = wire::JsonValue(message).at(of, "model");
    return model ? model->string() : "none";
  }
  std::vector<KeptRecord> records(RecordPart part) const {
    std::vector<KeptRecord> found;
    for (const KeptRecord& record : world_->records()) {
      if (record.part == part) found.push_back(record);
    }
    return found;
  }
  // Three views of what was used: the lines of the parts, the sum that the connection's line tells, the
  // metrics.
  model::Usage in_parts() const {
    model::Usage sum;
    for (const KeptRecord& record : world_->records()) {
      if (record.part != RecordPart::None) sum.add(record.usage);
    }
    return sum;
  }
  std::int64_t counted() const {
    std::int64_t sum = 0;
    for (const auto& kind : world_->observer().metrics.tokens) sum += kind.get();
    return sum;
  }
  void expect_views_equal() const {
    const model::Usage parts = in_parts();
    EXPECT_EQ(parts.input_total() + parts.output_total(), counted());
  }

  std::unique_ptr<World> world_ = std::make_unique<World>();
  std::vector<std::unique_ptr<WebsocketClient>> sockets_;
};

// --- the opening ---

TEST_F(Realtime, TheClientIsAcceptedWhenTheProviderHasAccepted) {
  world_->provider(0).misbehave("delay=500");
  WebsocketClient& socket = open();
  EXPECT_EQ(socket.head(), "") << "the provider has not said anything yet";
  run(1s);
  EXPECT_TRUE(socket.head().starts_with("HTTP/1.1 101 ")) << socket.head();
  EXPECT_NE(socket.head().find("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos);
  EXPECT_NE(socket.head().find("x-queqiao-attempts: m0 success"), std::string::npos) << socket.head();
  EXPECT_EQ(socket.head().find("sec-websocket-protocol"), std::string::npos);
  EXPECT_EQ(socket.head().find("content-type"), std::string::npos);
  ASSERT_EQ(socket.messages().size(), 1U);
  EXPECT_EQ(type_of(socket.messages()[0]), "session.created");
  EXPECT_EQ(model_in(socket.messages()[0], "session"), "alone") << "the gateway's name";
  const simulator::SeenRequest& seen = world_->provider(0).seen().requests().back();
  EXPECT_EQ(seen.target, "/v1/realtime?model=sim-gpt");
  EXPECT_NE(seen.head.find("authorization: Bearer "), std::string::npos);
  EXPECT_EQ(seen.head.find("sk-of-the-tests"), std::string::npos);
  EXPECT_EQ(seen.head.find("openai-beta"), std::string::npos);
  socket.say_close(WebsocketClose::Normal, "enough");
  expect_closed(socket, "1000 ");
  ASSERT_EQ(world_->records().size(), 1U);
  const KeptRecord& record = world_->records()[0];
  EXPECT_EQ(record.status, 101);
  EXPECT_EQ(record.path, "/v1/realtime");
  EXPECT_EQ(record.route, "alone");
  EXPECT_EQ(record.key, "tests");
  EXPECT_FALSE(record.error);
  EXPECT_LT(record.overhead, 100ms);
  EXPECT_EQ(world_->provider(0).seen().completed(), 1U) << "the Close was mirrored";
  world_->expect_rest();
}

TEST_F(Realtime, ABrowserSendsItsKeyAsASubprotocol) {
  WebsocketClient& socket =
      open("alone",
           "sec-websocket-protocol: realtime, openai-insecure-api-key.sk-of-the-tests\r\nopenai-beta: "
           "realtime=v1\r\n");
  EXPECT_NE(socket.head().find("sec-websocket-protocol: realtime\r\n"), std::string::npos) << socket.head();
  EXPECT_NE(world_->provider(0).seen().requests().back().head.find("openai-beta: realtime=v1"),
            std::string::npos);
  EXPECT_EQ(world_->provider(0).seen().requests().back().head.find("openai-insecure"), std::string::npos);
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, WhatCannotBeOpenedIsAnsweredByHttp) {
  struct Case {
    std::string bytes;
    int status;
    std::string_view code;
  };
  const std::vector<Case> cases = {
      {opening("/v1/realtime?model=nothing"), 404, "model_not_found"},
      {opening("/v1/realtime"), 400, "null"},
      {opening("/v1/realtime?model=alone&model=alone"), 400, "null"},
      {opening("/v1/realtime?model=alone&colour=red"), 400, "null"},
      {opening("/v1/realtime?call_id=rtc_1"), 400, "null"},
      {opening("/v1/realtime?model=alone", ""), 401, "invalid_api_key"},
      {opening("/v1/realtime?model=alone", "authorization: Bearer sk-wrong\r\n"), 401, "invalid_api_key"},
      {fmt::format("GET /v1/realtime?model=alone HTTP/1.1\r\nhost: g\r\n{}\r\n", kKeyLine), 426, "null"},
      {fmt::format("POST /v1/realtime?model=alone HTTP/1.1\r\nhost: g\r\n{}content-length: 0\r\n\r\n",
                   kKeyLine),
       405, "method_not_supported"},
  };
  for (const Case& wrong : cases) {
    const Exchange heard = world_->say(wrong.bytes);
    EXPECT_EQ(heard.reply.status, wrong.status) << wrong.bytes;
    EXPECT_EQ(error_code_in(heard.reply.body), wrong.code) << heard.reply.body;
  }
  EXPECT_EQ(world_->provider(0).seen().total(), 0U);
  EXPECT_EQ(world_->records().size(), cases.size());
  world_->expect_rest();
}

TEST_F(Realtime, ARefusedOpeningIsAFailedAttempt) {
  struct Case {
    std::string_view directives;
    int status;
    std::string_view story;
  };
  const std::vector<Case> cases = {
      {"fault=401", 503, "credential_dead"},
      {"fault=429; retry_after=100", 429, "rate_limited"},
      {"fault=404", 404, "model_missing"},
      {"fault=close_before_head", 502, "early_close,early_close"},
      {"fault=reset_before_head", 502, "reset,reset"},
      {"fault=stall_before_head", 504, "first_byte_timeout"},
      {"fault=html", 502, "bad_content_type"},
      {"fault=empty_body", 502, "bad_content_type"},
  };
  for (const Case& refused : cases) {
    make();
    world_->provider(0).misbehave(refused.directives);
    const Exchange heard = world_->say(opening("/v1/realtime?model=alone"));
    EXPECT_EQ(heard.reply.status, refused.status) << refused.directives << heard.reply.body;
    EXPECT_TRUE(heard.story().starts_with(refused.story)) << refused.directives << ": " << heard.story();
    EXPECT_TRUE(heard.reply.header("x-queqiao-attempts")) << refused.directives;
    EXPECT_EQ(heard.reply.body.find("sk-"), std::string::npos);
    world_->expect_rest();
  }
}

TEST_F(Realtime, AnotherTargetIsAskedWhenTheFirstRefuses) {
  for (const std::string_view directives :
       {"fault=401", "fault=429; retry_after=100", "fault=500", "fault=stall_before_head", "fault=html"}) {
    make();
    sockets_.clear();
    world_->provider(0).misbehave(directives);
    WebsocketClient& socket = open("backed");
    run(20s);
    EXPECT_TRUE(socket.head().starts_with("HTTP/1.1 101 ")) << directives << socket.head();
    EXPECT_NE(socket.head().find("m1 success"), std::string::npos) << socket.head();
    EXPECT_NE(socket.head().find("x-fallback-reason: "), std::string::npos);
    EXPECT_EQ(model_in(socket.messages().at(0), "session"), "backed");
    socket.say_close(WebsocketClose::Normal);
    expect_closed(socket, "1000 ");
    ASSERT_EQ(records(RecordPart::None).size(), 1U);
    EXPECT_GT(records(RecordPart::None)[0].attempts.size(), 1U);
    world_->expect_rest();
  }
}

TEST_F(Realtime, WhoLeavesWhileItIsOpenedIsNotWaitedFor) {
  world_->provider(0).misbehave("fault=stall_before_head");
  WebsocketClient& socket = open();
  socket.client().leave(Client::Leave::Reset);
  run(100ms);
  ASSERT_EQ(world_->records().size(), 1U);
  EXPECT_EQ(world_->records()[0].error->kind, ErrorKind::ClientGone);
  world_->expect_rest();
}

TEST_F(Realtime, WhoLeavesWhileItIsOpenedIsNotWaitedForItsUsage) {
  WorldSetup setup;
  setup.of_providers = ", drain_for_usage: true";
  make(std::move(setup));
  world_->provider(0).misbehave("fault=stall_before_head");
  WebsocketClient& socket = open();
  socket.client().leave(Client::Leave::Reset);
  run(100ms);
  ASSERT_EQ(world_->records().size(), 1U) << "there is none";
  world_->expect_rest();
}

// --- messages ---

TEST_F(Realtime, AResponseComesAsTheProviderSaysIt) {
  WebsocketClient& socket = open();
  socket.say(kSay);
  socket.say(kAsk);
  run(2s);
  EXPECT_EQ(count(socket, "conversation.item.added"), 1U);
  EXPECT_EQ(count(socket, "response.created"), 1U);
  EXPECT_GT(count(socket, "response.output_audio.delta"), 5U);
  ASSERT_EQ(count(socket, "response.done"), 1U);
  EXPECT_EQ(model_in(socket.messages().back(), "response"), "alone");
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, MessagesInFragmentsAndBytesBehindTheHeadArrive) {
  sockets_.push_back(std::make_unique<WebsocketClient>(world_->client()));
  WebsocketClient& socket = *sockets_.back();
  socket.open(kKeyLine, WebsocketClient::frame(WebsocketOpcode::Text, kSay), "/v1/realtime?model=alone");
  run(50ms);
  socket.say_frame(WebsocketOpcode::Text, kAsk.substr(0, 7), Fin::No);
  socket.say_frame(WebsocketOpcode::Ping, "between");
  socket.say_frame(WebsocketOpcode::Continuation, kAsk.substr(7));
  run(2s);
  EXPECT_EQ(count(socket, "conversation.item.added"), 1U);
  EXPECT_EQ(count(socket, "response.done"), 1U);
  EXPECT_EQ(socket.pongs(), std::vector<std::string>{"between"}) << "the provider's answer";
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, TheModelOfASessionIsTheGatewaysName) {
  WebsocketClient& socket = open();
  socket.say(R"({"type":"session.update","session":{"type":"realtime","model":"alone"}})");
  run(200ms);
  ASSERT_EQ(socket.messages().size(), 2U);
  EXPECT_EQ(type_of(socket.messages()[1]), "session.updated");
  EXPECT_EQ(model_in(socket.messages()[1], "session"), "alone");
  for (const std::string_view other :
       {R"({"type":"session.update","event_id":"mine","session":{"model":"gpt-other"}})",
        R"({"type":"session.update","event_id":"mine","session":{"model":"alone","mod\u0065l":"sim-gpt"}})",
        R"({"event_id":"mine","session":{"model":["alone"]},"type":"session.update"})"}) {
    socket.say(other);
    run(200ms);
    const std::string& refused = socket.messages().back();
    EXPECT_EQ(type_of(refused), "error");
    EXPECT_EQ(wire::JsonValue(refused).at("error", "param")->string(), "session.model") << refused;
    EXPECT_EQ(wire::JsonValue(refused).at("error", "event_id")->string(), "mine") << refused;
  }
  socket.say("no JSON");
  run(200ms);
  EXPECT_EQ(type_of(socket.messages().back()), "error");
  socket.say(kAsk);
  run(2s);
  EXPECT_EQ(count(socket, "response.done"), 1U) << "the connection goes on";
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, AClientThatReadsNothingHoldsItsProviderBack) {
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(kAsk);
  run(5s);
  const std::int64_t read = world_->counters().bytes_from_upstreams.get();
  run(10s);
  EXPECT_EQ(world_->counters().bytes_from_upstreams.get(), read);
  EXPECT_LT(read, 500'000);
  socket.client().read_again();
  run(20s);
  EXPECT_EQ(count(socket, "response.done"), 1U);
  EXPECT_GT(world_->counters().bytes_from_upstreams.get(), 4 * read);
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, AClientThatTakesNothingIsCut) {
  make(with("{client_write_stall: 5s}"));
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=20000");
  WebsocketClient& socket = open();
  socket.client().stop_reading();
  socket.say(kAsk);
  run(20s);
  ASSERT_EQ(records(RecordPart::None).size(), 1U);
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::ClientStalled);
  ASSERT_EQ(records(RecordPart::Response).size(), 1U);
  socket.client().leave(Client::Leave::Reset);
  world_->expect_rest();
}

TEST_F(Realtime, WhoBreaksTheRulesIsToldWhich) {
  struct Case {
    std::string bytes;
    const char* close;
  };
  const std::vector<Case> cases = {
      {"\x81\x02{}", "1002 a client's frame is not masked"},
      {WebsocketClient::frame(WebsocketOpcode::Binary, "x"),
       "1003 binary messages are not understood; send text"},
      {WebsocketClient::frame(WebsocketOpcode::Text, "\xff"), "1007 the message is not UTF-8"},
      {WebsocketClient::frame(WebsocketOpcode::Text, std::string(2'000, ' ')),
       "1009 the message is larger than it may be"},
  };
  make(with("", "{realtime_message_max: 1KiB}"));
  for (const Case& broken : cases) {
    WebsocketClient& socket = open();
    socket.client().say(broken.bytes);
    expect_closed(socket, broken.close);
    EXPECT_EQ(records(RecordPart::None).back().error->kind, ErrorKind::InvalidRequest);
  }
  world_->expect_rest();
}

// --- usage ---

TEST_F(Realtime, UsageIsCountedOnceAResponseInThreeViews) {
  world_->provider(0).misbehave("fault=usage_repeated; cached=3");
  WebsocketClient& socket = open();
  socket.say(R"({"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"w"}}}}})");
  socket.say(kSay);
  // A second of sound, 24 kHz, 16 bits.
  socket.say(fmt::format(R"({{"type":"input_audio_buffer.append","audio":"{}"}})", std::string(64'000, 'A')));
  socket.say(R"({"type":"input_audio_buffer.commit"})");
  run(500ms);
  ASSERT_EQ(records(RecordPart::Transcript).size(), 1U);
  EXPECT_EQ(records(RecordPart::Transcript)[0].usage.audio_input, 10);
  EXPECT_EQ(records(RecordPart::Transcript)[0].usage.output_text, 4);
  expect_views_equal();
  for (int i = 1; i <= 3; ++i) {
    socket.say(kAsk);
    run(2s);
    EXPECT_EQ(records(RecordPart::Response).size(), static_cast<std::size_t>(i))
        << "said twice, counted once";
    expect_views_equal();
  }
  const KeptRecord response = records(RecordPart::Response)[0];
  EXPECT_EQ(response.usage.input_uncached, 5) << "the words";
  EXPECT_EQ(response.usage.cache_read, 3) << "all of it sound";
  EXPECT_EQ(response.usage.audio_input, 7);
  EXPECT_EQ(response.usage.output_text, 8);
  EXPECT_EQ(response.usage.audio_output, 32);
  EXPECT_EQ(response.finish_reason, "completed");
  EXPECT_TRUE(response.first_content);
  EXPECT_FALSE(response.error);
  ASSERT_EQ(response.attempts.size(), 1U);
  EXPECT_EQ(response.attempts[0].target->model, "m0");
  EXPECT_EQ(response.route, "alone");
  EXPECT_EQ(response.key, "tests");
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  ASSERT_EQ(records(RecordPart::None).size(), 1U);
  EXPECT_EQ(records(RecordPart::None)[0].usage, in_parts());
  EXPECT_EQ(records(RecordPart::None)[0].responses, 3U);
  EXPECT_EQ(records(RecordPart::None)[0].request_id, response.request_id);
  expect_views_equal();
  world_->expect_rest();
}

TEST_F(Realtime, AStatusThatQuotesTheCredentialIsNotLogged) {
  world_->provider(0).misbehave("finish=sk-upstream");
  WebsocketClient& socket = open();
  socket.say(kAsk);
  run(2s);
  ASSERT_EQ(records(RecordPart::Response).size(), 1U);
  EXPECT_EQ(records(RecordPart::Response)[0].finish_reason, "other");
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, AResponseThatTheConnectionsEndCutsIsRecorded) {
  world_->provider(0).misbehave("gap=500; words=40");
  for (const auto how : {Client::Leave::Reset, Client::Leave::Fin}) {
    make();
    sockets_.clear();
    world_->provider(0).misbehave("gap=500; words=40");
    WebsocketClient& socket = open();
    socket.say(kAsk);
    run(3s);
    socket.client().leave(how);
    run(1s);
    EXPECT_EQ(world_->provider(0).seen().live_connections(), 0U) << "within a second";
    ASSERT_EQ(records(RecordPart::Response).size(), 1U);
    EXPECT_EQ(records(RecordPart::Response)[0].error->kind, ErrorKind::ClientGone);
    EXPECT_TRUE(records(RecordPart::Response)[0].interrupted);
    ASSERT_EQ(records(RecordPart::None).size(), 1U);
    EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::ClientGone);
    EXPECT_EQ(story_of(records(RecordPart::None)[0].attempts), "cancelled");
    world_->expect_rest();
  }
}

TEST_F(Realtime, UsageThatComesBehindTheClientsCloseIsCounted) {
  world_->provider(0).misbehave("gap=10; words=20");
  WebsocketClient& socket = open();
  socket.say(kAsk);
  run(100ms);
  ASSERT_EQ(count(socket, "response.done"), 0U);
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  ASSERT_EQ(records(RecordPart::Response).size(), 1U);
  EXPECT_FALSE(records(RecordPart::Response)[0].error);
  EXPECT_EQ(records(RecordPart::Response)[0].usage.output_text, 20);
  EXPECT_EQ(records(RecordPart::None)[0].usage, in_parts());
  expect_views_equal();
  world_->expect_rest();
}

// --- ends ---

TEST_F(Realtime, AProviderThatIsLostIsTold) {
  struct Case {
    std::string_view directives;
    ErrorKind kind;
    std::string_view code;
    std::string_view close;
  };
  const std::vector<Case> cases = {
      {"fault=close_mid_body", ErrorKind::StreamCut, "upstream_stream_cut", "1011 the provider was lost"},
      {"fault=reset_mid_body", ErrorKind::Reset, "upstream_reset", "1011 the provider was lost"},
      {"fault=stall_mid_body", ErrorKind::EventGapTimeout, "upstream_event_gap_timeout",
       "1011 the provider was lost"},
      {"fault=stall_after_head", ErrorKind::FirstContentTimeout, "upstream_first_content_timeout",
       "1011 the provider was lost"},
      {"fault=big_event; size=3000", ErrorKind::EventTooBig, "upstream_event_too_big",
       "1011 the provider was lost"},
      {"fault=no_done", ErrorKind::ServerError, "", "1011 the engine failed"},
  };
  for (const Case& lost : cases) {
    make(with("{event_gap: 5s, first_content: 8s}", "{realtime_message_max: 2KiB}"));
    sockets_.clear();
    world_->provider(0).misbehave(lost.directives);
    WebsocketClient& socket = open();
    socket.say(kAsk);
    run(10s);
    EXPECT_EQ(socket.fault(), "");
    EXPECT_EQ(socket.close(), lost.close) << lost.directives;
    if (!lost.code.empty()) {
      ASSERT_FALSE(socket.messages().empty());
      const std::string& last = socket.messages().back();
      EXPECT_EQ(type_of(last), "error") << last;
      EXPECT_EQ(error_code_in(last), lost.code) << last;
      EXPECT_EQ(wire::JsonValue(last).at("error", "type")->string(), "server_error");
      EXPECT_TRUE(wire::JsonValue(last).member("event_id"));
    }
    ASSERT_EQ(records(RecordPart::None).size(), 1U) << lost.directives;
    EXPECT_EQ(records(RecordPart::None)[0].error->kind, lost.kind) << lost.directives;
    EXPECT_TRUE(records(RecordPart::None)[0].interrupted);
    EXPECT_EQ(records(RecordPart::None)[0].status, 101);
    ASSERT_EQ(records(RecordPart::Response).size(), 1U) << lost.directives;
    EXPECT_TRUE(records(RecordPart::Response)[0].error);
    EXPECT_EQ(records(RecordPart::None)[0].attempts[0].outcome, model::Outcome::Failure);
    world_->expect_rest();
  }
}

TEST_F(Realtime, AConnectionWithoutMessagesEnds) {
  make(with("{realtime_idle: 30s, client_idle: 10s}"));
  WebsocketClient& socket = open();
  socket.answer_pings();
  run(20s);
  EXPECT_EQ(socket.close(), "");
  EXPECT_GE(socket.pings(), 2U);
  run(12s);
  expect_closed(socket, "1001 nothing was said for too long");
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::RequestTimeout);
  world_->expect_rest();
}

TEST_F(Realtime, AClientThatAnswersNoPingsIsLost) {
  make(with("{client_idle: 10s}"));
  WebsocketClient& socket = open();
  run(12s);
  expect_closed(socket, "1008 pings are not answered");
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(world_->provider(0).seen().live_connections(), 0U);
  world_->expect_rest();
}

TEST_F(Realtime, AClientThatOnlyListensIsNotLostForAPingThatWasNotSent) {
  make(with("{client_idle: 10s}"));
  world_->narrow(2'000);
  world_->provider(0).misbehave("words=2000");
  WebsocketClient& socket = open();
  socket.answer_pings();
  socket.client().read_slowly(2'000, 50ms);
  socket.say(kAsk);
  run(25s);
  EXPECT_EQ(count(socket, "response.done"), 0U) << "something is pending all the time";
  EXPECT_EQ(socket.close(), "");
  run(60s);
  EXPECT_EQ(count(socket, "response.done"), 1U);
  socket.client().read_slowly(0, 0ms);
  run(1s);
  socket.say_close(WebsocketClose::Normal);
  expect_closed(socket, "1000 ");
  world_->expect_rest();
}

TEST_F(Realtime, AMessageThatDripsIsNotWaitedFor) {
  WebsocketClient& socket = open();
  socket.client().say(WebsocketClient::frame(WebsocketOpcode::Text, std::string(5'000, ' ')).substr(0, 20));
  run(12s);
  expect_closed(socket, "1008 the message came too slowly");
  world_->expect_rest();
}

TEST_F(Realtime, ADrainEndsWhatIsIdleAtOnceAndResponsesFirst) {
  world_->provider(0).misbehave("gap=200; words=10");
  WebsocketClient& idle = open();
  WebsocketClient& busy = open();
  busy.say(kAsk);
  run(300ms);
  world_->start_drain(60s);
  run(200ms);
  EXPECT_EQ(idle.close(), "1001 the gateway is shutting down");
  EXPECT_EQ(busy.close(), "");
  run(5s);
  EXPECT_EQ(count(busy, "response.done"), 1U);
  EXPECT_EQ(busy.close(), "1001 the gateway is shutting down");
  for (const KeptRecord& record : records(RecordPart::None)) EXPECT_FALSE(record.error);
  run(6s);
  EXPECT_TRUE(world_->drained());
}

TEST_F(Realtime, WhatStillRunsWhenTheDrainTimeIsUpIsCut) {
  world_->provider(0).misbehave("gap=1000; words=100");
  WebsocketClient& busy = open();
  busy.say(kAsk);
  run(300ms);
  world_->start_drain(3s);
  run(6s);
  EXPECT_EQ(busy.close(), "1001 the gateway is shutting down");
  ASSERT_EQ(records(RecordPart::Response).size(), 1U);
  EXPECT_EQ(records(RecordPart::Response)[0].error->kind, ErrorKind::ShuttingDown);
  ASSERT_EQ(records(RecordPart::None).size(), 1U);
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::ShuttingDown);
  run(6s);
  EXPECT_TRUE(world_->drained());
}

// --- a provider that takes nothing ---

class BehindProvider : public Realtime {
 protected:
  // A provider that accepts and reads no more; the client says more than is on its way.
  WebsocketClient& flooded() {
    net::SimulatedNetwork network;
    network.up.window = 2'000;
    world_->loop().set_network(world_->provider(0).address(), network);
    world_->provider(0).misbehave("fault=stall_after_head");
    WebsocketClient& socket = open();
    const std::string large =
        fmt::format(R"({{"type":"input_audio_buffer.append","audio":"{}"}})", std::string(20'000, 'A'));
    for (int i = 0; i < 11; ++i) socket.say(large);
    run(2s);
    return socket;
  }
};

TEST_F(BehindProvider, HoldsItsClientBackAndIsGivenUp) {
  make(with("{send_progress: 5s}"));
  WebsocketClient& socket = flooded();
  const std::int64_t read = world_->counters().bytes_from_clients.get();
  EXPECT_LT(read, 150'000) << "of 220,000";
  run(1s);
  EXPECT_EQ(world_->counters().bytes_from_clients.get(), read);
  run(5s);
  EXPECT_EQ(socket.close(), "1011 the provider was lost");
  ASSERT_FALSE(socket.messages().empty());
  EXPECT_EQ(error_code_in(socket.messages().back()), "upstream_send_timeout");
  ASSERT_EQ(records(RecordPart::None).size(), 1U);
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::SendTimeout);
  socket.client().leave(Client::Leave::Reset);
  world_->expect_rest();
}

TEST_F(BehindProvider, IsLeftWhenItsClientLeaves) {
  WebsocketClient& socket = flooded();
  socket.client().leave(Client::Leave::Reset);
  run(1s);
  EXPECT_EQ(world_->counters().upstream_connections_open.get(), 0) << "within a second";
  ASSERT_EQ(records(RecordPart::None).size(), 1U);
  EXPECT_EQ(records(RecordPart::None)[0].error->kind, ErrorKind::ClientGone);
  world_->expect_rest();
}

// --- every I/O call fails once ---

class RealtimeFailAtN : public Realtime {
 protected:
  // A conversation of one response; how many I/O calls it takes.
  std::uint64_t converse(std::uint64_t fail_at) {
    make();
    sockets_.clear();
    world_->provider(0).misbehave("words=3");
    world_->provider(1).misbehave("words=3");
    const std::uint64_t before = world_->loop().io_calls();
    if (fail_at > 0) world_->loop().fail_io_call(fail_at);
    WebsocketClient& socket = open("backed");
    if (socket.client().connected() && socket.client().running()) {
      socket.say(kAsk);
      run(500ms);
      if (socket.client().running()) socket.say_close(WebsocketClose::Normal);
      run(2s);
    }
    return world_->loop().io_calls() - before;
  }
};

TEST_F(RealtimeFailAtN, NobodyWaitsForEverAndNothingIsCountedTwice) {
  const std::uint64_t calls = converse(0);
  ASSERT_EQ(records(RecordPart::Response).size(), 1U);
  const model::Usage usual = in_parts();
  world_->expect_rest();
  ASSERT_GT(calls, 8U);
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(fmt::format("I/O call {} of {}", n, calls));
    converse(n);
    WebsocketClient& socket = *sockets_.back();
    EXPECT_LE(records(RecordPart::None).size(), 1U);
    // A client that cannot say a word any more does not find out by itself; the gateway has.
    if (socket.client().running()) {
      EXPECT_EQ(records(RecordPart::None).size(), 1U) << "the client waits for ever";
      EXPECT_EQ(world_->counters().requests_in_flight.get(), 0);
      socket.client().leave(Client::Leave::Reset);
    }
    const bool complete = count(socket, "response.done") == 1;
    if (complete) EXPECT_EQ(in_parts(), usual);
    expect_views_equal();
    for (const KeptRecord& record : records(RecordPart::None)) {
      if (record.status == 101) EXPECT_EQ(record.usage, in_parts());
    }
    world_->expect_rest();
  }
}

}  // namespace
}  // namespace qq::simulation
