#include "config/diff.h"

#include <gtest/gtest.h>

#include "config/test_config.h"

namespace qq::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> changes(std::string_view from, std::string_view to) {
  std::vector<std::string> out;
  for (const Change& change : diff(config_of(from), config_of(to))) {
    out.push_back(change.what + (change.effect == Effect::Restart ? " (restart)" : ""));
  }
  return out;
}

std::vector<std::string> change(std::string_view from, std::string_view to) {
  return changes(kSample, replaced(kSample, from, to));
}

TEST(Diff, FindsNothingWhereNothingChanged) {
  EXPECT_THAT(changes(kSample, kSample), IsEmpty());
  EXPECT_THAT(changes(kSample, std::string("# a comment\n") + std::string(kSample)), IsEmpty());
  EXPECT_THAT(change("total: 15m", "total: 900s"), IsEmpty()) << "another spelling of the same";
}

TEST(Diff, ShowsNumbersBeforeAndAfter) {
  EXPECT_THAT(change("connect: 3s", "connect: 5s"), ElementsAre("timers.connect: 3s → 5s"));
  EXPECT_THAT(change("body_max: 64MiB", "body_max: 1MiB"), ElementsAre("limits.body_max: 64MiB → 1MiB"));
  EXPECT_THAT(change("rpm: 60", "rpm: 90, tpm: 5"),
              ElementsAre("providers[cloud].limit_groups[org].rpm: 60 → 90",
                          "providers[cloud].limit_groups[org].tpm: nothing → 5"));
  EXPECT_THAT(change("[timeout, 5xx]", "[timeout]"),
              ElementsAre("routes[fast].trigger_on: timeout, 5xx → timeout"));
  EXPECT_THAT(change("weight: 3", "weight: 0.5"),
              ElementsAre("routes[fast].candidates[mini].weight: 3 → 0.5"));
  EXPECT_THAT(change("base: 100ms", "base: 200ms"),
              ElementsAre("routes[fast].retry.backoff.base: 100ms → 200ms"));
}

TEST(Diff, NeverShowsText) {
  EXPECT_THAT(change("sk-spare", "sk-other"),
              ElementsAre("providers[cloud].accounts[spare].credential: changed"));
  EXPECT_THAT(change("upstream_name: gpt-4o-mini", "upstream_name: gpt-4.1-mini"),
              ElementsAre("models[mini].upstream_name: changed"));
  EXPECT_THAT(change("timers:", "outbound: {proxy: \"http://a:b@p:1\"}\ntimers:"),
              ElementsAre("outbound.proxy: added (restart)"));
}

TEST(Diff, NamesWhatWasAddedAndRemoved) {
  EXPECT_THAT(change("      - {name: spare, credential: sk-spare, limit_group: org}\n", ""),
              ElementsAre("providers[cloud].accounts[spare]: removed"));
  EXPECT_THAT(change("routes:\n", "routes:\n  - {name: new, candidates: [{model: big}]}\n"),
              ElementsAre("routes[new]: added"));
  EXPECT_THAT(change(", allow: [fast]", ""), ElementsAre("keys[demo].allow: removed"));
  EXPECT_THAT(change("serve: [api]}", "serve: [api], tls: {certificate: a, key: b}}"),
              ElementsAre("listeners[127.0.0.1:8080].tls: added (restart)"));
}

TEST(Diff, SeesTheOrder) {
  EXPECT_THAT(change("[{model: big}, {model: mini}]", "[{model: mini}, {model: big}]"),
              ElementsAre("routes[best].candidates: order changed"));
}

TEST(Diff, SaysWhatNeedsARestart) {
  EXPECT_THAT(change("workers: 2", "workers: 3"), ElementsAre("workers: 2 → 3 (restart)"));
  EXPECT_THAT(change("127.0.0.1:8081", "127.0.0.1:8082"),
              ElementsAre("listeners[127.0.0.1:8081]: removed (restart)",
                          "listeners[127.0.0.1:8082]: added (restart)"));
  EXPECT_THAT(change("limits: {", "limits: {memory_max: 1GiB, "),
              ElementsAre("limits.memory_max: 0B → 1GiB (restart)"));
}

}  // namespace
}  // namespace qq::config
