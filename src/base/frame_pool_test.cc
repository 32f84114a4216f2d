#include "base/frame_pool.h"

#include <set>
#include <thread>
#include <vector>

namespace qq::detail {
namespace {

TEST(FramePool, BlocksOfEverySizeHoldWhatTheyPromise) {
  for (std::size_t size = 1; size <= 5000; size += 7) {
    void* block = FramePool::allocate(size);
    std::memset(block, 0x5a, size);
    FramePool::release(block, size);
  }
}

TEST(FramePool, NoBlockIsGivenOutTwice) {
  for (int round = 0; round < 3; ++round) {
    std::set<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.insert(FramePool::allocate(1000));
    EXPECT_EQ(blocks.size(), 200U);
    for (void* block : blocks) FramePool::release(block, 1000);
  }
}

#if !defined(QQ_SANITIZED)
TEST(FramePool, AReleasedBlockServesTheNextFrameOfItsSize) {
  void* first = FramePool::allocate(1500);
  FramePool::release(first, 1500);
  void* second = FramePool::allocate(1490);
  EXPECT_EQ(first, second);
  FramePool::release(second, 1490);
}
#endif

TEST(FramePool, ABlockMayEndOnAnotherThread) {
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 10; ++i) blocks.push_back(FramePool::allocate(300));
  }).join();
  for (void* block : blocks) FramePool::release(block, 300);
}

}  // namespace
}  // namespace qq::detail
