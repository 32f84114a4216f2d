#include "app/worker.h"

#include "storage/sweeper.h"

namespace qq::app {
namespace {

constexpr Milliseconds kLagSample{1'000};

}  // namespace

Worker::Worker(relay::RequestObserver& observer, relay::ProcessState& process,
               downstream::Server::Shared& shared, std::shared_ptr<const relay::Snapshot> snapshot,
               std::shared_ptr<net::TlsClientContext> tls, relay::OutboundProxy proxy,
               relay::ResponseStore* responses, relay::HoldingStore* holdings)
    : upstream_(loop_, counters_, std::move(tls), std::move(proxy)),
      authorizer_(loop_, upstream_),
      polling_(loop_, upstream_, authorizer_),
      services_{loop_,
                polling_,
                observer,
                counters_,
                process,
                std::move(snapshot),
                Random(secure_random_seed()),
                responses,
                holdings},
      server_(services_, shared),
      ending_(loop_) {
  services_.authorizer = &authorizer_;
  loop_.when_short_of_descriptors([this] { return upstream_.drop_some_idle(); });
}

Worker::~Worker() {
  join();
}

void Worker::run_in_thread() {
  ended_.store(false, std::memory_order_relaxed);
  thread_ = std::thread([this] {
    tasks_.spawn(sample_lag(*this));
    loop_.run();
    ended_.store(true, std::memory_order_release);
  });
}

void Worker::sweep_stores() {
  if (services_.responses != nullptr) tasks_.spawn(storage::sweep(loop_, *services_.responses, ending_));
  if (services_.holdings != nullptr) tasks_.spawn(storage::sweep(loop_, *services_.holdings, ending_));
}

void Worker::publish(std::shared_ptr<const relay::Snapshot> snapshot) {
  loop_.post([this, next = std::move(snapshot)]() mutable { services_.snapshot = std::move(next); });
}

void Worker::begin_drain(Milliseconds drain_time) {
  loop_.post([this, drain_time] { tasks_.spawn(drain_then_stop(*this, drain_time)); });
}

void Worker::cut_drain_short() {
  loop_.post([this] { server_.cut_drain_short(); });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

Task<void> Worker::drain_then_stop(Worker& worker, Milliseconds drain_time) {
  co_await worker.server_.drain(drain_time);
  co_await worker.polling_.close();
  co_await worker.authorizer_.close();
  worker.upstream_.close_idle();
  worker.ending_.cancel(ErrorKind::ShuttingDown);
  worker.loop_.stop();
}

Task<void> Worker::sample_lag(Worker& worker) {
  for (;;) {
    const net::Scope scope{worker.loop_.now() + kLagSample, &worker.ending_};
    const net::Wake wake = co_await net::sleep(worker.loop_, scope);
    if (wake == net::Wake::Cancelled) co_return;
    worker.counters_.worst_batch_ns.set(worker.loop_.take_worst_batch().count());
  }
}

}  // namespace qq::app
