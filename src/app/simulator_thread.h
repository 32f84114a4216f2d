// The simulated providers of the demo, on a loop and thread of their own.
#pragma once
#include <memory>
#include <thread>

#include "base/result.h"
#include "net/epoll_loop.h"
#include "simulator/provider/provider_simulator.h"

namespace qq::app {

class SimulatorThread {
 public:
  SimulatorThread();
  ~SimulatorThread();

  // Listens on a free port of the loopback address and runs.
  Result<net::Address> start();

 private:
  net::EpollLoop loop_;
  simulator::ProviderSimulator simulator_;
  TaskGroup tasks_;
  std::thread thread_;
};

}  // namespace qq::app
