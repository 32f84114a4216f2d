#include "app/descriptor_reserve.h"

#include <filesystem>
#include <memory>
#include <vector>

#include "net/epoll_loop.h"

namespace qq::app {
namespace {

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(DescriptorReserve, GrowsWithTheLoops) {
  EXPECT_LE(reserved_descriptors(2, 1), 100U);
  for (const std::size_t loops : {1, 16, 64, 256}) {
    EXPECT_GE(reserved_descriptors(loops + 1, 1), reserved_descriptors(loops, 1) + 10) << loops;
    EXPECT_EQ(reserved_descriptors(loops, 3), reserved_descriptors(loops, 1) + 2 * (loops + 1));
  }
}

TEST(DescriptorReserve, IsLeftByTheConnections) {
  for (const std::size_t loops : {1, 4, 40, 64}) {
    const std::size_t connections = connections_within(1024, loops, 2);
    EXPECT_LE(2 * connections + reserved_descriptors(loops, 2), 1024U) << loops;
    EXPECT_GE(connections, loops);
  }
  EXPECT_EQ(connections_within(1024, 4, 2, 16), connections_within(1024, 4, 2) - 8)
      << "operators have theirs";
  EXPECT_EQ(connections_within(reserved_descriptors(4, 1) + 1, 4, 1), 4U) << "none would mean no limit";
  EXPECT_EQ(connections_within(64, 1, 1), 0U) << "too few to keep any back";
  EXPECT_EQ(connections_within(0, 4, 1), 0U);
}

// What loops open before anybody connects fits with room for name servers and for who is turned away.
TEST(DescriptorReserve, HoldsLoopsThatListen) {
  constexpr std::size_t kLoops = 48;
  constexpr std::size_t kOthers = kLoops * 6 + kLoops;
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<net::EpollLoop>> loops;
  std::vector<std::unique_ptr<net::Listener>> listeners;
  net::ListenOptions options;
  options.address = net::Address::parse("127.0.0.1:0").value();
  for (std::size_t i = 0; i < kLoops; ++i) {
    loops.push_back(std::make_unique<net::EpollLoop>());
    auto listener = i == 0 ? loops.back()->listen(options, [](net::AcceptedSocket) {})
                           : loops.back()->share(*listeners.front(), [](net::AcceptedSocket) {});
    ASSERT_TRUE(listener.has_value());
    listeners.push_back(*std::move(listener));
  }
  EXPECT_LE(open_descriptors() - before + kOthers, reserved_descriptors(kLoops, 1));
  EXPECT_GE(open_descriptors() - before, 3 * kLoops);
}

}  // namespace
}  // namespace qq::app
