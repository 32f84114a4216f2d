#include "downstream/accept_spread.h"

#include <gtest/gtest.h>

#include "net/simulated_loop.h"

namespace qq::downstream {
namespace {

class AcceptSpreadTest : public ::testing::Test {
 protected:
  AcceptSpreadTest() {
    spread_.add_loop(here_, [this](net::AcceptedSocket, std::size_t) { ++served_here_; });
    spread_.add_loop(there_, [this](net::AcceptedSocket, std::size_t) { ++served_there_; });
  }
  // Accepted on the first loop.
  void accept() {
    spread_.accepted(0,
                     net::AcceptedSocket(7, net::Address::parse("127.0.0.1:1").value(), this,
                                         [](void* self, int) noexcept {
                                           ++static_cast<AcceptSpreadTest*>(self)->sockets_closed_;
                                         }),
                     0);
  }
  // Its `run` returns, and from then on it takes no posts.
  static void stop(net::SimulatedLoop& loop) {
    loop.stop();
    loop.run();
  }
  AcceptSpread spread_;
  net::SimulatedLoop here_;
  net::SimulatedLoop there_;
  int served_here_ = 0;
  int served_there_ = 0;
  int sockets_closed_ = 0;  // also by the serving functions above, which drop theirs
};

TEST_F(AcceptSpreadTest, TheLoopWithTheFewestGetsTheNext) {
  accept();
  accept();
  there_.run();
  EXPECT_EQ(served_here_, 1);
  EXPECT_EQ(served_there_, 1);
  EXPECT_EQ(spread_.open(), 2);
  spread_.closed(1);
  accept();
  there_.run();
  EXPECT_EQ(served_there_, 2);
}

TEST_F(AcceptSpreadTest, ASocketForALoopThatHasStoppedIsClosedAndNotCounted) {
  accept();
  stop(there_);
  accept();
  EXPECT_EQ(served_there_, 0);
  EXPECT_EQ(sockets_closed_, 2);
  EXPECT_EQ(spread_.open(), 1);
}

TEST_F(AcceptSpreadTest, WhatIsOnItsWayToALoopThatStopsIsClosedAndNotCounted) {
  accept();
  accept();
  EXPECT_EQ(sockets_closed_, 1);
  EXPECT_EQ(spread_.open(), 2);
  stop(there_);
  EXPECT_EQ(served_there_, 0);
  EXPECT_EQ(sockets_closed_, 2);
  EXPECT_EQ(spread_.open(), 1);
}

TEST_F(AcceptSpreadTest, ALoopThatHasLeftGetsNoMore) {
  spread_.leave(1);
  accept();
  accept();
  EXPECT_EQ(served_here_, 2);
}

TEST_F(AcceptSpreadTest, IsQuietWhenEachLoopIs) {
  EXPECT_FALSE(spread_.all_quiet()) << "nobody has said so";
  spread_.note_quiet(0, true);
  EXPECT_FALSE(spread_.all_quiet());
  spread_.note_quiet(1, true);
  EXPECT_TRUE(spread_.all_quiet());
  spread_.note_quiet(0, false);
  EXPECT_FALSE(spread_.all_quiet());
}

}  // namespace
}  // namespace qq::downstream
