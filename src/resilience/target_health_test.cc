#include "resilience/target_health.h"

#include <array>
#include <thread>
#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

Error failure(ErrorKind kind, std::optional<Milliseconds> retry_after = {}, std::uint16_t status = 0) {
  Error error = Error::upstream(kind, AttemptPhase::ReplyBegun, "");
  error.retry_after = retry_after;
  error.upstream_status = status;
  return error;
}

class TargetHealthTest : public testing::Test {
 protected:
  void attempt(Evidence evidence) {
    const auto admission = health_.try_admit(now_);
    ASSERT_TRUE(admission);
    health_.record(*admission, evidence, now_);
  }
  void open_breaker() {
    for (int i = 0; i < 5; ++i) attempt(Evidence::Failure);
    ASSERT_EQ(health_.state(), CircuitState::Open);
  }

  MonotonicTime now_{1000s};
  Random random_{5};
  std::shared_ptr<CoolDown> group_ = std::make_shared<CoolDown>();
  std::shared_ptr<CoolDown> account_ = std::make_shared<CoolDown>();
  TargetHealth health_{CircuitBreakerConfig{}, group_, account_};
  TargetHealth sibling_{CircuitBreakerConfig{}, group_, account_};
};

TEST(CoolDown, ALongerOneReplacesAShorterAndNeverTheReverse) {
  CoolDown cool_down;
  const MonotonicTime now{1000s};
  EXPECT_EQ(cool_down.until(now), std::nullopt);
  cool_down.start(now + 1s);
  cool_down.start(now + 60s);
  cool_down.start(now + 2s);
  EXPECT_EQ(cool_down.until(now), now + 60s);
  EXPECT_EQ(cool_down.until(now + 60s), std::nullopt) << "it ends at its end";
}

TEST(CoolDown, ClearingEndsItAtOnce) {
  CoolDown cool_down;
  const MonotonicTime now{1000s};
  cool_down.start(now + 60s);
  cool_down.clear();
  EXPECT_EQ(cool_down.until(now), std::nullopt);
  cool_down.start(now + 1s);
  EXPECT_EQ(cool_down.until(now), now + 1s);
}

TEST(CoolDown, ThrottlesThatArriveDuringOneCoolDownAreOneEvent) {
  CoolDown cool_down;
  const MonotonicTime now{1000s};
  EXPECT_EQ(cool_down.count_throttle(now), 0);
  cool_down.start(now + 1s);
  EXPECT_EQ(cool_down.count_throttle(now), 0);
  EXPECT_EQ(cool_down.count_throttle(now), 0);
  EXPECT_EQ(cool_down.count_throttle(now + 1s), 1);
  cool_down.forget_throttles();
  EXPECT_EQ(cool_down.count_throttle(now + 1s), 0);
}

TEST_F(TargetHealthTest, FiveFailuresInARowOpenItForFifteenSeconds) {
  open_breaker();
  EXPECT_FALSE(health_.try_admit(now_));
  EXPECT_EQ(health_.available_at(now_), now_ + 15s);
  EXPECT_EQ(health_.times_opened(), 1U);
  now_ += 15s;
  EXPECT_EQ(health_.available_at(now_), std::nullopt);
  attempt(Evidence::Success);
  EXPECT_EQ(health_.state(), CircuitState::HalfOpen) << "on trial";
  now_ += 15s;
  attempt(Evidence::Success);
  EXPECT_EQ(health_.state(), CircuitState::Closed);
}

TEST_F(TargetHealthTest, ALateFailureAfterAnEarlyRecordIsCounted) {
  for (int i = 0; i < 5; ++i) {
    const auto admission = health_.try_admit(now_);
    ASSERT_TRUE(admission);
    health_.record_late_failure(*admission, now_);
  }
  EXPECT_EQ(health_.state(), CircuitState::Open);
  EXPECT_FALSE(health_.try_admit(now_));
}

