#include "storage/sweeper.h"

#include <gtest/gtest.h>

#include "net/simulated_loop.h"
#include "storage/memory/memory_response_store.h"
#include "storage/store_test_support.h"

namespace qq::storage {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

TEST(Sweeper, FreesWhatRanOutAndNothingElse) {
  net::SimulatedLoop loop;
  MemoryResponseStore store(roomy());
  const auto put = [&](int number) -> Task<Result<>> {
    return store.put({loop, "anna", loop.wall_now(), within(loop)}, answer("resp_" + std::to_string(number)));
  };
  net::Cancellation stop(loop);
  TaskGroup group;
  std::vector<std::optional<Result<>>> put_results(300);
  // More than one step's worth runs out at one moment, then one more an hour later.
  for (int i = 0; i < 299; ++i) group.spawn(keep_result(put(i), put_results[static_cast<std::size_t>(i)]));
  loop.after(1h, [&] { group.spawn(keep_result(put(299), put_results[299])); });
  group.spawn(sweep(loop, store, stop));

  std::optional<Result<std::size_t>> left_at_the_ttl;
  loop.after(roomy().ttl + kSweepEvery + 5 * kSweepPause, [&] {
    // Asked as of an hour later, so that it finds what should be left.
    group.spawn(keep_result(store.remove_expired({loop, "", loop.wall_now() + 1h, within(loop)}, 1'000),
                            left_at_the_ttl));
    stop.cancel(ErrorKind::ShuttingDown);
  });
  loop.run();
  EXPECT_EQ(group.running(), 0U) << "it ends when it is told";
  ASSERT_TRUE(left_at_the_ttl && *left_at_the_ttl);
  EXPECT_EQ(**left_at_the_ttl, 1U);
}

}  // namespace
}  // namespace qq::storage
