#include "upstream/google_tokens.h"

#include <fakes/http_script.h>
#include <fakes/service_account.h>

#include "net/simulated_loop.h"
#include "providers/catalogue.h"
#include "upstream/http_client.h"

namespace qq::upstream {
namespace {

using namespace std::chrono_literals;

const fakes::RsaPair& rsa_pair() {
  static const fakes::RsaPair kPair;
  return kPair;
}

std::string granted(std::string_view token, int seconds = 3599) {
  return R"({"access_token":")" + std::string(token) + R"(","expires_in":)" + std::to_string(seconds) +
         R"(,"token_type":"Bearer"})";
}

// What came of one call, and when.
struct Asked {
  std::optional<Result<Secret>> result{};
  MonotonicTime ended{};

  [[nodiscard]] std::string token() const {
    if (!result) return "still waiting";
    return result->has_value() ? std::string((*result)->reveal())
                               : std::string(to_string(result->error().kind));
  }
};

// A token endpoint at a private address, which the provider may be at unless a test says otherwise.
class GoogleTokensTest : public ::testing::Test {
 protected:
  GoogleTokensTest() { endpoint_.replies = {{.body = granted("one")}, {.body = granted("two")}}; }
  ~GoogleTokensTest() override {
    tasks_.spawn(close(&tokens_));
    loop_.run();
    client_.close_idle();
    loop_.run();
    EXPECT_EQ(loop_.open_streams(), 0U) << "sockets leaked";
  }

  static model::Target target_at(std::string_view token_uri, std::string_view email = "robot@project.example",
                                 bool allow_private_address = true) {
    providers::ProviderConfig provider;
    provider.name = "p";
    provider.kind = "vertex";
    provider.project = "project";
    provider.location = "global";
    provider.allow_private_address = allow_private_address;
    providers::AccountConfig account;
    account.name = "main";
    account.credential = Secret(fakes::service_account_json(rsa_pair(), token_uri, email));
    auto target = providers::make_target(provider, account, "gemini-3-pro", "");
    EXPECT_TRUE(target) << target.error().message;
    return *std::move(target);
  }

  // Asks and lets everything happen that happens now.
  void ask(Asked& into, const model::Target& target, net::Scope scope = {}) {
    tasks_.spawn(run(&tokens_, &target, scope, &loop_, &into));
    loop_.run_for(0ns);
  }
  std::string ask(const model::Target& target, net::Scope scope = {}) {
    Asked asked;
    ask(asked, target, scope);
    for (int i = 0; i < 200 && !asked.result; ++i) loop_.run_for(100ms);
    return asked.token();
  }

  net::SimulatedLoop loop_;
  relay::LoopCounters counters_;
  HttpUpstreamClient client_{loop_, counters_, nullptr, {}};
  fakes::HttpScript endpoint_{loop_, "127.0.0.1:9200"};
  GoogleTokens tokens_{loop_, client_};
  model::Target target_ = target_at("http://127.0.0.1:9200/token");
  TaskGroup tasks_;

