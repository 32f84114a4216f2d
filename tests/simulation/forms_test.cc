// Forms: transcriptions, translations and edits of images.
#include <fmt/format.h>

#include "fakes/scripted_upstream.h"
#include "simulation/scripted_provider.h"
#include "wire/json.h"

namespace qq::simulation::forms {
namespace {

std::string field(std::string_view name, std::string_view value, std::string_view more = {}) {
  return fmt::format("--X9\r\nContent-Disposition: form-data; name=\"{}\"{}\r\n\r\n{}\r\n", name, more,
                     value);
}

// Bytes of a file with everything in it that ends a line.
const std::string kFile = field("file", std::string("RIFF\0\r\n\r\n--X\r\n{\"model\":", 24),
                                "; filename=\"a.wav\"\r\nContent-Type: audio/wav");

std::string form(std::string_view model, std::string_view more = {}) {
  return kFile + field("model", model) + std::string(more) + "--X9--\r\n";
}

std::string post(std::string_view path, std::string_view body) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nhost: gateway\r\n{}content-type: multipart/form-data; boundary=X9\r\n"
      "content-length: {}\r\n\r\n{}",
      path, kKeyLine, body.size(), body);
}
constexpr std::string_view kTranscribe = "/v1/audio/transcriptions";

TEST(Forms, GoOnWithTheModelReplaced) {
  for (const std::string_view path : {kTranscribe, std::string_view("/v1/audio/translations")}) {
    ScriptedWorld scripted;
    const std::string answer =
        R"({"text":"a bridge","usage":{"type":"tokens","input_tokens":14,"input_token_details":)"
        R"({"text_tokens":4,"audio_tokens":10},"output_tokens":5,"total_tokens":19}})";
    scripted.provider.replies = {{.body = answer}};
    const Exchange heard = scripted.world.say(post(path, form("asked", field("language", "de"))));
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_EQ(heard.reply.body, answer);
    ASSERT_EQ(scripted.provider.requests.size(), 1U);
    const std::string& sent = scripted.provider.requests[0];
    EXPECT_TRUE(sent.starts_with(fmt::format("POST {} HTTP/1.1\r\n", path))) << sent;
    EXPECT_NE(sent.find("\r\ncontent-type: multipart/form-data; boundary=X9\r\n"), std::string::npos);
    EXPECT_NE(sent.find("\r\naccept: */*\r\n"), std::string::npos);
    EXPECT_TRUE(sent.ends_with("\r\n\r\n" + form("real-model", field("language", "de")))) << sent;
    ASSERT_TRUE(heard.record);
    EXPECT_EQ(heard.record->usage.audio_input, 10);
    EXPECT_EQ(heard.record->usage.output_total(), 5);
  }
}

TEST(Forms, AreSentAgainElsewhere) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.status = 503, .body = "{}"}, {.body = R"({"text":"a bridge"})"}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked")));
  EXPECT_EQ(heard.reply.body, R"({"text":"a bridge"})");
  ASSERT_EQ(scripted.provider.requests.size(), 2U);
  EXPECT_TRUE(scripted.provider.requests[1].ends_with(form("real-model")));
}

TEST(Forms, OfEditedImagesAreAnsweredByImages) {
  ScriptedWorld scripted;
  const std::string answer =
      R"({"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":9,"output_tokens":7}})";
  scripted.provider.replies = {{.body = R"({"created":1,"data":[]})"}, {.body = answer}};
  const Exchange heard = scripted.world.say(post("/v1/images/edits", form("asked")));
  EXPECT_EQ(heard.reply.body, answer);
  EXPECT_EQ(heard.story(), "empty_reply,success");
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.input_total(), 9);
}

