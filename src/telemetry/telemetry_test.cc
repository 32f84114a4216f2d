#include "telemetry/telemetry.h"

#include <fmt/core.h>

#include <thread>

#include "telemetry/record_fixture.h"
#include "telemetry/testing/captured_log.h"

namespace qq::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class TelemetryTest : public testing::Test {
 protected:
  std::string metrics(const ScrapeFacts& scrape = {}) { return telemetry_.render_metrics(scrape); }

  CapturedLog captured_;
  Telemetry telemetry_{{.log_path = captured_.path(), .level = Level::Info, .loops = 2, .version = "1.2.3"}};
  RecordFixture fixture_;
};

TEST_F(TelemetryTest, AddsUpTheRequestsOfAllLoops) {
  telemetry_.observer(0).request_ended(fixture_.record);
  telemetry_.observer(1).request_ended(fixture_.record);
  telemetry_.observer(1).request_ended(fixture_.record);
  EXPECT_THAT(
      metrics(),
      HasSubstr(
          R"(queqiao_requests_total{route="chat-fast",endpoint="chat_completions",outcome="ok",status="200"} 3)"));
}

TEST_F(TelemetryTest, KeepsHowRequestsEndedApart) {
  fixture_.record.status = 429;
  fixture_.record.error = Error::upstream(ErrorKind::RateLimited, AttemptPhase::ReplyBegun, "slow down");
  telemetry_.observer(0).request_ended(fixture_.record);
  fixture_.record.status = 200;
  fixture_.record.error = Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "cut");
  fixture_.record.interrupted = true;
  telemetry_.observer(0).request_ended(fixture_.record);
  fixture_.record.error = Error::client(ErrorKind::ClientGone, "hung up");
  fixture_.record.interrupted = false;
  fixture_.record.status = 0;
  telemetry_.observer(0).request_ended(fixture_.record);
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr(R"(outcome="upstream_error",status="429"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(outcome="interrupted",status="200"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(outcome="client_gone",status="0"} 1)"));
  EXPECT_THAT(text, HasSubstr("queqiao_stream_interrupted_total 1"));
}

TEST_F(TelemetryTest, CountsAttemptsAndWhatMadeARequestMoveOn) {
  fixture_.attempts.clear();
  const Error busy = Error::upstream(ErrorKind::Overloaded, AttemptPhase::ReplyBegun, "busy");
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, busy, 503);
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, busy, 503);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Success, std::nullopt, 200);
  telemetry_.observer(0).request_ended(fixture_.record);
  const std::string text = metrics();
  EXPECT_THAT(
      text, HasSubstr(R"(queqiao_attempts_total{provider="openai",outcome="failure",error="overloaded"} 2)"));
  EXPECT_THAT(text,
              HasSubstr(R"(queqiao_attempts_total{provider="deepseek",outcome="success",error="none"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_fallback_total{cause="overloaded"} 1)"))
      << "a second try at the same target is no fallback";
}

TEST_F(TelemetryTest, CountsOnlyMovesThatHappenedAsFallbacks) {
  const Error busy = Error::upstream(ErrorKind::Overloaded, AttemptPhase::ReplyBegun, "busy");
  const Error barred = Error::gateway(ErrorKind::NoTarget, "not tried");
  model::Target third;
  RecordFixture::name(third, "groq", "main", "llama");
  const auto moves = [&](std::string_view cause) {
    const std::string line = fmt::format("queqiao_fallback_total{{cause=\"{}\"}} ", cause);
    const std::string text = metrics();
    const std::size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + line.size()));
  };
  const auto ended = [&] {
    telemetry_.observer(0).request_ended(fixture_.record);
    fixture_.attempts.clear();
  };
  fixture_.attempts.clear();
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, busy, 503);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Refused, barred, 0);
  fixture_.add_attempt(fixture_.primary, model::Outcome::Success, std::nullopt, 200);
  ended();
  EXPECT_EQ(moves("overloaded") + moves("no_target"), 0) << "it stayed where it was";
  fixture_.add_attempt(fixture_.primary, model::Outcome::Refused, barred, 0);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Refused, barred, 0);
  ended();
  EXPECT_EQ(moves("no_target"), 0) << "it went nowhere";
  fixture_.add_attempt(fixture_.primary, model::Outcome::Refused, barred, 0);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Refused, barred, 0);
  fixture_.add_attempt(third, model::Outcome::Success, std::nullopt, 200);
  ended();
  EXPECT_EQ(moves("no_target"), 1) << "one move, past two";
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, busy, 503);
  fixture_.add_attempt(fixture_.backup, model::Outcome::Refused, barred, 0);
  fixture_.add_attempt(third, model::Outcome::Success, std::nullopt, 200);
  ended();
  EXPECT_EQ(moves("overloaded"), 1);
  EXPECT_EQ(moves("no_target"), 1);
}

