#include "load/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "load/clock.h"

namespace qq::bench {
namespace {

constexpr const char* kUsage =
    R"(usage: qq_load --port PORT [options]

POST chat completions at 127.0.0.1:PORT and print one JSON line of results.
  --connections N   connections, each with one request at a time (64)
  --seconds S       length of the measuring window (2)
  --warmup S        time before it that is not measured (0.5)
  --ramp S          start the connections evenly over this part of the warm-up (0)
  --rate R          open loop: R requests a second, Poisson arrivals, latency from the intended start
                    (default: closed loop, each connection asks again at once)
  --turn K/N:MS     asking only in the K-th of N turns of MS milliseconds that follow each other;
                    generators that take turns on one clock load their proxies under the same weather
  --requests N      stop after N requests; no warm-up, no window
  --body BYTES      size of a request body (1024)
  --stream          ask for event streams; counts events and measures how late their stamps arrive;
                    an event with a stamp is a delta
  --model NAME      model name in the body (bench-model)
  --path PATH       (/v1/chat/completions); /v1/messages makes the bodies Anthropic's
  --key KEY         sent as `Authorization: Bearer KEY`
  --header LINE     a further header line; may be repeated
  --pid PID         also measure this process tree: CPU time in the window, memory before and at its end
  --wait            only wait until the port accepts (up to --seconds) and print when it did

Exit code 0 when the run went through (look at "errors"), 1 when nothing could connect, 2 on misuse.
)";

[[noreturn]] void misuse(std::string_view what) {
  std::fprintf(stderr, "qq_load: %.*s\n\n%s", static_cast<int>(what.size()), what.data(), kUsage);
  std::exit(2);
}

std::int64_t seconds(const char* text) {
  return static_cast<std::int64_t>(std::strtod(text, nullptr) * static_cast<double>(kSecond));
}

void read_turn(const char* text, Options& options) {
  double length = 0;
  if (std::sscanf(text, "%d/%d:%lf", &options.turn, &options.turns, &length) != 3 || options.turn < 0 ||
      options.turn >= options.turns || length <= 0) {
    misuse("--turn needs K/N:MS with K below N, such as 0/3:50");
  }
  options.turn_length = static_cast<std::int64_t>(length * static_cast<double>(kSecond) / 1000);
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  options.warm_up = kSecond / 2;
  options.duration = 2 * kSecond;
  const std::map<std::string_view, std::function<void(const char*)>> valued{
      {"--port", [&](const char* text) { options.port = static_cast<std::uint16_t>(std::atoi(text)); }},
      {"--connections", [&](const char* text) { options.connections = std::atoi(text); }},
      {"--seconds", [&](const char* text) { options.duration = seconds(text); }},
      {"--warmup", [&](const char* text) { options.warm_up = seconds(text); }},
      {"--ramp", [&](const char* text) { options.ramp = seconds(text); }},
      {"--rate", [&](const char* text) { options.rate = std::strtod(text, nullptr); }},
      {"--turn", [&](const char* text) { read_turn(text, options); }},
      {"--requests", [&](const char* text) { options.requests = std::strtoull(text, nullptr, 10); }},
      {"--body", [&](const char* text) { options.body_bytes = std::strtoull(text, nullptr, 10); }},
      {"--model", [&](const char* text) { options.model = text; }},
      {"--path", [&](const char* text) { options.path = text; }},
      {"--key", [&](const char* text) { options.key = text; }},
      {"--header", [&](const char* text) { options.headers.emplace_back(text); }},
      {"--pid", [&](const char* text) { options.pid = std::atoi(text); }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (name == "--stream") {
      options.stream = true;
    } else if (name == "--wait") {
      options.wait_only = true;
    } else if (const auto option = valued.find(name); option == valued.end()) {
      misuse("unknown option " + std::string(name));
    } else if (++i == argc) {
      misuse(std::string(name) + " needs a value");
    } else {
      option->second(argv[i]);
    }
  }
  if (options.port == 0) misuse("--port is missing");
  if (options.connections < 1 || options.duration <= 0)
    misuse("--connections and --seconds must be positive");
  options.warm_up = std::max(options.warm_up, options.ramp);
  return options;
}

}  // namespace qq::bench
