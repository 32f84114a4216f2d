// qq_load: a load generator that costs about 4 us a request, and prints one JSON line. See --help.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>

#include "load/clock.h"
#include "load/generator.h"
#include "load/options.h"

namespace qq::bench {
namespace {

// The p-quantile in microseconds, or 0 of nothing.
double quantile_us(std::vector<std::int64_t>& values, double p) {
  if (values.empty()) return 0;
  const auto rank =
      std::min(values.size() - 1, static_cast<std::size_t>(p * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(values, at);
  return static_cast<double>(*at) / 1000;
}

double share(double total, std::uint64_t count) {
  return count == 0 ? 0 : total / static_cast<double>(count);
}

void print_quantiles(const char* name, std::vector<std::int64_t>& values) {
  std::printf(",\"%sp50_us\":%.1f,\"%sp95_us\":%.1f,\"%sp99_us\":%.1f", name, quantile_us(values, 0.5), name,
              quantile_us(values, 0.95), name, quantile_us(values, 0.99));
}

// Error texts come from the other side: only plain characters go into our line.
std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; }, '\'');
  return text;
}

void print(const Options& options, Results& results) {
  const double cpu_us = static_cast<double>(results.cpu) / 1000;
  std::printf("{\"seconds\":%.3f,\"requests\":%" PRIu64 ",\"rps\":%.1f", results.seconds, results.requests,
              results.seconds > 0 ? static_cast<double>(results.requests) / results.seconds : 0);
  print_quantiles("", results.latencies);
  std::printf(",\"errors\":%" PRIu64 ",\"open\":%" PRIu64, results.errors, results.open);
  if (options.stream) {
    std::printf(",\"events\":%" PRIu64 ",\"deltas\":%zu,\"events_per_second\":%.1f", results.events,
                results.delays.size(),
                results.seconds > 0 ? static_cast<double>(results.events) / results.seconds : 0);
    print_quantiles("first_event_", results.first_events);
    print_quantiles("delay_", results.delays);
  }
  if (options.pid != 0) {
    std::printf(
        ",\"cpu_us\":%.0f,\"cpu_us_per_request\":%.3f,\"cpu_us_per_event\":%.3f,\"cpu_us_per_delta\":%.3f,"
        "\"cpu_share\":%.3f",
        cpu_us, share(cpu_us, results.requests), share(cpu_us, results.events),
        share(cpu_us, results.delays.size()), results.seconds > 0 ? cpu_us / results.seconds / 1e6 : 0);
    std::printf(",\"rss_before_kib\":%" PRId64 ",\"rss_end_kib\":%" PRId64, results.resident_before_kib,
                results.resident_end_kib);
  }
  std::printf(",\"first_error\":\"%s\"}\n", printable(results.first_error).c_str());
}

// Prints the Unix time in microseconds of the first accepted connection.
int wait_for_port(const Options& options) {
  const std::int64_t give_up = now_ns() + options.duration;
  while (now_ns() < give_up) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(options.port);
    const bool connected = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (connected) {
      timespec t{};
      clock_gettime(CLOCK_REALTIME, &t);
      std::printf("%" PRId64 "\n", static_cast<std::int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000);
      return 0;
    }
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
  }
  return 1;
}

}  // namespace
}  // namespace qq::bench

int main(int argc, char** argv) {
  const qq::bench::Options options = qq::bench::parse_options(argc, argv);
  qq::bench::ask_for_exact_timers();
  if (options.wait_only) return qq::bench::wait_for_port(options);
  qq::bench::Results results = qq::bench::Generator(options).run();
  qq::bench::print(options, results);
  return results.seconds > 0 ? 0 : 1;
}
