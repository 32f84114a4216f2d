#include "config/compile.h"

#include <gtest/gtest.h>

#include "config/test_config.h"

namespace qq::config {
namespace {

using testing::ElementsAre;
constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

class CompileTest : public testing::Test {
 protected:
  std::shared_ptr<const relay::Snapshot> compiled(const Config& config) {
    auto result = compile(config, healths_, 7, kNow);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return std::make_shared<relay::Snapshot>();
    }
    return *result;
  }
  resilience::HealthRegistry healths_;
};

std::vector<std::string> names(const std::vector<const model::Target*>& targets) {
  std::vector<std::string> out;
  for (const model::Target* target : targets) out.push_back(target->name);
  return out;
}

TEST_F(CompileTest, MakesOneTargetPerModelAndAccount) {
  const auto snapshot = compiled(config_of(kSample));
  std::vector<std::string> found;
  for (const auto& target : snapshot->targets) found.push_back(target->name);
  EXPECT_THAT(found, ElementsAre("cloud/main/mini", "cloud/spare/mini", "cloud/main/big", "cloud/spare/big",
                                 "own/gpu/small"));
  for (std::size_t i = 0; i < snapshot->targets.size(); ++i) EXPECT_EQ(snapshot->targets[i]->index, i);
  EXPECT_EQ(snapshot->healths.size(), snapshot->targets.size());
}

TEST_F(CompileTest, CarriesGenerationTimeTimersAndLimits) {
  const auto snapshot = compiled(config_of(kSample));
  EXPECT_EQ(snapshot->generation, 7U);
  EXPECT_EQ(snapshot->created_unix, 1'700'000'000);
  EXPECT_EQ(snapshot->timers.total, std::chrono::minutes(15));
  EXPECT_EQ(snapshot->limits.body_max, 64U << 20U);
}

TEST_F(CompileTest, ModelsThatReasonHaveTheLongerFirstLimits) {
  Config config = config_of(kSample);
  config.timers.first_byte = std::chrono::seconds(200);
  config.models.at(1).can = {"tools", "reasoning"};
  const auto snapshot = compiled(config);
  const relay::Timers& usual = snapshot->timers_of(*snapshot->targets.at(0));
  const relay::Timers& longer = snapshot->timers_of(*snapshot->targets.at(2));
  EXPECT_EQ(usual.first_content, std::chrono::seconds(60));
  EXPECT_EQ(longer.first_content, std::chrono::seconds(300));
  EXPECT_EQ(longer.first_byte, std::chrono::seconds(200)) << "never shorter than the usual one";
  EXPECT_EQ(longer.event_gap, usual.event_gap);
}

TEST_F(CompileTest, DrainingForUsageIsAHabitOfTheProvider) {
  Config config = config_of(kSample);
  config.providers.at(0).drain_for_usage = true;
  const auto snapshot = compiled(config);
  EXPECT_TRUE(snapshot->targets.front()->drain_for_usage);
  EXPECT_FALSE(snapshot->targets.back()->drain_for_usage);
}

TEST_F(CompileTest, ResolvesRoutesToTargets) {
  const auto snapshot = compiled(config_of(kSample));
  const routing::Route* route = snapshot->find_route("fast");
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->picker, routing::PickerKind::Weighted);
  ASSERT_EQ(route->candidates.size(), 2U);
  EXPECT_EQ(route->candidates[0].weight, 3.0);
  EXPECT_THAT(names(route->candidates[0].targets), ElementsAre("cloud/main/mini", "cloud/spare/mini"));
  EXPECT_THAT(names(route->candidates[1].targets), ElementsAre("own/gpu/small"));
  EXPECT_THAT(names(route->fallback.at(0).targets), ElementsAre("cloud/main/big", "cloud/spare/big"));
  EXPECT_FALSE(route->triggers.rate_limit);
  EXPECT_EQ(route->retry.max_attempts, 2);
}

TEST_F(CompileTest, EveryModelThatIsNotHiddenIsARouteOfItsOwn) {
  const auto snapshot = compiled(config_of(kSample));
  EXPECT_THAT(snapshot->public_names, ElementsAre("fast", "best", "mini", "small"));
  ASSERT_NE(snapshot->find_route("mini"), nullptr);
  EXPECT_THAT(names(snapshot->find_route("mini")->candidates.at(0).targets),
              ElementsAre("cloud/main/mini", "cloud/spare/mini"));
  EXPECT_EQ(snapshot->find_route("big"), nullptr);
}

TEST_F(CompileTest, AccountsOfALimitGroupShareTheirCoolDown) {
  const auto snapshot = compiled(config_of(kSample));
  EXPECT_EQ(&snapshot->healths[0]->cool_down(), &snapshot->healths[1]->cool_down());
  EXPECT_EQ(&snapshot->healths[0]->cool_down(), &snapshot->healths[2]->cool_down());
  EXPECT_NE(&snapshot->healths[0]->cool_down(), &snapshot->healths[4]->cool_down());
  EXPECT_NE(&snapshot->healths[0]->account_dead(), &snapshot->healths[1]->account_dead());
}

TEST_F(CompileTest, HealthOutlivesTheSnapshot) {
  const Config config = config_of(kSample);
  const auto before = compiled(config);
  const auto after = compiled(config);
  EXPECT_EQ(before->healths[3], after->healths[3]);
}

TEST_F(CompileTest, FindsConfiguredKeys) {
  auto hasher = admission::KeyHasher::make(Secret("canary-pepper-0123456789abcdef")).value();
  const std::string hash = admission::to_text(hasher.digest("my-own-key"));
  const auto snapshot = compiled(config_of(replaced(kSample, "hmac-sha256:" + std::string(64, 'a'), hash)));
  ASSERT_NE(snapshot->keys.find("my-own-key"), nullptr);
  EXPECT_EQ(snapshot->keys.find("my-own-key")->name, "demo");
  EXPECT_EQ(snapshot->keys.find("another-key"), nullptr);
}

TEST_F(CompileTest, WithoutKeysNobodyIsFound) {
  Config config = config_of(kSample);
  config.keys.clear();
  config.key_pepper = Secret();
  EXPECT_EQ(compiled(config)->keys.size(), 0U);
}

}  // namespace
}  // namespace qq::config
