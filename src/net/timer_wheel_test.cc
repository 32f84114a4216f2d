#include "net/timer_wheel.h"

#include "base/random.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;

const MonotonicTime kStart{1'000'000h};

struct Probe : Timer {
  Probe() : Timer([](Timer& timer) noexcept { static_cast<Probe&>(timer).fired(); }) {}
  void fired() {
    ++count;
    at = *clock;
    if (then) then();
  }
  int count = 0;
  MonotonicTime at{};
  const MonotonicTime* clock = nullptr;
  std::function<void()> then;
};

class TimerWheelTest : public ::testing::Test {
 protected:
  std::unique_ptr<Probe> probe() {
    auto made = std::make_unique<Probe>();
    made->clock = &now_;
    return made;
  }
  // Moves the time as a loop does: from one appointment to the next.
  void run_until(MonotonicTime end) {
    while (wheel_.next() <= end) {
      now_ = std::max(now_, wheel_.next());
      wheel_.advance(now_);
      ++steps_;
    }
    now_ = end;
    wheel_.advance(now_);
  }
  MonotonicTime now_ = kStart;
  TimerWheel wheel_{kStart};
  int steps_ = 0;
};

TEST_F(TimerWheelTest, AnEmptyWheelHasNothingToDo) {
  EXPECT_EQ(wheel_.next(), kNever);
  wheel_.advance(kStart + 1000h);
  EXPECT_EQ(wheel_.next(), kNever);
}

TEST_F(TimerWheelTest, FiresOnceWithinAMillisecondAfterItsTime) {
  for (const auto delay : {0ns, 1ns, 999'999ns, 1'000'000ns, 63'500'000ns, 64'000'000ns, 4'096'000'001ns}) {
    const auto timer = probe();
    const MonotonicTime when = now_ + delay;
    wheel_.arm(*timer, when);
    run_until(when + 2ms);
    EXPECT_EQ(timer->count, 1) << delay.count();
    EXPECT_GE(timer->at, when) << delay.count();
    EXPECT_LT(timer->at, when + 1ms) << delay.count();
  }
}

TEST_F(TimerWheelTest, AFarTimerCostsFewSteps) {
  const auto timer = probe();
  wheel_.arm(*timer, kStart + 24h);
  run_until(kStart + 25h);
  EXPECT_EQ(timer->count, 1);
  EXPECT_LE(steps_, 6) << "one step a level";
}

TEST_F(TimerWheelTest, DisarmedTimersDoNotFireAndLeaveNoAppointment) {
  const auto timer = probe();
  wheel_.arm(*timer, kStart + 5ms);
  wheel_.disarm(*timer);
  EXPECT_FALSE(timer->armed());
  EXPECT_EQ(wheel_.next(), kNever);
  run_until(kStart + 10ms);
  EXPECT_EQ(timer->count, 0);
}

TEST_F(TimerWheelTest, RearmingMovesTheTimer) {
  const auto timer = probe();
  wheel_.arm(*timer, kStart + 5ms);
  wheel_.arm(*timer, kStart + 50ms);
  run_until(kStart + 49ms);
  EXPECT_EQ(timer->count, 0);
  run_until(kStart + 51ms);
  EXPECT_EQ(timer->count, 1);
}

TEST_F(TimerWheelTest, ATimerThatRearmsItselfForThePastDoesNotHangTheWheel) {
  const auto timer = probe();
  timer->then = [&] { wheel_.arm(*timer, kStart); };
  wheel_.arm(*timer, kStart);
  now_ = kStart + 10ms;
  wheel_.advance(now_);
  EXPECT_LE(timer->count, 12);
  wheel_.disarm(*timer);
}

TEST_F(TimerWheelTest, ATimerMayDisarmAnotherOfTheSameTick) {
  const auto first = probe();
  const auto second = probe();
  first->then = [&] { wheel_.disarm(*second); };
  wheel_.arm(*first, kStart + 3ms);
  wheel_.arm(*second, kStart + 3ms);
  run_until(kStart + 5ms);
  EXPECT_EQ(first->count, 1);
  EXPECT_EQ(second->count, 0);
}

TEST_F(TimerWheelTest, TenThousandRandomTimersFireInOrderAndInTime) {
  Random random(42);
  struct Planned {
    std::unique_ptr<Probe> timer;
    MonotonicTime when;
  };
  std::vector<Planned> planned;
  MonotonicTime last{};
  for (int i = 0; i < 10'000; ++i) {
    // Spread over all magnitudes from microseconds to days.
    const auto when =
        kStart + std::chrono::nanoseconds(random.below(std::uint64_t{1} << (10 + random.below(38))));
    planned.push_back({probe(), when});
    Probe* const self = planned.back().timer.get();
    self->then = [&last, self] {
      EXPECT_GE(self->at, last);
      last = self->at;
    };
    wheel_.arm(*self, when);
    if (i % 5 == 0) wheel_.disarm(*self);
  }
  run_until(kStart + 240h);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const Planned& plan = planned[i];
    ASSERT_EQ(plan.timer->count, i % 5 == 0 ? 0 : 1) << i;
    if (plan.timer->count == 0) continue;
    ASSERT_GE(plan.timer->at, plan.when) << "early: " << i;
    ASSERT_LT(plan.timer->at, plan.when + 1ms) << "late: " << i;
  }
}

}  // namespace
}  // namespace qq::net