TEST_F(TelemetryTest, ObservesTimesInCumulativeBuckets) {
  telemetry_.observer(0).request_ended(fixture_.record);  // 100 ms, TTFT 40 ms, overhead 50 us
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_bucket{le=\"3e-05\"} 0"));
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_bucket{le=\"5e-05\"} 1"));
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_bucket{le=\"+Inf\"} 1"));
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_count 1"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_ttft_seconds_count{endpoint="chat_completions"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_request_duration_seconds_sum{endpoint="chat_completions"} 0.1)"));
}

TEST_F(TelemetryTest, AClientsSlownessIsNoOverhead) {
  fixture_.record.upstream_wait = 40ms;
  fixture_.record.client_wait = 59'950us;
  telemetry_.observer(0).request_ended(fixture_.record);
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_bucket{le=\"3e-05\"} 0"));
  EXPECT_THAT(text, HasSubstr("queqiao_overhead_seconds_bucket{le=\"5e-05\"} 1"));
}

TEST_F(TelemetryTest, CountsTokensByBucket) {
  fixture_.attempts.back().usage.reasoning = 5;
  telemetry_.observer(0).request_ended(fixture_.record);
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr(R"(queqiao_tokens_total{kind="input_uncached"} 12)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_tokens_total{kind="output_text"} 34)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_tokens_total{kind="reasoning"} 5)"));
}

TEST_F(TelemetryTest, CountsThePartsOfAConnectionOnce) {
  RecordFixture part;
  part.record.part = relay::RecordPart::Response;
  part.record.endpoint = model::Endpoint::Realtime;
  part.record.usage.audio_output = 7;
  part.attempts[0].usage = part.record.usage;
  telemetry_.observer(0).request_ended(part.record);
  EXPECT_THAT(metrics(), HasSubstr(R"(queqiao_tokens_total{kind="audio_output"} 7)"));
  RecordFixture end;
  end.record.endpoint = model::Endpoint::Realtime;
  end.record.status = 101;
  end.record.usage = part.record.usage;  // the sum; its attempts have none
  end.attempts[0].usage = {};
  end.record.first_content.reset();
  telemetry_.observer(0).request_ended(end.record);
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr(R"(queqiao_tokens_total{kind="audio_output"} 7)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_realtime_responses_total{outcome="ok"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(queqiao_attempts_total{provider="openai",outcome="success",error="none"} 1)"))
      << "a response is no try of its own";
}

TEST_F(TelemetryTest, CountsTheTokensOfFailedAttempts) {
  const model::Usage used = fixture_.attempts.back().usage;
  const Error empty = Error::upstream(ErrorKind::EmptyReply, AttemptPhase::ReplyBegun, "empty");
  fixture_.attempts.clear();
  fixture_.add_attempt(fixture_.primary, model::Outcome::Failure, empty, 200);
  fixture_.attempts.back().usage = used;
  fixture_.add_attempt(fixture_.backup, model::Outcome::Success, std::nullopt, 200);
  fixture_.attempts.back().usage = used;
  telemetry_.observer(0).request_ended(fixture_.record);
  EXPECT_THAT(metrics(), HasSubstr(R"(queqiao_tokens_total{kind="output_text"} 68)"));
}

TEST_F(TelemetryTest, BoundsTheNumberOfRoutesAndProviders) {
  for (int i = 0; i < 5'000; ++i) {
    const std::string route = fmt::format("route-{}", i);
    fixture_.record.route = route;
    fixture_.primary.provider = fmt::format("provider-{}", i);
    telemetry_.observer(0).request_ended(fixture_.record);
  }
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr(R"(route="route-199")"));
  EXPECT_THAT(text, Not(HasSubstr(R"(route="route-200")")));
  EXPECT_THAT(text,
              HasSubstr(R"(route="_other",endpoint="chat_completions",outcome="ok",status="200"} 4800)"));
  EXPECT_THAT(text, HasSubstr(R"(provider="_other",outcome="success",error="none"} 4800)"));
}

TEST_F(TelemetryTest, LosesNoRequestWhenTheSeriesAreUsedUp) {
  // 200 routes by 500 statuses would be 100,000 series.
  std::vector<std::string> routes;
  for (int i = 0; i < 200; ++i) routes.push_back(fmt::format("route-{}", i));
  for (const std::string& route : routes) {
    for (int status = 100; status < 600; ++status) {
      fixture_.record.route = route;
      fixture_.record.status = status;
      telemetry_.observer(0).request_ended(fixture_.record);
    }
  }
  const std::string text = metrics();
  EXPECT_LT(text.size(), 1'000'000U);
  EXPECT_THAT(
      text,
      HasSubstr(fmt::format(
          R"(queqiao_requests_total{{route="_other",endpoint="_other",outcome="_other",status="0"}} {})",
          200 * 500 - SeriesTable::kMax)));
}

