#include "app/simulator_thread.h"

#include <cstdlib>

namespace qq::app {
namespace {

constexpr std::chrono::seconds kPatience{2};

simulator::SimulatorOptions demo_options() {
  simulator::SimulatorOptions options;
  options.requests_kept = 0;
  return options;
}

Task<void> shut_down_and_stop(simulator::ProviderSimulator& simulator, net::EventLoop& loop) {
  co_await simulator.shut_down();
  loop.stop();
}

}  // namespace

SimulatorThread::SimulatorThread() : simulator_(loop_, demo_options()) {}

SimulatorThread::~SimulatorThread() {
  if (!thread_.joinable()) return;
  loop_.post([this] { tasks_.spawn(shut_down_and_stop(simulator_, loop_)); });
  if (ended_.get_future().wait_for(kPatience) != std::future_status::ready) std::_Exit(0);
  thread_.join();
}

Result<net::Address> SimulatorThread::start() {
  QQ_TRY(const net::Address address, net::Address::parse("127.0.0.1:0"));
  QQ_CHECK(simulator_.listen(address));
  thread_ = std::thread([this] {
    loop_.run();
    ended_.set_value();
  });
  return simulator_.local();
}

}  // namespace qq::app
