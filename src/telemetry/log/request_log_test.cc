#include "telemetry/log/request_log.h"

#include <simdjson.h>

#include <string>

#include "telemetry/record_fixture.h"
#include "telemetry/testing/captured_log.h"

namespace qq::telemetry {
namespace {

class RequestLogTest : public testing::Test {
 protected:
  // Everything that was logged about the record.
  std::vector<std::string> lines(Level level = Level::Info) {
    CapturedLog captured;
    {
      LogWriter writer(LogSink::to_file(captured.path()), 1);
      std::atomic<Level> wanted{level};
      RequestLog log(writer, 0, wanted);
      log.write(fixture_.record);
      writer.stop();
    }
    return captured.lines();
  }

  RecordFixture fixture_;
};

TEST_F(RequestLogTest, TellsAGoodRequestInOneLine) {
  EXPECT_THAT(
      lines(),
      testing::ElementsAre(
          R"({"ts":"2023-11-14T22:13:20.223Z","level":"info","msg":"request","request_id":"01HF7YAT00ABCDEFGHJKMNPQRS",)"
          R"("endpoint":"chat_completions","status":200,"outcome":"ok","route":"chat-fast","model":"gpt-mini",)"
          R"("account":"openai/main","key":"demo","owner":"team-a","stream":true,"duration_ms":100.000,)"
          R"("ttft_ms":40.000,"overhead_ms":0.050,"attempts":1,"tokens_input_uncached":12,"tokens_output_text":34,)"
          R"("finish_reason":"stop","bytes_in":1024,"bytes_out":2048,"config":3})"));
}

TEST_F(RequestLogTest, AddsALineForEachAttemptThatWasNotTheFirstAndGood) {
  fixture_.attempts.clear();
  Error reset = Error::upstream(ErrorKind::Reset, AttemptPhase::SentNoReply, "reset by peer");
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, reset, 0);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Success, std::nullopt, 200);
  const auto out = lines();
  ASSERT_EQ(out.size(), 3U);
  EXPECT_THAT(out[0], testing::HasSubstr(R"("account":"deepseek/one")"));
  EXPECT_THAT(out[0], testing::HasSubstr(R"("attempts":2)"));
  EXPECT_THAT(
      out[0],
      testing::HasSubstr(
          R"("tries":[{"target":"openai/main/gpt-mini","outcome":"failure","error":"reset","ms":30.000},)"
          R"({"target":"deepseek/one/deepseek-chat","outcome":"success","status":200,"ms":30.000}])"));
  EXPECT_THAT(out[1], testing::HasSubstr(R"("level":"warn","msg":"attempt")"));
  EXPECT_THAT(out[1], testing::HasSubstr(R"("attempt":1)"));
  EXPECT_THAT(out[1],
              testing::HasSubstr(R"("error":"reset","error_origin":"upstream","phase":"sent_no_reply")"));
  EXPECT_THAT(out[2], testing::HasSubstr(R"("level":"info","msg":"attempt")"));
  EXPECT_THAT(out[2], testing::HasSubstr(R"("attempt":2)"));
}

TEST_F(RequestLogTest, CountsTheAttemptsThatWereMade) {
  fixture_.attempts.clear();
  const Error open = Error::gateway(ErrorKind::NoTarget, "not tried: its breaker is open");
  fixture_.add_attempt(fixture_.primary, model::Outcome::Refused, open, 0);
  EXPECT_THAT(lines()[0], testing::HasSubstr(R"("attempts":0)"));
  fixture_.add_attempt(fixture_.backup, model::Outcome::Success, std::nullopt, 200);
  EXPECT_THAT(lines()[0], testing::HasSubstr(R"("attempts":1)"));
}

TEST_F(RequestLogTest, NamesMethodAndPathOfAnUnknownEndpoint) {
  fixture_.record.endpoint = std::nullopt;
  fixture_.record.method = "GET";
  fixture_.record.path = "/wp-login.php";
  fixture_.record.status = 404;
  fixture_.record.error = Error::client(ErrorKind::NotFound, "no such path");
  fixture_.attempts.clear();
  fixture_.record.attempts = {};
  const auto out = lines();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_THAT(out[0], testing::HasSubstr(
                          R"("method":"GET","path":"/wp-login.php","status":404,"outcome":"client_error")"));
}

TEST_F(RequestLogTest, NamesThePathOfAnEndpointThatIsNotAskedByPost) {
  fixture_.record.method = "GET";
  fixture_.record.path = "/v1/chat/completions (websocket)";
  EXPECT_THAT(lines()[0], testing::HasSubstr(R"("endpoint":"chat_completions","method":"GET",)"
                                             R"_("path":"/v1/chat/completions (websocket)","status":200)_"));
}