 private:
  static Task<void> run(GoogleTokens* tokens, const model::Target* target, net::Scope scope,
                        net::SimulatedLoop* loop, Asked* into) {
    const relay::Timers timers;
    Result<Secret> got = co_await tokens->token(*target, timers, scope);
    into->ended = loop->now();
    into->result = std::move(got);
  }
  static Task<void> close(GoogleTokens* tokens) { co_await tokens->close(); }
};

TEST_F(GoogleTokensTest, AreAskedForOnceByAllThatNeedOne) {
  endpoint_.replies[0].delay = 500ms;
  std::array<Asked, 5> asked;
  for (Asked& each : asked) ask(each, target_);
  loop_.run_for(1s);
  for (const Asked& each : asked) EXPECT_EQ(each.token(), "one");
  ASSERT_EQ(endpoint_.requests.size(), 1U);
  EXPECT_TRUE(endpoint_.requests[0].starts_with("POST /token HTTP/1.1\r\nhost: 127.0.0.1:9200\r\n"));
  EXPECT_NE(endpoint_.requests[0].find("\r\ncontent-type: application/x-www-form-urlencoded\r\n"),
            std::string::npos);
  EXPECT_NE(endpoint_.requests[0].find("\r\n\r\ngrant_type="), std::string::npos);
  loop_.run_for(30min);
  EXPECT_EQ(ask(target_), "one");
  EXPECT_EQ(endpoint_.requests.size(), 1U);
}

TEST_F(GoogleTokensTest, AreRefreshedFiveMinutesAheadWhileTheOldOneIsUsed) {
  EXPECT_EQ(ask(target_), "one");
  endpoint_.replies[1].delay = 2s;
  loop_.run_for(3599s - 300s - 1s);
  EXPECT_EQ(ask(target_), "one");
  EXPECT_EQ(endpoint_.requests.size(), 1U);
  loop_.run_for(2s);
  for (int i = 0; i < 3; ++i) {
    Asked asked;
    const MonotonicTime before = loop_.now();
    ask(asked, target_);
    EXPECT_EQ(asked.token(), "one");
    EXPECT_EQ(asked.ended, before) << "nobody waits";
  }
  loop_.run_for(3s);
  EXPECT_EQ(ask(target_), "two");
  EXPECT_EQ(endpoint_.requests.size(), 2U) << "one refresh at a time";
}

TEST_F(GoogleTokensTest, AreUsedOnWhenARefreshFailsAndItIsTriedAgainLater) {
  endpoint_.replies = {{.body = granted("one")}, {.status = 503, .body = "{}"}, {.body = granted("two")}};
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(3599s - 200s);
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(1s);
  EXPECT_EQ(ask(target_), "one");
  EXPECT_EQ(endpoint_.requests.size(), 2U) << "the endpoint has half a minute's rest";
  loop_.run_for(31s);
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(1s);
  EXPECT_EQ(ask(target_), "two");
  EXPECT_EQ(endpoint_.requests.size(), 3U);
}

TEST_F(GoogleTokensTest, AreWaitedForWhenTheOldOneHasEnded) {
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(3599s - 5s);
  EXPECT_EQ(ask(target_), "two") << "five seconds may be too few for a request on its way";
}

TEST_F(GoogleTokensTest, OfShortLifeAreRefreshedHalfWay) {
  endpoint_.replies = {{.body = granted("one", 120)}, {.body = granted("two", 120)}};
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(59s);
  EXPECT_EQ(ask(target_), "one");
  EXPECT_EQ(endpoint_.requests.size(), 1U);
  loop_.run_for(2s);
  EXPECT_EQ(ask(target_), "one");
  loop_.run_for(1s);
  EXPECT_EQ(ask(target_), "two");
}

TEST_F(GoogleTokensTest, AreNotGivenForAnAccountThatGoogleRefuses) {
  endpoint_.replies = {
      {.status = 400,
       .body = R"({"error":"invalid_grant","error_description":"Invalid grant: account not found"})"}};
  std::array<Asked, 2> asked;
  for (Asked& each : asked) ask(each, target_);
  loop_.run_for(1s);
  for (const Asked& each : asked) {
    ASSERT_EQ(each.token(), "credential_dead");
    EXPECT_EQ(each.result->error().phase, AttemptPhase::NotSent);
    EXPECT_THAT(each.result->error().message, ::testing::HasSubstr("account not found"));
  }
}

TEST_F(GoogleTokensTest, AreNotAskedForByEveryRequestWhileTheyAreRefused) {
  endpoint_.replies = {{.status = 503, .body = "{}"}, {.body = granted("two")}};
  for (int i = 0; i < 20; ++i) EXPECT_NE(ask(target_), "two");
  EXPECT_EQ(endpoint_.requests.size(), 1U);
  loop_.run_for(1s);
  EXPECT_EQ(ask(target_), "two");
  EXPECT_EQ(endpoint_.requests.size(), 2U);
}

TEST_F(GoogleTokensTest, AreGivenUpWhenTheEndpointSaysNothing) {
  endpoint_.replies = {{.silent = true}, {.body = granted("two")}};
  Asked patient;
  Asked hurried;
  ask(patient, target_);
  ask(hurried, target_, {loop_.now() + 3s, nullptr});
  loop_.run_for(4s);
  EXPECT_EQ(hurried.token(), "total_timeout");
  EXPECT_EQ(patient.token(), "still waiting");
  loop_.run_for(7s);
  EXPECT_EQ(patient.token(), "first_byte_timeout");
  EXPECT_EQ(patient.result->error().phase, AttemptPhase::NotSent);
  const MonotonicTime before = loop_.now();
  Asked next;
  ask(next, target_);
  EXPECT_EQ(next.token(), "first_byte_timeout");
  EXPECT_EQ(next.ended, before) << "for a while nobody waits for it";
  loop_.run_for(10s);
  EXPECT_EQ(ask(target_), "two") << "then the next request tries anew";
}

TEST_F(GoogleTokensTest, StayOnTheirWayWhenWhoAskedFirstHasLeft) {
  endpoint_.replies[0].delay = 500ms;
  net::Cancellation gone(loop_);
  Asked first;
  Asked second;
  ask(first, target_, {kNever, &gone});
  ask(second, target_);
  gone.cancel(ErrorKind::ClientGone);
  loop_.run_for(1s);
  EXPECT_EQ(first.token(), "client_gone");
  EXPECT_EQ(second.token(), "one");
  EXPECT_EQ(endpoint_.requests.size(), 1U);
}

TEST_F(GoogleTokensTest, AreAnAccountsOwn) {
  const model::Target other = target_at("http://127.0.0.1:9200/token", "other@project.example");
  EXPECT_EQ(ask(target_), "one");
  EXPECT_EQ(ask(other), "two");
  EXPECT_EQ(ask(target_), "one");
}

TEST_F(GoogleTokensTest, AreFetchedPastTheEgressGuardAndWithTls) {
  EXPECT_EQ(ask(target_at("https://127.0.0.1:9200/token", "robot@project.example", false)), "egress_denied");
  EXPECT_EQ(ask(target_at("http://127.0.0.1:9200/token", "robot@project.example", false)), "credential_dead");
  EXPECT_EQ(endpoint_.requests.size(), 0U);
}

TEST_F(GoogleTokensTest, AreNotFetchedAnyMoreAfterTheEnd) {
  endpoint_.replies[0].silent = true;
  Asked asked;
  ask(asked, target_);
  tasks_.spawn([](GoogleTokens* tokens) -> Task<void> { co_await tokens->close(); }(&tokens_));
  loop_.run_for(0ns);
  EXPECT_EQ(asked.token(), "shutting_down");
  EXPECT_EQ(ask(target_), "shutting_down");
}

}  // namespace
}  // namespace qq::upstream
