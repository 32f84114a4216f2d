#include "net/relaxed_events.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "net/epoll_loop.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// Something that becomes readable when told to.
struct Source final : PollTarget {
  explicit Source(Poller& poller) : poller(poller) { EXPECT_EQ(poller.add(fd, kEvents, *this, token), 0); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    poller.forget(token);
    ::close(fd);
  }
  void on_events(std::uint32_t events) noexcept override { told += (events & EPOLLIN) != 0 ? 1 : 0; }
  void happen() const { EXPECT_EQ(eventfd_write(fd, 1), 0); }

  static constexpr std::uint32_t kEvents = EPOLLIN | EPOLLET;
  Poller& poller;
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  Poller::Token token;
  int told = 0;
};

class RelaxedEventsTest : public ::testing::Test {
 protected:
  // One round of a loop at `now_`; whether the kernel would have woken it.
  bool round() {
    const int events = poller_.wait(0ns);
    poller_.dispatch(events);
    relaxed_.look(now_);
    return events > 0;
  }
  void relax(Source& source) { relaxed_.set_relaxed(source.token, Source::kEvents, true); }

  Poller poller_;
  RelaxedEvents relaxed_{poller_};
  MonotonicTime now_{1h};
};

TEST_F(RelaxedEventsTest, WhatComesSinglyIsToldAtOnce) {
  Source source(poller_);
  relax(source);
  for (int i = 1; i <= 5; ++i, now_ += 20ms) {
    source.happen();
    EXPECT_TRUE(round());
    EXPECT_EQ(source.told, i);
    EXPECT_EQ(relaxed_.due(), kNever);
    EXPECT_FALSE(round());
  }
}

TEST_F(RelaxedEventsTest, WhatComesCloselyIsToldTogetherAndSoon) {
  Source a(poller_);
  Source b(poller_);
  relax(a);
  relax(b);
  a.happen();
  b.happen();
  EXPECT_TRUE(round());
  EXPECT_EQ(relaxed_.due(), now_ + RelaxedEvents::kInterval);
  now_ += RelaxedEvents::kInterval / 2;
  a.happen();
  b.happen();
  EXPECT_FALSE(round());  // nobody is woken for these
  EXPECT_EQ(a.told + b.told, 2);
  now_ += RelaxedEvents::kInterval / 2;
  EXPECT_FALSE(round());  // the loop looks by itself
  EXPECT_EQ(a.told + b.told, 4);
  // Nothing came for an interval: events wake again.
  now_ += RelaxedEvents::kInterval;
  EXPECT_FALSE(round());
  EXPECT_EQ(relaxed_.due(), kNever);
  now_ += 20ms;
  a.happen();
  EXPECT_TRUE(round());
  EXPECT_EQ(a.told, 3);
}

TEST_F(RelaxedEventsTest, WhatIsNotRelaxedIsToldAtOnceAllTheSame) {
  Source a(poller_);
  Source b(poller_);
  Source prompt(poller_);
  relax(a);
  relax(b);
  a.happen();
  b.happen();
  round();
  ASSERT_NE(relaxed_.due(), kNever);
  a.happen();
  prompt.happen();
  EXPECT_TRUE(round());
  EXPECT_EQ(prompt.told, 1);
  EXPECT_EQ(a.told, 1);
}

TEST_F(RelaxedEventsTest, NothingIsLostOnTheWayInAndOut) {
  Source source(poller_);
  for (int i = 0; i < 10; ++i) {
    const int before = source.told;
    source.happen();  // and nobody looks
    relaxed_.set_relaxed(source.token, Source::kEvents, i % 2 == 0);
    now_ += 20ms;
    round();
    EXPECT_GT(source.told, before) << i;
  }
}

TEST_F(RelaxedEventsTest, ADestroyedSourceIsToldNothing) {
  auto source = std::make_unique<Source>(poller_);
  relax(*source);
  source->happen();
  source.reset();
  round();
  now_ += 20ms;
  Source next(poller_);  // gets the same descriptor
  round();
  EXPECT_EQ(next.told, 0);
}

Task<void> keep_sending(EventLoop& loop, Stream& stream, int times, int& sent) {
  for (int i = 0; i < times; ++i) {
    EXPECT_EQ(write_now(stream, "0123456789").status, IoStatus::Done);
    sent += 10;
    EXPECT_EQ(co_await time_passes(loop, within(loop, 1ms)), Wake::Deadline);
  }
  stream.shutdown_write();
}

Task<void> keep_reading(EventLoop& loop, Stream& stream, std::size_t& got) {
  stream.set_relaxed(true);
  for (;;) {
    const IoTry read = stream.try_read(loop.scratch());
    if (read.status == IoStatus::Done) {
      got += read.bytes;
      stream.set_relaxed(got % 20 == 0);
    } else if (read.status == IoStatus::WouldBlock) {
      EXPECT_EQ(co_await stream.readable(patiently(loop)), Wake::Ready);
    } else {
      EXPECT_EQ(read.status, IoStatus::Closed);
      co_return;
    }
  }
}

Task<void> many_that_flow(EpollLoop& loop) {
  std::vector<StreamPair> pairs;
  for (int i = 0; i < 50; ++i) pairs.push_back(co_await connected_pair(loop));
  int sent = 0;
  std::size_t got = 0;
  TaskGroup tasks;
  for (StreamPair& pair : pairs) {
    tasks.spawn(keep_sending(loop, *pair.client, 20, sent));
    tasks.spawn(keep_reading(loop, *pair.server, got));
  }
  co_await tasks.joined();
  EXPECT_EQ(got, static_cast<std::size_t>(sent));
}
TEST(RelaxedStreams, CarryEveryByteAndTheEnd) {
  EpollLoop loop;
  run_task(loop, many_that_flow(loop));
}

}  // namespace
}  // namespace qq::net
