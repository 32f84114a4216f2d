#include "storage/sweeper.h"

#include <string>

namespace qq::storage {
namespace {

template <typename Store>
Task<void> sweep_store(net::EventLoop& loop, Store& store, net::Cancellation& stop) {
  for (;;) {
    const relay::StoreCall call(loop, std::string(), loop.wall_now(), net::Scope{kNever, &stop});
    const auto removed = co_await store.remove_expired(call, kSweepStep);
    const bool more = removed && *removed == kSweepStep;
    std::chrono::milliseconds pause = kSweepEvery;
    if (more) pause = kSweepPause;
    const net::Scope until{loop.now() + pause, &stop};
    const net::Wake wake = co_await net::sleep(loop, until);
    if (wake == net::Wake::Cancelled) co_return;
  }
}

}  // namespace

Task<void> sweep(net::EventLoop& loop, relay::ResponseStore& store, net::Cancellation& stop) {
  return sweep_store(loop, store, stop);
}

Task<void> sweep(net::EventLoop& loop, relay::HoldingStore& store, net::Cancellation& stop) {
  return sweep_store(loop, store, stop);
}

}  // namespace qq::storage