TEST_F(RequestLogTest, TellsThePartsOfAConnectionApartFromItsEnd) {
  fixture_.record.endpoint = model::Endpoint::Realtime;
  fixture_.record.usage.audio_input = 5;
  fixture_.record.usage.audio_output = 6;
  fixture_.record.part = relay::RecordPart::Response;
  EXPECT_THAT(lines(), testing::ElementsAre(
                           testing::AllOf(testing::HasSubstr(R"("msg":"response","request_id":"01HF)"),
                                          testing::HasSubstr(R"("tokens_audio_input":5,)"),
                                          testing::HasSubstr(R"("tokens_audio_output":6,)"))));
  fixture_.record.part = relay::RecordPart::Transcript;
  EXPECT_THAT(lines(), testing::ElementsAre(testing::HasSubstr(R"("msg":"transcript")")));
  fixture_.record.part = relay::RecordPart::None;
  fixture_.record.responses = 2;
  EXPECT_THAT(lines(), testing::ElementsAre(testing::AllOf(testing::HasSubstr(R"("msg":"request")"),
                                                           testing::HasSubstr(R"("responses":2,)"))));
}

TEST_F(RequestLogTest, KeepsItsLevel) {
  EXPECT_THAT(lines(Level::Warn), testing::IsEmpty()) << "a good request is no warning";
  fixture_.record.status = 502;
  fixture_.record.error = Error::upstream(ErrorKind::ServerError, AttemptPhase::ReplyBegun, "502");
  EXPECT_EQ(lines(Level::Warn).size(), 1U);
  EXPECT_EQ(lines(Level::Error).size(), 0U);
  fixture_.record.error = Error::gateway(ErrorKind::Internal, "a bug");
  EXPECT_EQ(lines(Level::Error).size(), 1U);
  EXPECT_EQ(lines(Level::Off).size(), 0U);
}

TEST_F(RequestLogTest, NeverShowsAKeyOrAPrompt) {
  const std::string canary = "CANARY7f3a9c0b1d2e4f5a6b7c8d9e";
  fixture_.primary.auth_header_lines = Secret("authorization: Bearer " + canary + "\r\n");
  Error error = Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun,
                                "Incorrect API key provided: " + canary + ". Your prompt: " + canary);
  error.upstream_status = 401;
  fixture_.record.error = error;
  fixture_.record.status = 401;
  fixture_.record.endpoint = std::nullopt;
  const std::string path = "/v1/models/sk-" + canary;
  fixture_.record.path = path;
  fixture_.attempts.clear();
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, error, 401);
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure,
                       Error::gateway(ErrorKind::Internal, "header was Authorization: Bearer " + canary), 0);
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure,
                       Error::client(ErrorKind::InvalidRequest, "messages[0] was " + canary, canary), 0);
  const auto out = lines(Level::Debug);
  ASSERT_EQ(out.size(), 4U);
  for (const std::string& line : out) EXPECT_EQ(line.find("CANARY"), std::string::npos) << line;
}

TEST_F(RequestLogTest, CannotBeForgedByNamesFromOutside) {
  const std::string evil = "x\"}\n{\"level\":\"error\",\"msg\":\"forged\x1b[31m\xff";
  fixture_.record.route = fixture_.record.owner = fixture_.record.key_name = evil;
  fixture_.record.finish_reason = fixture_.record.path = fixture_.record.method = evil;
  fixture_.primary.model = fixture_.primary.name = fixture_.primary.account_name = evil;
  fixture_.attempts[0].outcome = model::Outcome::Failure;
  fixture_.record.endpoint = std::nullopt;
  const auto out = lines();
  ASSERT_EQ(out.size(), 2U);
  simdjson::dom::parser parser;
  for (const std::string& line : out) {
    std::string_view message;
    ASSERT_EQ(parser.parse(line)["msg"].get(message), simdjson::SUCCESS) << line;
    EXPECT_NE(message, "forged");
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

TEST_F(RequestLogTest, StaysWithinFourKilobytesHoweverManyAttempts) {
  for (int i = 0; i < 100; ++i) {
    fixture_.add_attempt(fixture_.backup, model::Outcome::Failure,
                         Error::upstream(ErrorKind::Overloaded, AttemptPhase::ReplyBegun, "busy"), 503);
  }
  simdjson::dom::parser parser;
  for (const std::string& line : lines()) {
    EXPECT_LT(line.size(), 4096U);
    EXPECT_EQ(parser.parse(line).error(), simdjson::SUCCESS);
  }
}

TEST_F(RequestLogTest, NamesWhatATranslationLost) {
  fixture_.attempts.clear();
  const Error reset = Error::upstream(ErrorKind::Reset, AttemptPhase::SentNoReply, "reset by peer");
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, reset, 0);
  fixture_.attempts.back().lost = "seed";
  fixture_.add_attempt(fixture_.backup, model::Outcome::Success, std::nullopt, 200);
  fixture_.attempts.back().lost = "top_k; sk-0123456789abcdef0123456789abcdef";
  const auto out = lines();
  ASSERT_EQ(out.size(), 3U);
  EXPECT_THAT(out[0], testing::HasSubstr(R"("lossy":"top_k; sk-)")) << "of who answered";
  EXPECT_THAT(out[0], testing::Not(testing::HasSubstr("0123456789abcdef0123"))) << "what looks like a key";
  EXPECT_THAT(out[1], testing::HasSubstr(R"("lossy":"seed")"));
}

}  // namespace
}  // namespace qq::telemetry
