#include "simulator/provider/scenario.h"

namespace qq::simulator {
namespace {

using namespace std::chrono_literals;

Scenario scenario_of(std::string_view json) {
  auto scenario = Scenario::parse(json);
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *std::move(scenario) : Scenario();
}

int status_of(Scenario& scenario, Scenario::Situation situation) {
  return scenario.choose(situation).status.value_or(200);
}
int status_of(Scenario& scenario, std::string_view model, std::string_view key = "k") {
  return status_of(scenario,
                   Scenario::Situation{.model = model, .key = key, .route = Route::ChatCompletions});
}

TEST(Scenario, PlaysAttemptsInOrderThenNormal) {
  Scenario scenario = scenario_of(
      R"({"rules":[{"model":"flaky","attempts":[{"fault":"429","retry_after":"1"},{"fault":"none"},{"fault":"500"}]}]})");
  std::vector<int> seen;
  for (int i = 0; i < 5; ++i) seen.push_back(status_of(scenario, "flaky"));
  EXPECT_EQ(seen, (std::vector<int>{429, 200, 500, 200, 200}));
  EXPECT_EQ(status_of(scenario, "other"), 200);
  scenario.restart();
  EXPECT_EQ(scenario.choose({.model = "flaky"}).retry_after, "1");
}

TEST(Scenario, RepeatsOrStaysWithTheLastAttempt) {
  Scenario scenario =
      scenario_of(R"({"rules":[{"model":"r","then":"repeat","attempts":[{"fault":"500"},{}]},)"
                  R"({"model":"l","then":"last","attempts":[{},{"fault":"503"}]}]})");
  std::vector<int> repeated;
  std::vector<int> last;
  for (int i = 0; i < 4; ++i) {
    repeated.push_back(status_of(scenario, "r"));
    last.push_back(status_of(scenario, "l"));
  }
  EXPECT_EQ(repeated, (std::vector<int>{500, 200, 500, 200}));
  EXPECT_EQ(last, (std::vector<int>{200, 503, 503, 503}));
}

TEST(Scenario, CountsByKeyWhenToldTo) {
  Scenario scenario = scenario_of(R"({"rules":[{"count_by":"key","attempts":[{"fault":"500"}]}]})");
  EXPECT_EQ(status_of(scenario, "m", "a"), 500);
  EXPECT_EQ(status_of(scenario, "m", "b"), 500);
  EXPECT_EQ(status_of(scenario, "m", "a"), 200);
}

TEST(Scenario, OneBadKeyOfSeveralAndOneEndpoint) {
  Scenario scenario = scenario_of(
      R"({"rules":[{"key":"sk-bad*","do":{"fault":"401"}},{"endpoint":"embeddings","do":{"fault":"503"}}]})");
  EXPECT_EQ(status_of(scenario, "m", "sk-bad-1"), 401);
  EXPECT_EQ(status_of(scenario, "m", "sk-good"), 200);
  EXPECT_EQ(status_of(scenario, {.model = "m", .key = "k", .route = Route::Embeddings}), 503);
}

TEST(Scenario, MixesByWeightTheSameWayForTheSameSeed) {
  const std::string_view json = R"({"seed":7,"rules":[{"mix":[{"weight":7},{"weight":3,"fault":"500"}]}]})";
  Scenario first = scenario_of(json);
  Scenario second = scenario_of(json);
  int failures = 0;
  for (int i = 0; i < 1000; ++i) {
    const int status = status_of(first, "m");
    EXPECT_EQ(status, status_of(second, "m"));
    failures += status == 500 ? 1 : 0;
  }
  EXPECT_GT(failures, 250);
  EXPECT_LT(failures, 350);
}

TEST(Scenario, FlapsByTheClockFromTheFirstRequest) {
  Scenario scenario = scenario_of(
      R"({"rules":[{"flap":{"up_ms":10000,"down_ms":5000},"do":{"fault":"reset_before_head"}}]})");
  const MonotonicTime start{100h};
  const auto down = [&](std::chrono::seconds after) {
    Scenario::Situation situation;
    situation.now = start + after;
    return scenario.choose(situation).faults.has(Fault::ResetBeforeHead);
  };
  EXPECT_FALSE(down(0s));
  EXPECT_FALSE(down(9s));
  EXPECT_TRUE(down(10s));
  EXPECT_TRUE(down(14s));
  EXPECT_FALSE(down(15s));
}

TEST(Scenario, DefaultsHoldUnlessARuleOverridesThem) {
  Scenario scenario =
      scenario_of(R"({"defaults":{"ttft":30,"gap":5},"rules":[{"model":"fast","do":{"gap":0}}]})");
  EXPECT_EQ(scenario.choose({.model = "any"}).gap, 5ms);
  EXPECT_EQ(scenario.choose({.model = "fast"}).gap, 0ms);
  EXPECT_EQ(scenario.choose({.model = "fast"}).ttft, 30ms);
}

TEST(Scenario, OrdersConnectionsOnce) {
  Scenario scenario = scenario_of(R"({"connections":["close","serve","reset"]})");
  EXPECT_EQ(scenario.next_connection(), ConnectionOrder::Close);
  EXPECT_EQ(scenario.next_connection(), ConnectionOrder::Serve);
  EXPECT_EQ(scenario.next_connection(), ConnectionOrder::Reset);
  EXPECT_EQ(scenario.next_connection(), ConnectionOrder::Serve);
}

TEST(Scenario, SaysWhatIsWrong) {
  const auto error = [](std::string_view json) {
    const auto scenario = Scenario::parse(json);
    return scenario ? std::string("(none)") : scenario.error().message;
  };
  EXPECT_NE(error("{").find("scenario: "), std::string::npos);
  EXPECT_NE(error(R"({"rule":[]})").find("\"rule\""), std::string::npos);
  EXPECT_NE(error(R"({"rules":[{"modle":"x"}]})").find("\"modle\""), std::string::npos);
  EXPECT_NE(error(R"({"rules":[{"attempts":[{"fault":"boom"}]}]})").find("boom"), std::string::npos);
  EXPECT_NE(error(R"({"rules":[{"model":"x"}]})").find("attempts, mix or do"), std::string::npos);
  EXPECT_NE(error(R"({"rules":[{"then":"never","do":{}}]})").find("never"), std::string::npos);
  EXPECT_NE(error(R"({"rules":[{"flap":{"up_ms":1,"down_ms":1}}]})").find("do"), std::string::npos);
}

}  // namespace
}  // namespace qq::simulator
