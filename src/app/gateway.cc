#include "app/gateway.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "app/descriptor_reserve.h"
#include "app/memory_watch.h"
#include "app/reload_log.h"
#include "app/worker.h"
#include "config/compile.h"
#include "config/tls_files.h"
#include "net/descriptor_limit.h"
#include "relay/media_fetch.h"
#include "storage/open_holdings.h"
#include "storage/open_responses.h"

namespace qq::app {

Gateway::Gateway(config::Config config, Options options)
    : active_{std::move(config), nullptr}, telemetry_(std::move(options.telemetry)) {}

Result<std::unique_ptr<Gateway>> Gateway::start(config::Config config, Options options) {
  const int loops = config.workers != 0 ? config.workers
                                        : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.telemetry.loops = loops;
  std::unique_ptr<Gateway> gateway(new Gateway(std::move(config), std::move(options)));
  QQ_CHECK(gateway->build(loops));
  return gateway;
}

Result<> Gateway::build(int loops) {
  map_large_blocks();
  const config::Config& config = active_.config;
  const std::size_t descriptors = net::raise_descriptor_limit();
  const auto shares = static_cast<std::size_t>(loops);
  std::size_t connections_max = config.limits.connections_max;
  if (connections_max == 0) {
    const bool has_operators = std::ranges::any_of(
        config.listeners, [](const downstream::ListenerConfig& listener) { return !listener.serve_api; });
    connections_max = connections_within(descriptors, shares, config.listeners.size(),
                                         has_operators ? downstream::kOperatorConnectionsMax : 0);
  }
  // Rounded up: a share of zero would mean no limit.
  shared_.connections_per_loop_max = (connections_max + shares - 1) / shares;
  memory_max_ = config.limits.memory_max != 0 ? config.limits.memory_max : available_memory();

  QQ_TRY(active_.snapshot, config::compile(config, healths_, 1, std::chrono::system_clock::now()));
  if (const auto mistakes = config::tls_file_mistakes(config); !mistakes.empty()) {
    return fail(Error::gateway(ErrorKind::Config, fmt::format("{}", fmt::join(mistakes, "; "))));
  }
  for (const downstream::ListenerConfig& listener : config.listeners) {
    downstream::Listening listening{listener, nullptr};
    if (listener.tls) {
      net::TlsServerOptions tls;
      tls.certificate_file = listener.tls->certificate;
      tls.key_file = listener.tls->key;
      QQ_TRY(listening.tls, net::TlsServerContext::make(tls));
    }
    shared_.listeners.push_back(std::move(listening));
  }
  shared_.render_metrics = [this] { return render_metrics(); };

  const auto report = [this](std::string_view what) {
    telemetry_.log_event(telemetry::Level::Error, "the store of responses failed", {{"error", what}});
  };
  const auto report_holdings = [this](std::string_view what) {
    telemetry_.log_event(telemetry::Level::Error, "the store of files and batches failed", {{"error", what}});
  };
  const WallTime now = std::chrono::system_clock::now();
  QQ_TRY(responses_, storage::open_responses(config.responses, now, report));
  QQ_TRY(holdings_, storage::open_holdings(config.holdings, now, report_holdings));
  net::TlsClientOptions tls;
  tls.ca_file = config.outbound_ca_file;
  QQ_TRY(auto tls_client, net::TlsClientContext::make(tls));
  // Pictures are fetched by https, also where the engine that wants them is asked by http.
  const bool speaks_tls = std::ranges::any_of(active_.snapshot->targets, [](const auto& target) {
    return target->origin.tls || relay::may_need_media(*target);
  });
  if (speaks_tls) tls_client->load_trust_store();
  for (int i = 0; i < loops; ++i) {
    workers_.push_back(std::make_unique<Worker>(telemetry_.observer(i), process_, shared_, active_.snapshot,
                                                tls_client, config.outbound_proxy, responses_.get(),
                                                holdings_.get()));
    telemetry_.attach(i, &workers_.back()->counters());
  }
  // Sockets are opened before any thread runs: the loops' own thread rule holds for all of them still.
  for (auto& worker : workers_) {
    QQ_CHECK(worker->server().listen(worker == workers_.front() ? nullptr : &workers_.front()->server()));
  }
  addresses_ = workers_.front()->server().local_addresses();
  workers_.front()->sweep_stores();
  for (auto& worker : workers_) worker->run_in_thread();
  log_missing_keys(telemetry_, config);
  return {};
}

Gateway::~Gateway() {
  if (!workers_ended()) begin_drain(Milliseconds{0});
  join();
  telemetry_.stop();
}

config::ReloadResult Gateway::reload(const std::string& path, const config::Environment& environment) {
  config::ReloadResult result =
      config::reload(active_, path, environment, healths_, std::chrono::system_clock::now());
  if (result.next) {
    for (auto& worker : workers_) worker->publish(result.snapshot);
    const std::lock_guard lock(snapshot_mutex_);
    active_ = config::Active{*result.next, result.snapshot};
  }
  log_reload(telemetry_, result);
  return result;
}

void Gateway::watch_memory() {
  std::size_t used = resident_memory();
  const MonotonicTime now = std::chrono::steady_clock::now();
  if (memory_relief_.is_due(now, used, memory_max_)) {
    const std::size_t before = used;
    give_back_freed_memory();
    used = resident_memory();
    memory_relief_.given_back(now, before, used);
  }
  const int step = memory_step(used, memory_max_);
  const int before = process_.memory_step.exchange(step, std::memory_order_relaxed);
  if (step != before) {
    telemetry_.log_event(step > before ? telemetry::Level::Warn : telemetry::Level::Info,
                         "memory step changed",
                         {{"step", std::int64_t{step}},
                          {"resident_bytes", static_cast<std::int64_t>(used)},
                          {"memory_max_bytes", static_cast<std::int64_t>(memory_max_)}});
  }
}

void Gateway::begin_drain(Milliseconds drain_time) {
  process_.draining.store(true, std::memory_order_relaxed);
  for (auto& worker : workers_) worker->begin_drain(drain_time);
}

void Gateway::cut_drain_short() {
  for (auto& worker : workers_) worker->cut_drain_short();
}

bool Gateway::workers_ended() const noexcept {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->ended(); });
}

void Gateway::join() {
  for (auto& worker : workers_) worker->join();
}

std::string Gateway::render_metrics() {
  std::shared_ptr<const relay::Snapshot> snapshot;
  {
    const std::lock_guard lock(snapshot_mutex_);
    snapshot = active_.snapshot;
  }
  std::vector<telemetry::TargetState> targets;
  for (const auto& target : snapshot->targets) {
    const auto& health = *snapshot->healths[target->index];
    targets.push_back({target->name, health.state(), health.times_opened()});
  }
  telemetry::ScrapeFacts facts;
  facts.config_generation = snapshot->generation;
  facts.targets = targets;
  return telemetry_.render_metrics(facts);
}

}  // namespace qq::app
