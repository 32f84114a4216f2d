// queqiao check FILE
#include <fmt/core.h>

#include <ostream>

#include "app/cli/commands.h"
#include "config/compile.h"
#include "config/load.h"
#include "config/tls_files.h"
#include "net/egress_guard.h"

namespace qq::app::cli {
namespace {

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Providers whose address is written out and which the egress guard will not let us reach.
std::vector<std::string_view> unreachable_providers(const relay::Snapshot& snapshot) {
  std::vector<std::string_view> names;
  for (const auto& target : snapshot.targets) {
    const model::Origin& origin = target->origin;
    const std::string_view host = origin.host == "localhost" ? "127.0.0.1" : std::string_view(origin.host);
    const auto address = net::Address::from_host(host, origin.port);
    const auto policy =
        origin.allow_private_address ? net::EgressPolicy::AllowPrivate : net::EgressPolicy::PublicOnly;
    if (!address || net::egress_allowed(*address, policy)) continue;
    if (std::ranges::find(names, target->provider) == names.end()) names.push_back(target->provider);
  }
  return names;
}

}  // namespace

int run_check(const CheckOptions& options, const config::Environment& environment, const Streams& streams) {
  const auto loaded = config::load_file(options.config, environment);
  if (!loaded) {
    for (const config::Diagnostic& diagnostic : loaded.error())
      streams.err << config::to_text(diagnostic) << '\n';
    streams.err << counted(loaded.error().size(), "mistake", "mistakes") << '\n';
    return kFailed;
  }
  resilience::HealthRegistry healths;
  const auto snapshot = config::compile(*loaded, healths, 1, WallTime{});
  if (!snapshot) {
    streams.err << options.config << ": " << snapshot.error().message << '\n';
    return kFailed;
  }
  if (const auto mistakes = config::tls_file_mistakes(*loaded); !mistakes.empty()) {
    for (const std::string& mistake : mistakes) streams.err << options.config << ": " << mistake << '\n';
    streams.err << counted(mistakes.size(), "mistake", "mistakes") << '\n';
    return kFailed;
  }
  streams.out << fmt::format("{}: good. {}, {}, {} ({}), {}, {}, {}\n", options.config,
                             counted(loaded->listeners.size(), "listener", "listeners"),
                             counted(loaded->providers.size(), "provider", "providers"),
                             counted(loaded->models.size(), "model", "models"),
                             counted((*snapshot)->targets.size(), "target", "targets"),
                             counted(loaded->routes.size(), "route", "routes"),
                             counted((*snapshot)->public_names.size(), "public name", "public names"),
                             counted(loaded->keys.size(), "key", "keys"));
  if (loaded->keys.empty()) {
    streams.out
        << "note: without keys every request is refused; `queqiao keys new --with-pepper` makes one\n";
  }
  for (const std::string_view name : unreachable_providers(**snapshot)) {
    streams.out << fmt::format(
        "note: the address of provider {} is private, which the egress guard denies; set "
        "allow_private_address "
        "on it if it is yours\n",
        name);
  }
  return kGood;
}

int run_check(const CheckOptions& options) {
  return on_process_streams([&](const Streams& streams) {
    return run_check(options, config::Environment::of_process(config::Pipes::Await), streams);
  });
}

}  // namespace qq::app::cli
