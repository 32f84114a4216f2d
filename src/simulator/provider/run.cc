#include "simulator/provider/run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "net/epoll_loop.h"
#include "simulator/provider/provider_simulator.h"

namespace qq::simulator {
namespace {

Result<SimulatorOptions> load(const SimProviderOptions& options) {
  SimulatorOptions loaded;
  loaded.requests_kept = options.requests_kept;
  loaded.strict = options.strict;
  if (!options.recordings.empty()) {
    QQ_TRY(std::vector<Recording> recordings, load_recordings(options.recordings));
    loaded.library = Library(std::move(recordings));
  }
  if (!options.tls_certificate.empty() || !options.tls_key.empty()) {
    net::TlsServerOptions tls;
    tls.certificate_file = options.tls_certificate;
    tls.key_file = options.tls_key;
    QQ_TRY(loaded.tls, net::TlsServerContext::make(tls));
  }
  if (!options.scenario.empty()) {
    std::ifstream in(options.scenario, std::ios::binary);
    if (!in) {
      return fail(Error::gateway(ErrorKind::Config,
                                 fmt::format("cannot read the scenario {}", options.scenario.string())));
    }
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    QQ_TRY(loaded.scenario, Scenario::parse(text));
  }
  return loaded;
}

Result<> start(ProviderSimulator& simulator, const SimProviderOptions& options) {
  QQ_TRY(const net::Address address, net::Address::parse(options.listen));
  QQ_CHECK(simulator.listen(address));
  if (options.fault_listen.empty()) return {};
  QQ_TRY(const net::Address extra, net::Address::parse(options.fault_listen));
  return simulator.listen_extra(extra);
}

Task<void> shut_down(ProviderSimulator& simulator, net::EventLoop& loop) {
  co_await simulator.shut_down();
  loop.stop();
}

// Unlike fmt::print, which throws when nobody listens.
void say(const std::string& text) noexcept {
  std::fputs(text.c_str(), stderr);
}

int failed(const Error& error) {
  say(fmt::format("sim-provider: {}\n", error.message));
  return 1;
}

}  // namespace

int run_sim_provider(const SimProviderOptions& options) {
  auto loaded = load(options);
  if (!loaded) return failed(loaded.error());
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  net::EpollLoop loop;
  ProviderSimulator simulator(loop, *std::move(loaded));
  TaskGroup tasks;
  if (const auto started = start(simulator, options); !started) return failed(started.error());
  std::string said =
      fmt::format("sim-provider: {}://{}/v1, {} recordings", simulator.options().tls ? "https" : "http",
                  simulator.local().text(), simulator.library().all().size());
  if (simulator.has_extra()) said += fmt::format(", second port {}", simulator.extra_local().text());
  say(said + "\n");

  std::jthread waiting([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    loop.post([&] { tasks.spawn(shut_down(simulator, loop)); });
  });
  loop.run();
  return 0;
}

}  // namespace qq::simulator