TEST(Forms, ThatAreNoneAreRefusedByTheNameOfTheField) {
  ScriptedWorld scripted;
  const auto refused = [&](std::string_view body, std::string_view param) {
    const Exchange heard = scripted.world.say(post(kTranscribe, body));
    EXPECT_EQ(heard.reply.status, 400) << body;
    const auto told = wire::JsonValue(heard.reply.body).at("error", "param");
    ASSERT_TRUE(told) << heard.reply.body;
    EXPECT_EQ(told->text(), param) << heard.reply.body;
  };
  refused(kFile + "--X9--\r\n", "\"model\"");
  refused(form("asked", field("model", "alone")), "\"model\"");
  refused(form("asked", field("stream", "perhaps")), "\"stream\"");
  refused(form("asked").substr(0, 100), "null");
  refused(R"({"model":"asked"})", "null");
  EXPECT_TRUE(scripted.provider.requests.empty());
}

TEST(Transcripts, MayBeText) {
  ScriptedWorld scripted;
  const std::string text = "WEBVTT\n\n00:00.000 --> 00:01.000\na bridge\n";
  scripted.provider.replies = {{.body = "", .content_type = "text/plain; charset=utf-8"},
                               {.body = text, .content_type = "text/plain; charset=utf-8"}};
  const Exchange heard =
      scripted.world.say(post(kTranscribe, form("asked", field("response_format", "vtt"))));
  EXPECT_EQ(heard.reply.body, text);
  EXPECT_NE(heard.raw.find("content-type: text/plain; charset=utf-8\r\n"), std::string::npos);
  EXPECT_EQ(heard.story(), "empty_reply,success");
}

TEST(Transcripts, OfSilenceAreAnswers) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = R"({"text":"","usage":{"type":"duration","seconds":3}})"}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked")));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.story(), "success");
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.source, model::UsageSource::None);
}

const std::string kEvents =
    "data: {\"type\":\"transcript.text.delta\",\"delta\":\"a bridge\"}\n\n"
    "data: {\"type\":\"transcript.text.done\",\"text\":\"a bridge\",\"usage\":{\"type\":\"tokens\","
    "\"input_tokens\":14,\"output_tokens\":5}}\n\n";

TEST(Transcripts, MayBeStreams) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = kEvents, .content_type = "text/event-stream"}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked", field("stream", "true"))));
  EXPECT_EQ(heard.reply.body, kEvents);
  EXPECT_EQ(heard.story(), "success");
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.input_total(), 14);
}

TEST(Transcripts, ThatBreakOffEndWithAnError) {
  ScriptedWorld scripted;
  scripted.provider.replies = {
      {.body = kEvents, .content_type = "text/event-stream", .cut = kEvents.find("\n\n") + 2}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked", field("stream", "true"))));
  EXPECT_NE(heard.reply.body.find("\"error\""), std::string::npos) << heard.reply.body;
  EXPECT_EQ(heard.story(), "stream_cut");
}

TEST(Transcripts, AreTakenWholeWhereAModelHasNoStreams) {
  for (const std::string_view type : {"application/json", "text/plain"}) {
    ScriptedWorld scripted;
    scripted.provider.replies = {{.body = R"({"text":"a bridge"})", .content_type = std::string(type)}};
    const Exchange heard = scripted.world.say(post(kTranscribe, form("asked", field("stream", "true"))));
    EXPECT_EQ(heard.reply.status, 200) << type;
    EXPECT_EQ(heard.reply.body, R"({"text":"a bridge"})") << type;
    EXPECT_NE(heard.raw.find(fmt::format("content-type: {}\r\n", type)), std::string::npos);
  }
}

// As an event, where a heartbeat has begun the stream.
TEST(Transcripts, ThatComeWholeAfterALongTimeEndTheStream) {
  struct Case {
    std::string_view type;
    std::string_view body;
    std::string_view event;
  };
  const Case cases[] = {
      {"application/json",
       R"({"text":"a \"bridge\"","usage":{"type":"tokens","input_tokens":14,"output_tokens":5}})",
       R"({"type":"transcript.text.done","text":"a \"bridge\"","usage":{"type":"tokens","input_tokens":14,"output_tokens":5}})"},
      {"text/plain", "a \"bridge\"\n", R"({"type":"transcript.text.done","text":"a \"bridge\"\n"})"}};
  for (const Case& each : cases) {
    ScriptedWorld scripted;
    scripted.provider.replies = {
        {.body = std::string(each.body), .delay = 14s, .content_type = std::string(each.type)}};
    for (int i = 0; i < 6; ++i) {
      const Exchange heard = scripted.world.say(post(kTranscribe, form("m0", field("stream", "true"))));
      EXPECT_EQ(heard.story(), "success");
      EXPECT_EQ(heard.reply.body, fmt::format(": keep-alive\n\ndata: {}\n\n", each.event));
      EXPECT_TRUE(heard.reply.complete);
    }
    EXPECT_EQ(scripted.world.snapshot().healths[0]->state(), resilience::CircuitState::Closed);
  }
}