TEST_F(TargetHealthTest, ASuccessForgivesTheFailuresBeforeIt) {
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) attempt(Evidence::Failure);
    attempt(Evidence::Success);
  }
  EXPECT_EQ(health_.state(), CircuitState::Closed);
}

TEST_F(TargetHealthTest, AFailedProbeCountsAsAnotherOpening) {
  open_breaker();
  now_ += 15s;
  attempt(Evidence::Failure);
  EXPECT_EQ(health_.state(), CircuitState::Open);
  EXPECT_EQ(health_.available_at(now_), now_ + 30s);
  EXPECT_EQ(health_.times_opened(), 2U);
}

TEST_F(TargetHealthTest, ALateAnswerOfTheOldPeriodChangesNothing) {
  const auto slow = health_.try_admit(now_);
  open_breaker();
  health_.record(*slow, Evidence::Success, now_);
  EXPECT_EQ(health_.state(), CircuitState::Open);
  now_ += 30s;
  attempt(Evidence::Success);
  for (int i = 0; i < 10; ++i) health_.record(*slow, Evidence::Failure, now_);
  EXPECT_EQ(health_.state(), CircuitState::Closed);
}

TEST_F(TargetHealthTest, ARunningProbeRefusesWithoutATimeToComeBack) {
  open_breaker();
  now_ += 15s;
  const auto probe = health_.try_admit(now_);
  ASSERT_TRUE(probe);
  EXPECT_FALSE(health_.try_admit(now_));
  EXPECT_EQ(health_.available_at(now_), std::nullopt);
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::Breaker);
  health_.record(*probe, Evidence::None, now_);
  EXPECT_TRUE(health_.try_admit(now_)) << "the abandoned probe's place is free";
}

TEST_F(TargetHealthTest, A429CoolsTheWholeLimitGroupDownAndFeedsNoBreaker) {
  for (int i = 0; i < 20; ++i) {
    attempt(Evidence::None);
    health_.note_failure(failure(ErrorKind::RateLimited, 20s, 429), now_, random_);
    EXPECT_FALSE(health_.try_admit(now_));
    EXPECT_FALSE(sibling_.try_admit(now_));
    EXPECT_EQ(sibling_.available_at(now_), now_ + 20s);
    now_ += 20s;
  }
  EXPECT_EQ(health_.state(), CircuitState::Closed);
  EXPECT_TRUE(sibling_.try_admit(now_));
}

TEST_F(TargetHealthTest, ASecondLonger429ExtendsTheCoolDown) {
  health_.note_failure(failure(ErrorKind::RateLimited, 1s, 429), now_, random_);
  health_.note_failure(failure(ErrorKind::RateLimited, 60s, 429), now_, random_);
  health_.note_failure(failure(ErrorKind::RateLimited, 2s, 429), now_, random_);
  EXPECT_EQ(health_.available_at(now_), now_ + 60s);
}

TEST_F(TargetHealthTest, AnOverloadCoolsThisTargetOnly) {
  health_.note_failure(failure(ErrorKind::Overloaded, 3s, 529), now_, random_);
  EXPECT_FALSE(health_.try_admit(now_));
  EXPECT_EQ(health_.available_at(now_), now_ + 3s);
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::CoolDown);
  EXPECT_TRUE(sibling_.try_admit(now_));
}

TEST_F(TargetHealthTest, ADeadCredentialBarsTheAccountForFiveMinutes) {
  health_.note_failure(failure(ErrorKind::CredentialDead, std::nullopt, 401), now_, random_);
  EXPECT_FALSE(sibling_.try_admit(now_));
  EXPECT_EQ(sibling_.available_at(now_), now_ + 5min);
  EXPECT_EQ(sibling_.standing(now_).barrier, Barrier::DeadCredential);
  now_ += 5min;
  EXPECT_TRUE(sibling_.try_admit(now_));
}

