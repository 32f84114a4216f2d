// The simulated providers of the demo, on a loop and thread of their own.
#pragma once
#include <future>
#include <memory>
#include <thread>

#include "base/result.h"
#include "net/epoll_loop.h"
#include "simulator/provider/provider_simulator.h"

namespace qq::app {

class SimulatorThread {
 public:
  SimulatorThread();
  // Ends the process if the simulator does not end: it may be busy with an answer of any size, and whoever
  // stops a demo wants it stopped.
  ~SimulatorThread();

  // Listens on a free port of the loopback address and runs.
  Result<net::Address> start();

 private:
  net::EpollLoop loop_;
  simulator::ProviderSimulator simulator_;
  TaskGroup tasks_;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace qq::app
