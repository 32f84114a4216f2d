#include "telemetry/metrics/exposition.h"

#include <fmt/format.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>

#include "telemetry/record_facts.h"

namespace qq::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

ClientMetric labelled(const Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({std::string(name), std::string(value)});
  return metric;
}

class Exposition {
 public:
  explicit Exposition(std::vector<MetricFamily>& out) : out_(out) {}

  void family(std::string name, std::string help, MetricType type) {
    out_.push_back(MetricFamily{std::move(name), std::move(help), type, {}});
  }
  void counter(const Labels& labels, double value) {
    ClientMetric metric = labelled(labels);
    metric.counter.value = value;
    out_.back().metric.push_back(std::move(metric));
  }
  void gauge(const Labels& labels, double value) {
    ClientMetric metric = labelled(labels);
    metric.gauge.value = value;
    out_.back().metric.push_back(std::move(metric));
  }
  void lone_counter(std::string name, std::string help, double value) {
    family(std::move(name), std::move(help), MetricType::Counter);
    counter({}, value);
  }
  void lone_gauge(std::string name, std::string help, double value) {
    family(std::move(name), std::move(help), MetricType::Gauge);
    gauge({}, value);
  }

  // The sum of one histogram over all loops. One that never observed anything is left out.
  template <const auto& kBounds, typename Of>
  void histogram(const Labels& labels, std::span<const LoopView> loops, Of&& of) {
    ClientMetric metric = labelled(labels);
    std::uint64_t cumulative = 0;
    for (std::size_t bucket = 0; bucket <= kBounds.size(); ++bucket) {
      for (const LoopView& loop : loops)
        cumulative += static_cast<std::uint64_t>(of(*loop.metrics).count(bucket));
      const double bound = bucket < kBounds.size() ? static_cast<double>(kBounds[bucket].count()) / 1e9
                                                   : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({cumulative, bound});
    }
    metric.histogram.sample_count = cumulative;
    for (const LoopView& loop : loops)
      metric.histogram.sample_sum += static_cast<double>(of(*loop.metrics).sum_ns()) / 1e9;
    if (cumulative > 0 || labels.empty()) out_.back().metric.push_back(std::move(metric));
  }

 private:
  std::vector<MetricFamily>& out_;
};

void put_requests(Exposition& out, std::span<const LoopView> loops) {
  // Loops number their labels apart; they meet by name.
  std::map<std::tuple<std::string_view, std::uint8_t, std::uint8_t, std::uint16_t>, double> sums;
  double overflow = 0;
  for (const LoopView& loop : loops) {
    loop.metrics->requests.visit([&](std::uint64_t packed, std::int64_t value) {
      if (packed == SeriesTable::kOverflow) {
        overflow += static_cast<double>(value);
        return;
      }
      const auto key = LoopMetrics::RequestKey::unpack(packed);
      sums[{loop.metrics->routes.name(key.route), key.endpoint, key.outcome, key.status}] +=
          static_cast<double>(value);
    });
  }
  out.family("queqiao_requests_total", "Requests that ended, by how they ended.", MetricType::Counter);
  for (const auto& [key, value] : sums) {
    const auto& [route, endpoint, outcome, status] = key;
    const std::string status_text = fmt::format("{}", status);
    out.counter({{"route", route},
                 {"endpoint", endpoint_label(endpoint)},
                 {"outcome", to_string(static_cast<RequestOutcome>(outcome))},
                 {"status", status_text}},
                value);
  }
  if (overflow > 0) {
    out.counter({{"route", "_other"}, {"endpoint", "_other"}, {"outcome", "_other"}, {"status", "0"}},
                overflow);
  }
}

void put_attempts(Exposition& out, std::span<const LoopView> loops) {
  std::map<std::tuple<std::string_view, std::uint8_t, std::uint8_t>, double> sums;
  for (const LoopView& loop : loops) {
    loop.metrics->attempts.visit([&](std::uint64_t packed, std::int64_t value) {
      auto key = LoopMetrics::AttemptKey::unpack(packed);
      if (packed == SeriesTable::kOverflow)
        key = {LabelTable::kOther, static_cast<std::uint8_t>(model::Outcome::Failure), 0};
      sums[{loop.metrics->providers.name(key.provider), key.outcome, key.error}] +=
          static_cast<double>(value);
    });
  }
  out.family("queqiao_attempts_total", "Tries at providers, and targets passed over (outcome refused).",
             MetricType::Counter);
  for (const auto& [key, value] : sums) {
    const auto& [provider, outcome, error] = key;
    out.counter(
        {{"provider", provider},
         {"outcome", to_string(static_cast<model::Outcome>(outcome))},
         {"error", error == 0 ? std::string_view("none") : to_string(static_cast<ErrorKind>(error - 1))}},
        value);
  }
}

