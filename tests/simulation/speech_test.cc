// Speech: a JSON request, and an answer of bytes that are nobody's to read.
#include "simulation/scripted_provider.h"

namespace qq::simulation::speech {
namespace {

Ask speech(std::string_view model) {
  Ask ask;
  ask.path = "/v1/audio/speech";
  ask.body = R"({"model":")" + std::string(model) + R"(","input":"A bridge.","voice":"alloy"})";
  return ask;
}

// Every byte there is, again and again.
std::string audio(std::size_t bytes) {
  std::string made;
  for (std::size_t i = 0; i < bytes; ++i) made.push_back(static_cast<char>(i * 7 + i / 256));
  return made;
}

TEST(Speech, PassesThroughByteForByte) {
  ScriptedWorld scripted;
  const std::string made = audio(100'000);
  scripted.provider.replies = {{.body = made, .content_type = "audio/mpeg"}};
  const Exchange heard = scripted.world.ask(speech("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_EQ(heard.reply.body, made);
  EXPECT_NE(heard.raw.find("content-type: audio/mpeg\r\n"), std::string::npos);
  EXPECT_NE(heard.raw.find("x-queqiao-model: m0\r\n"), std::string::npos);
  ASSERT_EQ(scripted.provider.requests.size(), 1U);
  const std::string& sent = scripted.provider.requests[0];
  EXPECT_TRUE(sent.starts_with("POST /v1/audio/speech HTTP/1.1\r\n"));
  EXPECT_NE(sent.find("\r\naccept: */*\r\n"), std::string::npos);
  EXPECT_TRUE(sent.ends_with(R"({"model":"real-model","input":"A bridge.","voice":"alloy"})")) << sent;
  EXPECT_EQ(heard.story(), "success");
}

TEST(Speech, GoesOnAsItComes) {
  ScriptedWorld scripted;
  const std::string made = audio(3'000);
  scripted.provider.replies = {{.body = made, .content_type = "audio/pcm;rate=24000", .piece = 1'000}};
  fakes::Client& client = scripted.world.start(speech("asked"));
  scripted.world.run_for(500ms);
  EXPECT_NE(client.raw().find(made.substr(0, 1'000)), std::string::npos) << "two more seconds are to come";
  EXPECT_EQ(client.raw().find(made.substr(1'000, 100)), std::string::npos);
  scripted.world.run_until_end(client);
  EXPECT_EQ(client.reply().body, made);
}

TEST(Speech, IsReadNoFasterThanItsClientTakesIt) {
  ScriptedWorld scripted;
  const std::string made = audio(8U << 20U);
  scripted.provider.replies = {{.body = made, .content_type = "audio/wav"}};
  scripted.world.narrow(64UL * 1024);
  fakes::Client& client = scripted.world.client();
  client.stop_reading();
  client.start(speech("asked").bytes());
  scripted.world.run_for(2s);
  EXPECT_LT(scripted.world.counters().bytes_from_upstreams.get(), 2 << 20)
      << "the rest waits at the provider";
  client.read_again();
  scripted.world.run_until_end(client);
  EXPECT_EQ(client.reply().body, made);
}

TEST(Speech, WithoutAByteIsNone) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = "", .content_type = "audio/mpeg"},
                               {.body = "sound", .content_type = "audio/mpeg"}};
  const Exchange heard = scripted.world.ask(speech("asked"));
  EXPECT_EQ(heard.reply.body, "sound");
  EXPECT_EQ(heard.story(), "empty_reply,success");
}

TEST(Speech, IsNoPageAndNoDocument) {
  const std::string error = R"({"error":{"message":"no such voice","type":"server_error"}})";
  for (const std::string_view type : {"text/html", "application/json", "text/plain"}) {
    ScriptedWorld scripted;
    scripted.provider.replies = {{.body = error, .content_type = std::string(type)},
                                 {.body = "sound", .content_type = "application/octet-stream"}};
    const Exchange heard = scripted.world.ask(speech("asked"));
    EXPECT_EQ(heard.reply.body, "sound") << type;
    EXPECT_EQ(heard.attempts().size(), 2U) << type;
  }
}

TEST(Speech, ThatBreaksOffIsCutForItsClientToo) {
  ScriptedWorld scripted;
  scripted.provider.replies = {
      {.body = audio(5'000), .content_type = "audio/mpeg", .piece = 1'000, .cut = 3'000}};
  const Exchange heard = scripted.world.ask(speech("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_FALSE(heard.reply.complete);
  EXPECT_EQ(heard.story(), "body_cut") << "what was begun is not begun anew elsewhere";
  ASSERT_TRUE(heard.record);
  EXPECT_TRUE(heard.record->interrupted);
}

TEST(Speech, ThatComesToNothingFallsBack) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = audio(5'000), .content_type = "audio/mpeg", .cut = 0},
                               {.body = "sound", .content_type = "audio/mpeg"}};
  const Exchange heard = scripted.world.ask(speech("asked"));
  EXPECT_EQ(heard.reply.body, "sound");
  EXPECT_EQ(heard.story(), "body_cut,success");
}

TEST(Speech, AsEventsSaysWhatItUsed) {
  ScriptedWorld scripted;
  const std::string events =
      "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AAAA\"}\n\n"
      "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":4,\"output_tokens\":90,"
      "\"total_tokens\":94}}\n\n";
  scripted.provider.replies = {{.body = events, .content_type = "text/event-stream"}};
  const Exchange heard = scripted.world.ask(speech("asked"));
  EXPECT_EQ(heard.reply.body, events);
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.input_total(), 4);
  EXPECT_EQ(heard.record->usage.output_total(), 90);
}

TEST(Speech, AClientThatLeavesEndsIt) {
  ScriptedWorld scripted;
  scripted.provider.replies = {{.body = audio(50'000), .content_type = "audio/mpeg", .piece = 1'000}};
  fakes::Client& client = scripted.world.start(speech("asked"));
  scripted.world.run_for(2'500ms);
  client.leave(fakes::Client::Leave::Reset);
  scripted.world.run_for(5s);
  ASSERT_EQ(scripted.world.records().size(), 1U);
  EXPECT_EQ(story_of(scripted.world.records()[0].attempts), "cancelled");
  EXPECT_TRUE(scripted.provider.idle()) << "the provider need say no more";
}

}  // namespace
}  // namespace qq::simulation::speech