using fakes::ScriptedUpstream;

// A whole transcript whose end, with what it cost, comes when nobody listens any more.
Task<void> transcribe_slowly(ScriptedUpstream& server, net::Stream& stream, Milliseconds head_after) {
  const bool asked = co_await ScriptedUpstream::read_to(server, stream, server.received().size() + 1);
  if (!asked) co_return;
  const std::string body =
      R"({"text":"a bridge","usage":{"type":"tokens","input_tokens":14,"output_tokens":5}})";
  co_await ScriptedUpstream::pause(server, head_after);
  co_await ScriptedUpstream::write(
      stream, fmt::format("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
                          body.size(), body.substr(0, 10)));
  co_await ScriptedUpstream::pause(server, 3s);
  co_await ScriptedUpstream::write(stream, body.substr(10));
}
Task<void> head_at_once(ScriptedUpstream& server, net::Stream& stream) {
  return transcribe_slowly(server, stream, 0s);
}
Task<void> head_later(ScriptedUpstream& server, net::Stream& stream) {
  return transcribe_slowly(server, stream, 2s);
}

TEST(Transcripts, ThatComeWholeAreReadOnForTheirUsage) {
  for (const ScriptedUpstream::Script script : {&head_at_once, &head_later}) {
    WorldSetup setup = ScriptedWorld::setup({});
    for (std::size_t at = 0; (at = setup.config.find("accounts:", at)) != std::string::npos; at += 40)
      setup.config.insert(at, "drain_for_usage: true, ");
    World world(std::move(setup));
    ScriptedUpstream server(world.loop(), net::Address::parse("127.0.0.1:9101").value(), script);
    Client& client = world.client();
    client.start(post(kTranscribe, form("m0", field("stream", "true"))));
    world.run_for(1s);
    client.leave(Client::Leave::Reset);
    world.run_for(8s);
    ASSERT_EQ(world.records().size(), 1U);
    const KeptRecord& record = world.records()[0];
    EXPECT_EQ(record.error->kind, ErrorKind::ClientGone);
    EXPECT_EQ(story_of(record.attempts), "cancelled");
    EXPECT_EQ(record.usage.input_total(), 14);
    EXPECT_EQ(record.usage.output_total(), 5);
    world.expect_rest();
  }
}

TEST(Transcripts, ThatAreNoneLeaveTheNextTargetItsStream) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = "{}"},
                               {.body = kEvents, .delay = 14s, .content_type = "text/event-stream"}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked", field("stream", "true"))));
  EXPECT_EQ(heard.reply.body, ": keep-alive\n\n" + kEvents) << "heartbeats go on";
  EXPECT_EQ(heard.story(), "empty_reply,success");
}

TEST(Transcripts, FallBackFromAWholeAnswerToAStream) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = "{}"}, {.body = kEvents, .content_type = "text/event-stream"}};
  const Exchange heard = scripted.world.say(post(kTranscribe, form("asked", field("stream", "true"))));
  EXPECT_EQ(heard.reply.body, kEvents);
  EXPECT_EQ(heard.attempts().size(), 2U);
}

}  // namespace
}  // namespace qq::simulation::forms
