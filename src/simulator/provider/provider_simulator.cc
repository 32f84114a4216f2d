#include "simulator/provider/provider_simulator.h"

#include "simulator/provider/connection.h"

namespace qq::simulator {

ProviderSimulator::ProviderSimulator(net::EventLoop& loop, SimulatorOptions options)
    : loop_(loop),
      options_(std::move(options)),
      scenario_(std::move(options_.scenario)),
      statistics_(options_.requests_kept, options_.request_body_kept) {
  statistics_.reset(loop_.now());
}

ProviderSimulator::~ProviderSimulator() = default;

Result<> ProviderSimulator::listen(const net::Address& address) {
  net::ListenOptions options;
  options.address = address;
  QQ_TRY(listener_, loop_.listen(options, [this](net::AcceptedSocket socket) { accept(std::move(socket)); }));
  return {};
}

net::Address ProviderSimulator::local() const {
  return listener_ ? listener_->local() : net::Address();
}

Result<> ProviderSimulator::listen_extra(const net::Address& address) {
  extra_address_ = address;
  QQ_CHECK(open_extra());
  extra_address_ = extra_->local();  // the same port again when it is reopened
  return {};
}

Result<> ProviderSimulator::open_extra() {
  if (extra_ || !has_extra()) return {};
  net::ListenOptions options;
  options.address = extra_address_;
  QQ_TRY(extra_, loop_.listen(options, [this](net::AcceptedSocket socket) { accept(std::move(socket)); }));
  return {};
}

void ProviderSimulator::accept(net::AcceptedSocket socket) {
  if (stopping_) return;
  tasks_.spawn(serve(loop_.adopt(std::move(socket))));
}

Task<void> ProviderSimulator::serve(std::unique_ptr<net::Stream> stream) {
  Connection connection(*this, std::move(stream));
  connections_.insert(&connection);
  co_await connection.run();
  connections_.erase(&connection);
}

void ProviderSimulator::stop() noexcept {
  stopping_ = true;
  listener_.reset();
  extra_.reset();
  for (Connection* connection : connections_) connection->cancel();
}

Task<void> ProviderSimulator::shut_down() {
  stop();
  co_await tasks_.joined();
}

void ProviderSimulator::reset() {
  scenario_.restart();
  statistics_.reset(loop_.now());
  held_.clear();
}

}  // namespace qq::simulator
