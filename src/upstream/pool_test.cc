#include "upstream/pool.h"

#include "net/simulated_loop.h"

namespace qq::upstream {
namespace {

using namespace std::chrono_literals;

class PoolTest : public ::testing::Test {
 protected:
  // A connection that was used and is idle from now on; a second passes.
  void give_back(std::string_view origin) {
    auto [mine, theirs] = loop_.make_pair();
    counters_.upstream_connections_open.add();
    peers_.push_back(std::move(theirs));
    pool_.give_back(origin, std::move(mine));
    loop_.run_for(1s);
  }
  int idle_at(std::string_view origin) {
    int idle = 0;
    for (auto stream = pool_.take(origin); stream != nullptr; stream = pool_.take(origin)) {
      counters_.upstream_connections_open.add(-1);
      ++idle;
    }
    return idle;
  }
  void expect_counted(std::int64_t count) {
    EXPECT_EQ(counters_.upstream_connections_idle.get(), count);
    EXPECT_EQ(counters_.upstream_connections_open.get(), count);
  }

  net::SimulatedLoop loop_;
  relay::LoopCounters counters_;
  std::vector<std::unique_ptr<net::Stream>> peers_;
  Pool pool_{loop_, counters_, {.idle_max_count = 4}};
};

TEST_F(PoolTest, DropsTheOldestOfWhateverOrigin) {
  give_back("a");
  give_back("b");
  give_back("a");
  EXPECT_TRUE(pool_.drop_oldest(2));
  expect_counted(1);
  EXPECT_EQ(idle_at("b"), 0);
  EXPECT_EQ(idle_at("a"), 1);
  expect_counted(0);
}

TEST_F(PoolTest, DropsWhatThereIs) {
  EXPECT_FALSE(pool_.drop_oldest(16));
  give_back("a");
  give_back("b");
  EXPECT_TRUE(pool_.drop_oldest(16));
  EXPECT_FALSE(pool_.drop_oldest(16));
  expect_counted(0);
}

TEST_F(PoolTest, KeepsNoMoreThanItsLimitOfAllOriginsAndTheNewestOfThose) {
  for (const std::string_view origin : {"a", "a", "b", "b", "c", "c"}) give_back(origin);
  expect_counted(4);
  EXPECT_EQ(idle_at("a"), 0);
  EXPECT_EQ(idle_at("b"), 2);
  EXPECT_EQ(idle_at("c"), 2);
  expect_counted(0);
}

TEST_F(PoolTest, CountsWhatAgesOutAndWhatIsCleared) {
  for (const std::string_view origin : {"a", "b", "b"}) give_back(origin);
  loop_.run_for(53s);
  expect_counted(1);
  for (int i = 0; i < 3; ++i) give_back("c");
  expect_counted(3);
  pool_.clear();
  expect_counted(0);
  EXPECT_FALSE(pool_.drop_oldest(1));
}

TEST_F(PoolTest, ForgetsOriginsThatHaveNoneLeft) {
  for (int i = 0; i < 100; ++i) {
    const std::string origin = "host-" + std::to_string(i);
    give_back(origin);
    EXPECT_EQ(idle_at(origin), 1);
  }
  give_back("a");
  loop_.run_for(2s);
  EXPECT_EQ(pool_.origins(), 1U);
  loop_.run_for(60s);
  EXPECT_EQ(pool_.origins(), 0U);
  give_back("a");
  EXPECT_EQ(idle_at("a"), 1);
}

}  // namespace
}  // namespace qq::upstream