TEST_F(TargetHealthTest, OtherFailuresCoolNothingDown) {
  health_.note_failure(failure(ErrorKind::ServerError, 60s, 500), now_, random_);
  health_.note_failure(Error::gateway(ErrorKind::NoTarget, ""), now_, random_);
  EXPECT_TRUE(health_.try_admit(now_));
}

TEST_F(TargetHealthTest, AvailableAtIsTheLatestOfAllBars) {
  open_breaker();
  group_->start(now_ + 1s);
  EXPECT_EQ(health_.available_at(now_), now_ + 15s);
  account_->start(now_ + 40s);
  EXPECT_EQ(health_.available_at(now_), now_ + 40s);
  group_->start(now_ + 50s);
  EXPECT_EQ(health_.available_at(now_), now_ + 50s);
}

TEST_F(TargetHealthTest, TheStrongestBarIsTheOneThatStands) {
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::None);
  open_breaker();
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::Breaker);
  EXPECT_EQ(health_.standing(now_).ends_at, now_ + 15s);
  group_->start(now_ + 1s);
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::CoolDown);
  EXPECT_EQ(health_.standing(now_).ends_at, now_ + 1s);
  account_->start(now_ + 1s);
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::DeadCredential);
  now_ += 15s;
  EXPECT_EQ(health_.standing(now_).barrier, Barrier::None) << "a probe may go";
  EXPECT_EQ(health_.state(), CircuitState::Open) << "asking starts no probe";
}

TEST_F(TargetHealthTest, AForcedSuccessBeginsTheTrialForEverybody) {
  open_breaker();
  ASSERT_FALSE(health_.try_admit(now_));
  health_.record(health_.force_admit(), Evidence::Success, now_);
  EXPECT_EQ(health_.state(), CircuitState::HalfOpen);
  EXPECT_TRUE(health_.try_admit(now_));
}

TEST_F(TargetHealthTest, AnotherLoopsSlightlyOlderClockDoesNotMoveTimeBack) {
  for (int i = 0; i < 4; ++i) attempt(Evidence::Failure);
  const auto fifth = health_.try_admit(now_);
  const auto other = health_.try_admit(now_);
  health_.record(*other, Evidence::None, now_);
  health_.record(*fifth, Evidence::Failure, now_);
  const auto until = health_.available_at(now_);
  now_ += 15s;
  const auto probe = health_.try_admit(now_);
  ASSERT_TRUE(probe);
  health_.record(*probe, Evidence::Failure, now_ - 5s);
  EXPECT_EQ(health_.available_at(now_), *until + 30s);
}