TEST_F(TelemetryTest, ShowsTheCountersOfAttachedLoops) {
  relay::LoopCounters zero;
  relay::LoopCounters one;
  zero.connections_open.set(3);
  one.connections_open.set(4);
  one.worst_batch_ns.set(2'000'000);
  telemetry_.attach(0, &zero);
  telemetry_.attach(1, &one);
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr("queqiao_connections_open 7"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_event_loop_lag_seconds{loop="1"} 0.002)"));
}

TEST_F(TelemetryTest, ShowsBreakersConfigurationAndBuild) {
  const std::array targets = {TargetState{"openai/main/gpt", resilience::CircuitState::Open, 2}};
  const std::string text = metrics({.config_generation = 7, .targets = targets});
  EXPECT_THAT(text, HasSubstr(R"(queqiao_breaker_state{target="openai/main/gpt"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_breaker_opened_total{target="openai/main/gpt"} 2)"));
  EXPECT_THAT(text, HasSubstr("queqiao_config_generation 7"));
  EXPECT_THAT(text, HasSubstr(R"(queqiao_build_info{version="1.2.3")"));
  EXPECT_THAT(text, HasSubstr("queqiao_log_lines_dropped_total 0"));
}

TEST_F(TelemetryTest, EscapesLabelsThatComeFromOutside) {
  fixture_.record.route = "a\"b\nqueqiao_forged 1";
  telemetry_.observer(0).request_ended(fixture_.record);
  EXPECT_THAT(metrics(), HasSubstr(R"(route="a\"b\nqueqiao_forged 1")"));
}

TEST_F(TelemetryTest, NeverShowsAKeyOrAPromptInMetrics) {
  fixture_.primary.auth_header_lines = Secret("authorization: Bearer CANARY7f3a9c0b1d2e4f5a6b7c8d9e\r\n");
  fixture_.record.error =
      Error::upstream(ErrorKind::Refused, AttemptPhase::ReplyBegun, "CANARY7f3a9c0b1d2e4f5a6b7c8d9e");
  fixture_.record.owner = fixture_.record.key_name = fixture_.record.path = "CANARY7f3a9c0b1d2e4f5a6b7c8d9e";
  telemetry_.observer(0).request_ended(fixture_.record);
  EXPECT_THAT(metrics(), Not(HasSubstr("CANARY")));
}

TEST_F(TelemetryTest, WritesLifeCycleLines) {
  telemetry_.log_event(Level::Info, "listening",
                       {{"address", "127.0.0.1:8080"}, {"loops", 2}, {"tls", false}});
  telemetry_.log_event(Level::Debug, "not at this level");
  telemetry_.log_event(Level::Warn, "bad key sk-CANARY7f3a9c0b1d2e4f5a6b7c8d9e",
                       {{"header", "Bearer CANARY7f3a9c0b1d2e4f5a6b7c8d9e"}});
  telemetry_.stop();
  const auto lines = captured_.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(
      lines[0],
      HasSubstr(R"("level":"info","msg":"listening","address":"127.0.0.1:8080","loops":2,"tls":false})"));
  EXPECT_THAT(lines[1], Not(HasSubstr("CANARY")));
}

TEST_F(TelemetryTest, ChangesTheLevelAtRunTime) {
  telemetry_.set_level(Level::Off);
  telemetry_.observer(0).request_ended(fixture_.record);
  telemetry_.set_level(Level::Info);
  telemetry_.observer(0).request_ended(fixture_.record);
  telemetry_.stop();
  EXPECT_EQ(captured_.lines().size(), 1U);
}

TEST_F(TelemetryTest, IsScrapedWhileLoopsCount) {
  constexpr int kRequests = 20'000;
  std::array<std::thread, 2> loops;
  for (int loop = 0; loop < 2; ++loop) {
    loops[static_cast<std::size_t>(loop)] = std::thread([this, loop] {
      RecordFixture fixture;
      for (int i = 0; i < kRequests; ++i) {
        const std::string route = fmt::format("route-{}", i % 300);
        fixture.record.route = route;
        telemetry_.observer(loop).request_ended(fixture.record);
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_THAT(metrics(), HasSubstr("queqiao_requests_total"));
  for (std::thread& loop : loops) loop.join();
  EXPECT_THAT(metrics(), HasSubstr(fmt::format("queqiao_overhead_seconds_count {}", 2 * kRequests)));
}

}  // namespace
}  // namespace qq::telemetry