void put_histograms(Exposition& out, std::span<const LoopView> loops) {
  out.family("queqiao_overhead_seconds", "Time of a request not spent waiting for a provider.",
             MetricType::Histogram);
  out.histogram<kOverheadBounds>({}, loops, [](const LoopMetrics& m) -> const auto& { return m.overhead; });
  out.family("queqiao_ttft_seconds", "From the first byte of a request to its first content.",
             MetricType::Histogram);
  for (std::size_t slot = 0; slot < kEndpointSlots; ++slot) {
    out.histogram<kTtftBounds>({{"endpoint", endpoint_label(slot)}}, loops,
                               [slot](const LoopMetrics& m) -> const auto& { return m.ttft[slot]; });
  }
  out.family("queqiao_request_duration_seconds", "From the first byte of a request to its end.",
             MetricType::Histogram);
  for (std::size_t slot = 0; slot < kEndpointSlots; ++slot) {
    out.histogram<kDurationBounds>({{"endpoint", endpoint_label(slot)}}, loops,
                                   [slot](const LoopMetrics& m) -> const auto& { return m.duration[slot]; });
  }
}

void put_events(Exposition& out, std::span<const LoopView> loops) {
  const auto sum = [loops](auto&& of) {
    double total = 0;
    for (const LoopView& loop : loops) total += static_cast<double>(of(*loop.metrics).get());
    return total;
  };
  out.family("queqiao_fallback_total", "Moves to another target, by what made them necessary.",
             MetricType::Counter);
  for (std::size_t kind = 0; kind < kErrorKinds; ++kind) {
    const double total = sum([kind](const LoopMetrics& m) -> const auto& { return m.fallbacks[kind]; });
    if (total > 0) out.counter({{"cause", to_string(static_cast<ErrorKind>(kind))}}, total);
  }
  out.lone_counter("queqiao_stream_interrupted_total",
                   "Answers that ended with an error event after they began.",
                   sum([](const LoopMetrics& m) -> const auto& { return m.streams_interrupted; }));
  out.family("queqiao_realtime_responses_total", "Responses inside Realtime connections, by how they ended.",
             MetricType::Counter);
  for (std::size_t outcome = 0; outcome < kRequestOutcomeCount; ++outcome) {
    const double total =
        sum([outcome](const LoopMetrics& m) -> const auto& { return m.realtime_responses[outcome]; });
    if (total > 0) out.counter({{"outcome", to_string(static_cast<RequestOutcome>(outcome))}}, total);
  }
  out.family("queqiao_tokens_total", "Tokens that providers reported, in buckets that do not overlap.",
             MetricType::Counter);
  for (std::size_t kind = 0; kind < kTokenKinds.size(); ++kind) {
    out.counter({{"kind", kTokenKinds[kind]}},
                sum([kind](const LoopMetrics& m) -> const auto& { return m.tokens[kind]; }));
  }
}

