#include "dialects/openai/realtime.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace qq::dialects::openai {
namespace {

using Kind = RealtimeEvent::Kind;

RealtimeEvent read(std::string_view message) {
  return read_realtime_event(message, {}, {});
}

TEST(RealtimeEvents, KindsAreTold) {
  const std::vector<std::pair<std::string_view, Kind>> cases = {
      {"session.created", Kind::Other},
      {"response.created", Kind::ResponseCreated},
      {"response.done", Kind::ResponseDone},
      {"response.output_audio.delta", Kind::Delta},
      {"response.text.delta", Kind::Delta},
      {"response.output_item.done", Kind::Other},
      {"conversation.item.input_audio_transcription.delta", Kind::Other},
      {"conversation.item.input_audio_transcription.completed", Kind::Transcribed},
      {"error", Kind::Error},
      {"response.done.later", Kind::Other},
  };
  for (const auto& [type, kind] : cases) {
    const std::string message = fmt::format(R"({{"event_id":"e","type":"{}"}})", type);
    EXPECT_EQ(read(message).kind, kind) << type;
  }
  for (const std::string_view odd : {"", "{", "[]", "\"response.done\"", R"({"type":7})", "{}"})
    EXPECT_EQ(read(odd).kind, Kind::Other) << odd;
}

TEST(RealtimeEvents, UsageIsInBucketsThatDoNotOverlap) {
  const RealtimeEvent event = read(
      R"({"type":"response.done","response":{"id":"resp_1","status":"completed","usage":{"total_tokens":800,)"
      R"("input_tokens":600,"output_tokens":200,"input_token_details":{"cached_tokens":384,"text_tokens":200,)"
      R"("audio_tokens":400,"image_tokens":0,"cached_tokens_details":{"text_tokens":128,"audio_tokens":256}},)"
      R"("output_token_details":{"text_tokens":50,"audio_tokens":150}}}})");
  EXPECT_EQ(event.id, "resp_1");
  EXPECT_EQ(event.status, "completed");
  EXPECT_EQ(event.usage.cache_read, 384);
  EXPECT_EQ(event.usage.audio_input, 144) << "what was not cached";
  EXPECT_EQ(event.usage.input_uncached, 72);
  EXPECT_EQ(event.usage.output_text, 50);
  EXPECT_EQ(event.usage.audio_output, 150);
  EXPECT_EQ(event.usage.input_total(), 600);
  EXPECT_EQ(event.usage.output_total(), 200);
}

TEST(RealtimeEvents, DetailsThatAreLargerThanTheirWholeCannotMakeTokens) {
  const RealtimeEvent event = read(
      R"({"type":"response.done","response":{"usage":{"input_tokens":10,"output_tokens":5,)"
      R"("input_token_details":{"cached_tokens":4,"audio_tokens":3,"cached_tokens_details":{"audio_tokens":9}},)"
      R"("output_token_details":{"audio_tokens":50}}}})");
  EXPECT_EQ(event.usage.input_total(), 10);
  EXPECT_EQ(event.usage.output_total(), 5);
  EXPECT_FALSE(event.usage.audio_input.has_value());
}

TEST(RealtimeEvents, TranscriptsAreCountedByTokensAndNotBySeconds) {
  constexpr std::string_view kForm =
      R"({{"type":"conversation.item.input_audio_transcription.completed","item_id":"item_1","usage":{}}})";
  const std::string by_tokens =
      fmt::format(kForm, R"({"type":"tokens","total_tokens":22,"input_tokens":13,"output_tokens":9,)"
                         R"("input_token_details":{"text_tokens":0,"audio_tokens":13}})");
  EXPECT_EQ(read(by_tokens).id, "item_1");
  EXPECT_EQ(read(by_tokens).usage.audio_input, 13);
  EXPECT_EQ(read(by_tokens).usage.output_text, 9);
  const std::string by_seconds = fmt::format(kForm, R"({"type":"duration","seconds":3})");
  EXPECT_EQ(read(by_seconds).usage.source, model::UsageSource::None);
  const std::string none = fmt::format(kForm, "null");
  EXPECT_EQ(read(none).usage.source, model::UsageSource::None);
}

TEST(RealtimeEvents, TheModelIsShownUnderAnotherName) {
  const std::string_view session =
      R"({"type":"session.created","session":{"model":"gpt-realtime","audio":{"input":{"transcription":{"model":"w"}}}}})";
  EXPECT_EQ(
      with_model(session, read(session), "vo\"ice"),
      R"({"type":"session.created","session":{"model":"vo\"ice","audio":{"input":{"transcription":{"model":"w"}}}}})");
  EXPECT_TRUE(read(R"({"type":"session.created","session":{"model":null}})").model.text().empty());
  EXPECT_TRUE(read(R"({"type":"session.created","model":"x"})").model.text().empty());
}

