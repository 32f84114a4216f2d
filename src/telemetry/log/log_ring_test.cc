#include "telemetry/log/log_ring.h"

#include <string>
#include <thread>

namespace qq::telemetry {
namespace {

std::string take_all(LogRing& ring) {
  const auto pieces = ring.peek();
  std::string text(pieces[0]);
  text += pieces[1];
  ring.consume(text.size());
  return text;
}

TEST(LogRing, HandsOverLinesInOrderAcrossTheWrap) {
  LogRing ring(16);
  for (int i = 0; i < 50; ++i) {
    const std::string line = "line" + std::to_string(i) + "\n";
    ASSERT_TRUE(ring.push(line));
    ASSERT_EQ(take_all(ring), line);
  }
}

TEST(LogRing, DropsAndCountsWhatDoesNotFit) {
  LogRing ring(16);
  EXPECT_TRUE(ring.push("0123456789abcde\n"));
  EXPECT_FALSE(ring.push("x\n"));
  EXPECT_EQ(ring.dropped(), 1U);
  EXPECT_EQ(take_all(ring), "0123456789abcde\n");
  EXPECT_TRUE(ring.push("x\n"));
  EXPECT_EQ(ring.dropped(), 1U);
}

TEST(LogRing, LosesNothingBetweenTwoThreads) {
  LogRing ring(64);
  constexpr int kLines = 20'000;
  std::thread producer([&ring] {
    for (int i = 0; i < kLines; ++i) {
      const std::string line = std::to_string(i) + "\n";
      while (!ring.push(line)) std::this_thread::yield();
    }
  });
  std::string received;
  std::string expected;
  for (int i = 0; i < kLines; ++i) expected += std::to_string(i) + "\n";
  while (received.size() < expected.size()) {
    const std::string more = take_all(ring);
    if (more.empty()) std::this_thread::yield();
    received += more;
  }
  producer.join();
  EXPECT_EQ(received, expected);
}

}  // namespace
}  // namespace qq::telemetry