void put_loops(Exposition& out, std::span<const LoopView> loops) {
  using relay::LoopCounters;
  struct Row {
    std::string_view name;
    std::string_view help;
    MetricType type;
    relay::Counter LoopCounters::* member;
  };
  static constexpr std::array kRows = {
      Row{"queqiao_connections_accepted_total", "Client connections accepted.", MetricType::Counter,
          &LoopCounters::connections_accepted},
      Row{"queqiao_connections_open", "Client connections now.", MetricType::Gauge,
          &LoopCounters::connections_open},
      Row{"queqiao_connections_refused_total", "Client connections turned away at a limit.",
          MetricType::Counter, &LoopCounters::connections_refused},
      Row{"queqiao_requests_in_flight", "Requests now.", MetricType::Gauge,
          &LoopCounters::requests_in_flight},
      Row{"queqiao_bodies_in_flight_bytes", "Memory of request bodies now.", MetricType::Gauge,
          &LoopCounters::bodies_in_flight_bytes},
      Row{"queqiao_client_received_bytes_total", "Bytes read from clients.", MetricType::Counter,
          &LoopCounters::bytes_from_clients},
      Row{"queqiao_client_sent_bytes_total", "Bytes written to clients.", MetricType::Counter,
          &LoopCounters::bytes_to_clients},
      Row{"queqiao_upstream_received_bytes_total", "Bytes read from providers.", MetricType::Counter,
          &LoopCounters::bytes_from_upstreams},
      Row{"queqiao_upstream_sent_bytes_total", "Bytes written to providers.", MetricType::Counter,
          &LoopCounters::bytes_to_upstreams},
      Row{"queqiao_upstream_connections_open", "Connections to providers now.", MetricType::Gauge,
          &LoopCounters::upstream_connections_open},
      Row{"queqiao_upstream_connections_idle", "Pooled connections without a request.", MetricType::Gauge,
          &LoopCounters::upstream_connections_idle},
      Row{"queqiao_upstream_connects_total", "Connections opened to providers.", MetricType::Counter,
          &LoopCounters::upstream_connects},
      Row{"queqiao_upstream_reuses_total", "Attempts sent on a pooled connection.", MetricType::Counter,
          &LoopCounters::upstream_reuses},
      Row{"queqiao_upstream_resends_total",
          "Requests sent once more, unseen, since the pooled connection had been closed by the provider.",
          MetricType::Counter, &LoopCounters::upstream_resends},
      Row{"queqiao_upstream_tls_handshakes_total", "TLS handshakes with providers.", MetricType::Counter,
          &LoopCounters::upstream_tls_handshakes},
      Row{"queqiao_upstream_tls_resumed_total", "TLS handshakes that resumed a session.", MetricType::Counter,
          &LoopCounters::upstream_tls_resumed},
      Row{"queqiao_retry_budget_overflows_total", "Retries not made because the budget was spent.",
          MetricType::Counter, &LoopCounters::retry_budget_overflows},
      Row{"queqiao_responses_not_kept_total",
          "Answers that were to be kept and could not be: too large, or the store failed.",
          MetricType::Counter, &LoopCounters::responses_not_kept},
  };
  for (const Row& row : kRows) {
    double total = 0;
    for (const LoopView& loop : loops) {
      if (loop.counters != nullptr) total += static_cast<double>((loop.counters->*row.member).get());
    }
    out.family(std::string(row.name), std::string(row.help), row.type);
    row.type == MetricType::Counter ? out.counter({}, total) : out.gauge({}, total);
  }
  out.family("queqiao_event_loop_lag_seconds", "Longest batch of events of the last second.",
             MetricType::Gauge);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].counters == nullptr) continue;
    const std::string number = fmt::format("{}", i);
    out.gauge({{"loop", number}}, static_cast<double>(loops[i].counters->worst_batch_ns.get()) / 1e9);
  }
}

void put_targets(Exposition& out, const ScrapeFacts& scrape) {
  constexpr std::size_t kTargetsMax = LabelTable::kMax;
  out.family("queqiao_breaker_state", "0 closed, 1 open, 2 half-open.", MetricType::Gauge);
  for (const TargetState& target : scrape.targets.first(std::min(scrape.targets.size(), kTargetsMax))) {
    out.gauge({{"target", target.name}}, static_cast<double>(target.breaker));
  }
  out.family("queqiao_breaker_opened_total", "How often a target's breaker opened.", MetricType::Counter);
  double others = 0;
  for (std::size_t i = 0; i < scrape.targets.size(); ++i) {
    const auto opened = static_cast<double>(scrape.targets[i].times_opened);
    i < kTargetsMax ? out.counter({{"target", scrape.targets[i].name}}, opened) : void(others += opened);
  }
  if (scrape.targets.size() > kTargetsMax) out.counter({{"target", "_other"}}, others);
}

void put_process(Exposition& out, const ScrapeFacts& scrape, const ProcessFacts& process) {
  out.family("queqiao_build_info", "Always 1; the labels say what runs.", MetricType::Gauge);
  out.gauge({{"version", process.version}, {"compiler", process.compiler}}, 1);
  out.lone_gauge("queqiao_config_generation", "Number of the configuration in use; grows with each reload.",
                 static_cast<double>(scrape.config_generation));
  out.lone_counter("queqiao_log_lines_dropped_total", "Log lines lost because the sink did not take them.",
                   static_cast<double>(process.log_lines_dropped));

  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  out.lone_counter("process_cpu_seconds_total", "CPU time of all threads.",
                   seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::ifstream statm("/proc/self/statm");
  double pages_virtual = 0;
  double pages_resident = 0;
  if (statm >> pages_virtual >> pages_resident) {
    out.lone_gauge("process_resident_memory_bytes", "Memory in use.",
                   pages_resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
}

}  // namespace

std::string render(std::span<const LoopView> loops, const ScrapeFacts& scrape, const ProcessFacts& process) {
  std::vector<MetricFamily> families;
  Exposition out(families);
  put_requests(out, loops);
  put_attempts(out, loops);
  put_histograms(out, loops);
  put_events(out, loops);
  put_loops(out, loops);
  put_targets(out, scrape);
  put_process(out, scrape, process);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace qq::telemetry
