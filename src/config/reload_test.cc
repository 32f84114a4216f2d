#include "config/reload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "config/test_config.h"

namespace qq::config {
namespace {

constexpr WallTime kLoadedAt{std::chrono::seconds(1'700'000'000)};

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() {
    write(kSample);
    auto first = activate(path_, test_environment(), healths_, kLoadedAt);
    EXPECT_TRUE(first.has_value());
    if (first) active_ = *std::move(first);
  }
  ~ReloadTest() override { std::filesystem::remove_all(folder_); }

  void write(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  ReloadResult reloaded(std::string_view text) {
    write(text);
    return reload(active_, path_, test_environment(), healths_, kLoadedAt);
  }

  std::string folder_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "queqiao-reload-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }();
  std::string path_ = folder_ + "/queqiao.yaml";
  resilience::HealthRegistry healths_;
  Active active_;
};

TEST_F(ReloadTest, StartsWithGenerationOne) {
  EXPECT_EQ(active_.snapshot->generation, 1U);
}

TEST_F(ReloadTest, AppliesAChange) {
  const auto result = reloaded(replaced(kSample, "connect: 3s", "connect: 5s"));
  ASSERT_EQ(result.status, ReloadStatus::Applied);
  EXPECT_EQ(result.snapshot->generation, 2U);
  EXPECT_EQ(result.snapshot->timers.connect, std::chrono::seconds(5));
  EXPECT_EQ(active_.snapshot->timers.connect, std::chrono::seconds(3)) << "running requests keep theirs";
  EXPECT_EQ(to_text(result), "configuration reloaded, 1 changed: timers.connect: 3s → 5s");
}

TEST_F(ReloadTest, PublishesNothingWhenNothingChanged) {
  const auto result = reloaded(std::string("# touched\n") + std::string(kSample));
  EXPECT_EQ(result.status, ReloadStatus::Unchanged);
  EXPECT_FALSE(result.next.has_value());
  EXPECT_EQ(to_text(result), "configuration unchanged");
}

TEST_F(ReloadTest, RefusesABadFileAndSaysWhy) {
  const auto result = reloaded(replaced(kSample, "connect: 3s", "conect: 5s"));
  EXPECT_EQ(result.status, ReloadStatus::Refused);
  EXPECT_FALSE(result.next.has_value());
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(to_text(result), "configuration refused, the old one stays: " + path_ +
                                 ":5:10: timers: unknown key `conect`: did you mean `connect`?");
}

TEST_F(ReloadTest, RefusesAFileThatIsGone) {
  std::filesystem::remove(path_);
  EXPECT_EQ(reload(active_, path_, test_environment(), healths_, kLoadedAt).status, ReloadStatus::Refused);
}

TEST_F(ReloadTest, RefusesAnEmptyFile) {
  EXPECT_EQ(reloaded("").status, ReloadStatus::Refused);
}

TEST_F(ReloadTest, RefusesHalfAFile) {
  // Whoever writes in place may be seen in the middle: no cut before the last required key makes a good file.
  const std::size_t models = kSample.find("models:");
  for (std::size_t cut = 1; cut < models; cut += 3) {
    EXPECT_EQ(reloaded(kSample.substr(0, cut)).status, ReloadStatus::Refused) << cut;
  }
}

TEST_F(ReloadTest, KeepsWhatNeedsARestartAndSaysSoEveryTime) {
  const auto first = reloaded(replaced(kSample, "workers: 2", "workers: 3"));
  EXPECT_EQ(first.status, ReloadStatus::Unchanged);
  EXPECT_EQ(to_text(first),
            "configuration unchanged, 1 only after a restart: workers: 2 → 3 (needs a restart)");
  const std::string both =
      replaced(replaced(kSample, "workers: 2", "workers: 3"), "connect: 3s", "connect: 5s");
  const auto second = reloaded(both);
  ASSERT_EQ(second.status, ReloadStatus::Applied);
  EXPECT_EQ(second.next->workers, 2);
  active_ = {*second.next, second.snapshot};
  EXPECT_EQ(reloaded(both).changes, (std::vector<Change>{{"workers: 2 → 3", Effect::Restart}}));
}

// Every key that the definition marks keeps its old value, whatever else is taken over.
TEST_F(ReloadTest, TheDefinitionAndTheReloadAgreeOnWhatNeedsARestart) {
  const std::string text = replaced(
      replaced(replaced(kSample, "workers: 2", "workers: 5\noutbound: {proxy: \"http://p:1\", ca_file: /x}"),
               "127.0.0.1:8081", "127.0.0.1:9"),
      "limits: {", "limits: {memory_max: 1GiB, connections_max: 9, head_max: 9KiB, ");
  const auto result = reloaded(text);
  ASSERT_EQ(result.status, ReloadStatus::Applied);
  std::size_t restarts = 0;
  for (const Change& change : result.changes) restarts += change.effect == Effect::Restart ? 1U : 0U;
  EXPECT_EQ(restarts, 7U) << "every top-level place with such keys is in this test";
  for (const Change& change : diff(active_.config, *result.next)) {
    EXPECT_EQ(change.effect, Effect::Reload) << change.what;
  }
}

TEST_F(ReloadTest, ANewCredentialRevivesItsAccount) {
  const MonotonicTime now{std::chrono::seconds(100)};
  active_.snapshot->healths[0]->account_dead().start(now + std::chrono::minutes(5));
  active_.snapshot->healths[1]->account_dead().start(now + std::chrono::minutes(5));
  const auto result = reloaded(replaced(kSample, "sk-spare", "sk-other"));
  ASSERT_EQ(result.status, ReloadStatus::Applied);
  EXPECT_TRUE(result.snapshot->healths[0]->account_dead().until(now).has_value()) << "main has its old key";
  EXPECT_FALSE(result.snapshot->healths[1]->account_dead().until(now).has_value());
}

TEST_F(ReloadTest, WhatARunningRequestHearsOfTheOldCredentialIsNotHeldAgainstTheNew) {
  const MonotonicTime now{std::chrono::seconds(100)};
  const auto result = reloaded(replaced(kSample, "sk-spare", "sk-other"));
  ASSERT_EQ(result.status, ReloadStatus::Applied);
  active_.snapshot->healths[1]->account_dead().start(now + std::chrono::minutes(5));
  EXPECT_FALSE(result.snapshot->healths[1]->account_dead().until(now).has_value());
  EXPECT_TRUE(result.snapshot->healths[1]->try_admit(now).has_value());
}

TEST_F(ReloadTest, ATargetKeepsItsHealth) {
  const auto result = reloaded(replaced(kSample, "connect: 3s", "connect: 5s"));
  ASSERT_EQ(result.status, ReloadStatus::Applied);
  EXPECT_EQ(result.snapshot->healths[0], active_.snapshot->healths[0]);
}

TEST_F(ReloadTest, ACorrectedBaseUrlIsTriedAtOnce) {
  const MonotonicTime now{std::chrono::seconds(100)};
  const auto small = [](const relay::Snapshot& snapshot) -> resilience::TargetHealth& {
    const auto found =
        std::ranges::find_if(snapshot.targets, [](const auto& target) { return target->model == "small"; });
    return *snapshot.healths[(*found)->index];
  };
  resilience::TargetHealth& before = small(*active_.snapshot);
  while (const auto admission = before.try_admit(now))
    before.record(*admission, resilience::Evidence::Failure, now);
  for (const std::string_view corrected : {"http://127.0.0.1:8001/v1", "http://127.0.0.1:8000/api/v1"}) {
    const auto result = reloaded(replaced(kSample, "http://127.0.0.1:8000/v1", corrected));
    ASSERT_EQ(result.status, ReloadStatus::Applied);
    EXPECT_TRUE(small(*result.snapshot).try_admit(now).has_value()) << corrected;
  }
  before.account_dead().start(now + std::chrono::minutes(5));
  before.cool_down().start(now + std::chrono::minutes(5));
  const auto result = reloaded(replaced(kSample, "http://127.0.0.1:8000/v1", "http://127.0.0.1:8002/v1"));
  EXPECT_TRUE(small(*result.snapshot).try_admit(now).has_value()) << "another server, another verdict";
}

// A thousand edits one after the other, some of them mistakes: the generation counts exactly the applied
// ones, the snapshot always says what the last good file said, and going back leaves no difference.
TEST_F(ReloadTest, AThousandReloadsKeepTheLastGoodFile) {
  Random random(20'261'130);
  const Config original = active_.config;
  std::uint64_t applied = 1;
  Milliseconds connect{3'000};
  std::string weight = "3";
  for (int round = 0; round < 1'000; ++round) {
    SCOPED_TRACE(round);
    const Milliseconds next_connect{static_cast<std::int64_t>(1 + random.below(50)) * 100};
    const std::string next_weight = std::to_string(1 + random.below(5));
    const bool with_key = random.below(2) == 0;
    std::string text =
        replaced(kSample, "connect: 3s", "connect: " + std::to_string(next_connect.count()) + "ms");
    text = replaced(text, "weight: 3", "weight: " + next_weight);
    if (with_key) text += "  - {name: more, hash: \"hmac-sha256:" + std::string(64, 'c') + "\"}\n";
    const bool bad = random.below(4) == 0;
    if (bad) text = replaced(text, "model: small", "model: smal");
    const auto result = reloaded(text);
    if (bad) {
      ASSERT_EQ(result.status, ReloadStatus::Refused);
      ASSERT_EQ(result.diagnostics.size(), 1U);
    } else {
      const bool differs = next_connect != connect || next_weight != weight ||
                           with_key != (active_.snapshot->keys.size() == 2);
      ASSERT_EQ(result.status, differs ? ReloadStatus::Applied : ReloadStatus::Unchanged);
      if (differs) {
        active_ = {*result.next, result.snapshot};
        ++applied;
        connect = next_connect;
        weight = next_weight;
        ASSERT_EQ(active_.snapshot->keys.size(), with_key ? 2U : 1U);
      }
    }
    ASSERT_EQ(active_.snapshot->generation, applied);
    ASSERT_EQ(active_.snapshot->timers.connect, connect);
    ASSERT_EQ(active_.snapshot->find_route("fast")->candidates[0].weight, std::stod(weight));
  }
  const auto back = reloaded(kSample);
  EXPECT_EQ(back.status, ReloadStatus::Applied);
  EXPECT_TRUE(diff(original, *back.next).empty());
}

}  // namespace
}  // namespace qq::config
