// Tests of recordings: skipped where there are none, and none is left out unnoticed.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "recordings/recordings.h"

namespace qq::recordings {

// Of each stream, the places at which it is split are this far apart: a prime, so that all places in a line
// get their turn, and larger where each run is slow.
#ifdef QQ_SANITIZED
inline constexpr std::size_t kSplitStride = 61;
#else
inline constexpr std::size_t kSplitStride = 7;
#endif

class RecordingsTest : public ::testing::Test {
 protected:
  // For SetUp: puts those that are `wanted` into `all_`, which are `count`.
  void load(std::size_t count, const std::function<bool(const Recording&)>& wanted) {
    const auto from = folder();
    if (!from) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    for (Recording& recording : load_all(*from)) {
      if (wanted(recording)) all_.push_back(std::move(recording));
    }
    ASSERT_EQ(all_.size(), count);
  }

  std::vector<Recording> all_;
};

}  // namespace qq::recordings
