#include "resilience/circuit_breaker.h"

#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

// `now_` is moved by hand; `attempt` admits, asserts the ticket and records.
class CircuitBreakerTest : public testing::Test {
 protected:
  CircuitBreaker::Ticket admitted() {
    const auto ticket = breaker_.try_admit(now_);
    EXPECT_TRUE(ticket.has_value());
    return ticket.value_or(CircuitBreaker::Ticket{.period = 999'999});
  }
  void attempt(Evidence evidence) { breaker_.record(admitted(), evidence, now_); }
  void open_it() {
    attempt(Evidence::Failure);
    attempt(Evidence::Failure);
    ASSERT_EQ(breaker_.state(), CircuitState::Open);
  }

  MonotonicTime now_{1000s};
  CircuitBreaker breaker_{{.failures_to_open = 2, .open_for = 10s, .open_for_max = 35s, .trial = 0s}};
};

// The same with a trial that is longer than the first open period.
class BreakerTrialTest : public CircuitBreakerTest {
 protected:
  BreakerTrialTest() {
    breaker_ = CircuitBreaker({.failures_to_open = 2, .open_for = 10s, .open_for_max = 35s, .trial = 30s});
    open_it();
  }
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARow) {
  attempt(Evidence::Failure);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
  attempt(Evidence::Failure);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  EXPECT_EQ(breaker_.open_until(), now_ + 10s);
  EXPECT_FALSE(breaker_.try_admit(now_));
}

TEST_F(CircuitBreakerTest, ASuccessBetweenFailuresStartsTheCountAgain) {
  for (int i = 0; i < 10; ++i) {
    attempt(Evidence::Failure);
    attempt(Evidence::Success);
  }
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(CircuitBreakerTest, AnAbandonedAttemptNeitherCountsNorForgives) {
  attempt(Evidence::Failure);
  for (int i = 0; i < 10; ++i) attempt(Evidence::None);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
  attempt(Evidence::Failure);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
}

TEST_F(CircuitBreakerTest, StaysOpenToTheLastInstantAndThenAdmitsOneProbe) {
  open_it();
  now_ += 10s - 1ns;
  EXPECT_FALSE(breaker_.try_admit(now_));
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  now_ += 1ns;
  EXPECT_TRUE(admitted().probe);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  EXPECT_EQ(breaker_.open_until(), std::nullopt);
  EXPECT_FALSE(breaker_.try_admit(now_)) << "one probe at a time";
}

TEST_F(CircuitBreakerTest, AGoodProbeCloses) {
  open_it();
  now_ += 10s;
  attempt(Evidence::Success);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
  EXPECT_FALSE(admitted().probe);
}

TEST_F(CircuitBreakerTest, EachFailedProbeDoublesTheOpenPeriodUpToItsMaximum) {
  open_it();
  for (const auto period : {10s, 20s, 35s, 35s}) {
    EXPECT_EQ(breaker_.open_until(), now_ + period);
    now_ += period;
    attempt(Evidence::Failure);
    EXPECT_EQ(breaker_.state(), CircuitState::Open);
  }
}

TEST_F(CircuitBreakerTest, ClosingResetsTheOpenPeriod) {
  open_it();
  now_ += 10s;
  attempt(Evidence::Failure);
  now_ += 20s;
  attempt(Evidence::Success);
  open_it();
  EXPECT_EQ(breaker_.open_until(), now_ + 10s);
}

TEST_F(CircuitBreakerTest, AnAbandonedProbeFreesItsPlace) {
  open_it();
  now_ += 10s;
  attempt(Evidence::None);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  EXPECT_TRUE(admitted().probe);
}

TEST_F(CircuitBreakerTest, LateAnswerFromBeforeOpeningDoesNotCloseIt) {
  const auto slow = admitted();
  open_it();
  breaker_.record(slow, Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  now_ += 10s;
  const auto probe = admitted();
  breaker_.record(slow, Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen) << "only the probe may close it";
  breaker_.record(probe, Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(CircuitBreakerTest, LateFailureFromBeforeOpeningDoesNotReopenIt) {
  const auto slow1 = admitted();
  const auto slow2 = admitted();
  open_it();
  now_ += 10s;
  const auto probe = admitted();
  breaker_.record(slow1, Evidence::Failure, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  breaker_.record(probe, Evidence::Success, now_);
  breaker_.record(slow1, Evidence::Failure, now_);
  breaker_.record(slow2, Evidence::Failure, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
  EXPECT_EQ(breaker_.failures_in_a_row(), 0);
}

TEST_F(CircuitBreakerTest, LateAbandonedAttemptDoesNotFreeTheProbesPlace) {
  const auto slow = admitted();
  open_it();
  now_ += 10s;
  std::ignore = admitted();
  breaker_.record(slow, Evidence::None, now_);
  EXPECT_FALSE(breaker_.try_admit(now_));
}

TEST_F(CircuitBreakerTest, ALostProbeIsReplacedAndItsLateAnswerIgnored) {
  open_it();
  now_ += 10s;
  const auto lost = admitted();
  now_ += 35s - 1ns;
  EXPECT_FALSE(breaker_.try_admit(now_));
  now_ += 1ns;
  const auto next = admitted();
  EXPECT_TRUE(next.probe);
  breaker_.record(lost, Evidence::Failure, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  breaker_.record(next, Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(CircuitBreakerTest, AForcedSuccessClosesAnOpenBreaker) {
  open_it();
  now_ += 1s;
  breaker_.record(breaker_.force(), Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(CircuitBreakerTest, ForcedFailuresDoNotProlongTheOpenPeriod) {
  open_it();
  const auto until = breaker_.open_until();
  for (int i = 0; i < 10; ++i) {
    now_ += 500ms;
    breaker_.record(breaker_.force(), Evidence::Failure, now_);
  }
  EXPECT_EQ(breaker_.open_until(), until);
}

TEST_F(CircuitBreakerTest, AForcedFailureLeavesTheDecisionToTheRunningProbe) {
  open_it();
  now_ += 10s;
  const auto probe = admitted();
  breaker_.record(breaker_.force(), Evidence::Failure, now_);
  breaker_.record(breaker_.force(), Evidence::None, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  EXPECT_FALSE(breaker_.try_admit(now_));
  breaker_.record(probe, Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(CircuitBreakerTest, WouldRefuseForetellsTryAdmitInEveryState) {
  EXPECT_FALSE(breaker_.would_refuse(now_));
  open_it();
  EXPECT_TRUE(breaker_.would_refuse(now_));
  now_ += 10s;
  EXPECT_FALSE(breaker_.would_refuse(now_));
  EXPECT_EQ(breaker_.state(), CircuitState::Open) << "asking changes nothing";
  std::ignore = admitted();
  EXPECT_TRUE(breaker_.would_refuse(now_));
  now_ += 35s;
  EXPECT_FALSE(breaker_.would_refuse(now_));
}

TEST_F(BreakerTrialTest, GoodProbesGoOneByOneUntilTheTrialIsOver) {
  now_ += 10s;
  for (int i = 0; i < 20; ++i) {
    const auto probe = admitted();
    EXPECT_TRUE(probe.probe);
    EXPECT_FALSE(breaker_.try_admit(now_)) << "one at a time";
    breaker_.record(probe, Evidence::Success, now_);
    EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
    now_ += 1s;
  }
  attempt(Evidence::Success);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(BreakerTrialTest, AFailureOnTrialOpensItForTwiceAsLong) {
  now_ += 10s;
  attempt(Evidence::Success);
  now_ += 5s;
  attempt(Evidence::Failure);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  EXPECT_EQ(breaker_.open_until(), now_ + 20s);
}

TEST_F(BreakerTrialTest, AForcedSuccessBeginsTheTrial) {
  now_ += 1s;
  breaker_.record(breaker_.force(), Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::HalfOpen);
  EXPECT_TRUE(admitted().probe);
  now_ += 29s;
  breaker_.record(breaker_.force(), Evidence::Success, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Closed);
}

TEST_F(BreakerTrialTest, ALateFailureOfAGoodProbeEndsTheTrial) {
  now_ += 10s;
  const auto probe = admitted();
  breaker_.record(probe, Evidence::Success, now_);
  now_ += 1s;
  std::ignore = admitted();
  breaker_.record_late_failure(probe, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  EXPECT_EQ(breaker_.open_until(), now_ + 20s);
}

TEST_F(CircuitBreakerTest, ALateFailureOfAGoodProbeCountsInTheClosedBreaker) {
  open_it();
  now_ += 10s;
  const auto probe = admitted();
  breaker_.record(probe, Evidence::Success, now_);
  ASSERT_EQ(breaker_.state(), CircuitState::Closed);
  breaker_.record_late_failure(probe, now_);
  EXPECT_EQ(breaker_.failures_in_a_row(), 1);
  breaker_.record_late_failure(probe, now_);
  EXPECT_EQ(breaker_.state(), CircuitState::Open);
  const auto until = breaker_.open_until();
  breaker_.record_late_failure(probe, now_ + 1s);
  EXPECT_EQ(breaker_.open_until(), until) << "an open breaker knows already";
}

// Every rhythm of up and down, with a request every 100 ms: a closed breaker opens at most once in a trial.
TEST(CircuitBreakerFlap, AClosedBreakerOpensAtMostOnceInThirtySeconds) {
  for (const auto up : {2s, 7s, 10s, 14s, 16s, 29s, 31s}) {
    for (const auto down : {1s, 5s, 10s, 15s, 20s}) {
      CircuitBreaker breaker{CircuitBreakerConfig{}};
      std::optional<MonotonicTime> opened;
      for (MonotonicTime now{1000s}; now < MonotonicTime{4600s}; now += 100ms) {
        const bool is_up = (now - MonotonicTime{1000s}) % (up + down) < up;
        const CircuitState before = breaker.state();
        if (const auto ticket = breaker.try_admit(now)) {
          breaker.record(*ticket, is_up ? Evidence::Success : Evidence::Failure, now);
        }
        if (before != CircuitState::Closed || breaker.state() != CircuitState::Open) continue;
        if (opened) EXPECT_GE(now - *opened, 30s) << up.count() << " up, " << down.count() << " down";
        opened = now;
      }
    }
  }
}

// Every state, every kind of ticket, every evidence: where it leads.
TEST(CircuitBreakerTable, EveryTransition) {
  enum class Kind { Ordinary, Probe, Forced, Late };
  using enum CircuitState;
  struct Case {
    CircuitState from;
    Kind ticket;
    Evidence evidence;
    CircuitState to;
  };
  const std::vector<Case> cases{
      {Closed, Kind::Ordinary, Evidence::Success, Closed},
      {Closed, Kind::Ordinary, Evidence::Failure, Open},
      {Closed, Kind::Ordinary, Evidence::None, Closed},
      {Closed, Kind::Forced, Evidence::Failure, Open},
      {Closed, Kind::Late, Evidence::Success, Closed},
      {Closed, Kind::Late, Evidence::Failure, Closed},
      {Closed, Kind::Late, Evidence::None, Closed},
      {Open, Kind::Forced, Evidence::Success, Closed},
      {Open, Kind::Forced, Evidence::Failure, Open},
      {Open, Kind::Forced, Evidence::None, Open},
      {Open, Kind::Late, Evidence::Success, Open},
      {Open, Kind::Late, Evidence::Failure, Open},
      {Open, Kind::Late, Evidence::None, Open},
      {HalfOpen, Kind::Probe, Evidence::Success, Closed},
      {HalfOpen, Kind::Probe, Evidence::Failure, Open},
      {HalfOpen, Kind::Probe, Evidence::None, HalfOpen},
      {HalfOpen, Kind::Forced, Evidence::Success, Closed},
      {HalfOpen, Kind::Forced, Evidence::Failure, HalfOpen},
      {HalfOpen, Kind::Forced, Evidence::None, HalfOpen},
      {HalfOpen, Kind::Late, Evidence::Success, HalfOpen},
      {HalfOpen, Kind::Late, Evidence::Failure, HalfOpen},
      {HalfOpen, Kind::Late, Evidence::None, HalfOpen},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    MonotonicTime now{1000s};
    CircuitBreaker breaker({.failures_to_open = 1, .open_for = 10s, .open_for_max = 40s, .trial = 0s});
    const auto late = *breaker.try_admit(now);
    auto ticket = late;
    // Once round the circle makes the first ticket late even when the breaker is closed again.
    breaker.record(*breaker.try_admit(now), Evidence::Failure, now);
    now += 10s;
    breaker.record(*breaker.try_admit(now), Evidence::Success, now);
    if (c.from != Closed) breaker.record(*breaker.try_admit(now), Evidence::Failure, now);
    if (c.from == HalfOpen) {
      now += 10s;
      ticket = *breaker.try_admit(now);
    } else if (c.from == Closed) {
      ticket = *breaker.try_admit(now);
    }
    ASSERT_EQ(breaker.state(), c.from) << "case " << i;
    if (c.ticket == Kind::Late) ticket = late;
    if (c.ticket == Kind::Forced) ticket = breaker.force();
    breaker.record(ticket, c.evidence, now);
    EXPECT_EQ(breaker.state(), c.to) << "case " << i;
  }
}

}  // namespace
}  // namespace qq::resilience