TEST_F(TargetHealthTest, TwoThreadsSeeOneBreaker) {
  // Each round both threads fail until the breaker opens, then race for the probe's single place. Run under
  // ThreadSanitizer this also shows that the lock-free path is free of races.
  for (int round = 0; round < 200; ++round) {
    TargetHealth health{CircuitBreakerConfig{}, group_, account_};
    std::array<int, 2> failures{};
    std::array<int, 2> probes{};
    const auto work = [&](std::size_t me) {
      while (const auto admission = health.try_admit(now_)) {
        std::ignore = health.available_at(now_);
        health.record(*admission, Evidence::Failure, now_);
        ++failures[me];
      }
      const auto later = now_ + 15s;
      const auto probe = health.try_admit(later);
      if (probe) ++probes[me];
      std::ignore = health.standing(later);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    EXPECT_GE(failures[0] + failures[1], 5);
    EXPECT_LE(failures[0] + failures[1], 6) << "one attempt at most was in flight when it opened";
    EXPECT_EQ(probes[0] + probes[1], 1);
    EXPECT_EQ(health.times_opened(), 1U);
  }
}

TEST_F(TargetHealthTest, TwoThreadsNeverShortenACoolDown) {
  const auto work = [&](std::chrono::milliseconds step) {
    for (int i = 1; i <= 20'000; ++i) {
      group_->start(now_ + i * step);
      EXPECT_GE(*group_->until(now_), now_ + i * step);
    }
  };
  std::thread other(work, 3ms);
  work(2ms);
  other.join();
  EXPECT_EQ(group_->until(now_), now_ + 60s);
}

TEST_F(TargetHealthTest, TwoThreadsOfMixedResultsEndClosedAfterASuccess) {
  const auto work = [&](std::uint64_t seed) {
    Random random(seed);
    auto now = now_;
    for (int i = 0; i < 5'000; ++i) {
      now += 1s;
      const auto admission = health_.try_admit(now);
      if (!admission) continue;
      const auto draw = random.below(3);
      health_.record(*admission,
                     draw == 0   ? Evidence::Success
                     : draw == 1 ? Evidence::Failure
                                 : Evidence::None,
                     now);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  now_ += 10'000s;
  attempt(Evidence::Success);
  EXPECT_EQ(health_.state(), CircuitState::Closed);
}

model::Target target(std::string name, std::string account, std::string group) {
  model::Target made;
  made.name = std::move(name);
  made.account_name = std::move(account);
  made.limit_group_name = std::move(group);
  return made;
}

TEST(HealthRegistry, KeepsATargetsHealthAcrossReloads) {
  HealthRegistry registry;
  const MonotonicTime now{1000s};
  const auto first = registry.of(target("p/a/m", "p/a", "p/a"));
  for (int i = 0; i < 5; ++i) first->record(*first->try_admit(now), Evidence::Failure, now);
  EXPECT_EQ(registry.of(target("p/a/m", "p/a", "p/a")), first);
  EXPECT_FALSE(registry.of(target("p/a/m", "p/a", "p/a"))->try_admit(now));
}

TEST(HealthRegistry, TargetsShareTheCoolDownsOfTheirGroupAndAccountOnly) {
  HealthRegistry registry;
  const auto a_m = registry.of(target("p/a/m", "p/a", "p/org"));
  const auto a_n = registry.of(target("p/a/n", "p/a", "p/org"));
  const auto b_m = registry.of(target("p/b/m", "p/b", "p/org"));
  const auto c_m = registry.of(target("p/c/m", "p/c", "p/c"));
  EXPECT_NE(a_m, a_n);
  EXPECT_EQ(&a_m->cool_down(), &b_m->cool_down());
  EXPECT_NE(&a_m->cool_down(), &c_m->cool_down());
  EXPECT_EQ(&a_m->account_dead(), &a_n->account_dead());
  EXPECT_NE(&a_m->account_dead(), &b_m->account_dead());
  EXPECT_NE(&c_m->account_dead(), &c_m->cool_down()) << "an account without a group lends it its name";
}

TEST(HealthRegistry, ANewCredentialIsAnotherAccountOfTheSameGroup) {
  HealthRegistry registry;
  const auto with = [](std::string name, std::string credential) {
    model::Target made = target(std::move(name), "p/a", "p/a");
    made.auth_header_lines = Secret(std::move(credential));
    return made;
  };
  const auto before = registry.of(with("p/a/m", "old"));
  const auto after = registry.of(with("p/a/m", "new"));
  EXPECT_NE(&after->account_dead(), &before->account_dead());
  EXPECT_EQ(&after->cool_down(), &before->cool_down());
  EXPECT_EQ(registry.of(with("p/a/m", "new")), after);
  EXPECT_EQ(&registry.of(with("p/a/n", "new"))->account_dead(), &after->account_dead());
  EXPECT_EQ(&registry.of(with("p/a/n", "old"))->account_dead(), &before->account_dead());
}

TEST(HealthRegistry, ATargetMovedToAnotherLimitGroupFollowsThatGroup) {
  HealthRegistry registry;
  const auto before = registry.of(target("p/a/m", "p/a", "p/x"));
  const auto after = registry.of(target("p/a/m", "p/a", "p/y"));
  EXPECT_NE(&after->cool_down(), &before->cool_down());
  EXPECT_EQ(&after->account_dead(), &before->account_dead());
}

}  // namespace
}  // namespace qq::resilience
