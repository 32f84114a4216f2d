// Runs tests on each event loop there is. For tests only.
//
//   class StreamContract : public testing::OnEachLoop {};
//   INSTANTIATE_TEST_SUITE_P(Loops, StreamContract, testing::loop_kinds(), testing::loop_name);
//   TEST_P(StreamContract, ...) { run_task(loop_, ...); }
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "net/epoll_loop.h"
#include "net/simulated_loop.h"

namespace qq::net::testing {

struct LoopKind {
  const char* name;
  std::unique_ptr<EventLoop> (*make)();
};

class OnEachLoop : public ::testing::TestWithParam<LoopKind> {
 protected:
  std::unique_ptr<EventLoop> owner_ = GetParam().make();
  EventLoop& loop_ = *owner_;
};

inline auto loop_kinds() {
  return ::testing::Values(
      LoopKind{"Epoll", [] { return std::unique_ptr<EventLoop>(new EpollLoop()); }},
      LoopKind{"Simulated", [] { return std::unique_ptr<EventLoop>(new SimulatedLoop()); }});
}

inline std::string loop_name(const ::testing::TestParamInfo<LoopKind>& info) {
  return info.param.name;
}

}  // namespace qq::net::testing