TEST(RealtimeRequests, PassAsTheyAre) {
  const auto request =
      read_realtime_request(R"({"type":"response.create","event_id":"e1"})", {}, "voice", "gpt-realtime");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->asks_response);
  EXPECT_FALSE(request->changed);
  EXPECT_EQ(request->event_id, "e1");
}

TEST(RealtimeRequests, TheNameHereBecomesTheProviders) {
  const auto request =
      read_realtime_request(R"({"session":{"model":"voice","voice":"alloy"},"type":"session.update"})", {},
                            "voice", "gpt-realtime");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->changed);
  EXPECT_EQ(request->text, R"({"session":{"model":"gpt-realtime","voice":"alloy"},"type":"session.update"})");
  const auto same = read_realtime_request(R"({"session":{"model":"voice"}})", {}, "voice", "voice");
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->changed);
}

TEST(RealtimeRequests, AnotherModelIsRefusedHoweverItIsSpelt) {
  for (const std::string_view message :
       {R"({"session":{"model":"gpt-realtime"}})", R"({"session":{"model":"voice","model":"x"}})",
        R"({"sessio\u006e":{"model":"x"}})", R"({"session":{},"session":{"m\u006fdel":"x"}})",
        R"({"response":{"model":"x"}})", R"({"session":{"model":{}}})"}) {
    const auto request = read_realtime_request(message, {}, "voice", "gpt-realtime");
    ASSERT_FALSE(request) << message;
    EXPECT_EQ(request.error().kind, ErrorKind::InvalidRequest);
    EXPECT_TRUE(request.error().param.ends_with(".model"));
    EXPECT_EQ(request.error().message.find("gpt-realtime"), std::string::npos)
        << "the provider's name is ours";
  }
  for (const std::string_view message : {"", "[]", "{}x", "\"x\""})
    EXPECT_FALSE(read_realtime_request(message, {}, "voice", "x")) << message;
}

// Servers that read keys without regard to case would take them.
TEST(RealtimeRequests, KeysInAnotherCaseAreRefused) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({"type":"session.update","Session":{"model":"x"}})", "session"},
      {R"({"type":"session.update","session":{"MODEL":"x"}})", "session.model"},
      {R"({"type":"session.update","session":{"Mod\u0065l":"x"}})", "session.model"},
      {R"({"type":"response.create","RESPONSE":{}})", "response"},
      {R"({"type":"response.create","response":{"Model":"voice"}})", "response.model"},
      {R"({"Type":"response.create"})", "type"},
  };
  for (const auto& [message, param] : cases) {
    const auto request = read_realtime_request(message, {}, "voice", "voice");
    ASSERT_FALSE(request) << message;
    EXPECT_EQ(request.error().kind, ErrorKind::InvalidRequest);
    EXPECT_EQ(request.error().param, param);
  }
}

TEST(RealtimeErrors, AreEventsThatNameTheMessage) {
  const Error error = Error::client(ErrorKind::InvalidRequest, "say \"no\"", "session.model");
  const std::string event = encode_realtime_error(error, "01ID", "mine\\n");
  ASSERT_FALSE(wire::check_json(event)) << event;
  const wire::JsonValue document(event);
  EXPECT_EQ(document.member("type")->string(), "error");
  EXPECT_EQ(document.member("event_id")->string(), "event_01ID");
  EXPECT_EQ(document.at("error", "event_id")->string(), "mine\n");
  EXPECT_EQ(document.at("error", "message")->string(), "say \"no\"");
  EXPECT_EQ(document.at("error", "param")->string(), "session.model");
  const std::string of_none = encode_realtime_error(error, "01ID", {});
  EXPECT_TRUE(wire::JsonValue(of_none).at("error", "event_id")->is_null());
}

TEST(RealtimeErrors, OnlyShortIdsOfMessagesAreRepeated) {
  EXPECT_EQ(realtime_event_id(R"({"event_id":"mine"})", {}), "mine");
  EXPECT_EQ(realtime_event_id("{", {}), "");
  EXPECT_EQ(realtime_event_id(R"({"event_id":7})", {}), "");
  EXPECT_EQ(realtime_event_id(fmt::format(R"({{"event_id":"{}"}})", std::string(600, 'x')), {}), "");
}

}  // namespace
}  // namespace qq::dialects::openai
