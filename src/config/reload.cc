#include "config/reload.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/compile.h"
#include "config/load.h"

namespace qq::config {
namespace {

std::vector<Diagnostic> as_diagnostics(const std::string& path, const Error& error) {
  return {{path, 1, 1, error.message}};
}

// What Effect::Restart marks in the definition; a test compares the two.
void keep_until_restart(const Config& running, Config& next) {
  next.workers = running.workers;
  next.listeners = running.listeners;
  next.outbound_proxy = running.outbound_proxy;
  next.outbound_ca_file = running.outbound_ca_file;
  next.limits.memory_max = running.limits.memory_max;
  next.limits.connections_max = running.limits.connections_max;
}

}  // namespace

std::expected<Active, std::vector<Diagnostic>> activate(const std::string& path,
                                                        const Environment& environment,
                                                        resilience::HealthRegistry& healths, WallTime now) {
  auto config = load_file(path, environment);
  if (!config) return std::unexpected(std::move(config).error());
  auto snapshot = compile(*config, healths, 1, now);
  if (!snapshot) return std::unexpected(as_diagnostics(path, snapshot.error()));
  return Active{*std::move(config), *std::move(snapshot)};
}

ReloadResult reread(const Config& running, const std::string& path, const Environment& environment) {
  ReloadResult result;
  auto loaded = load_file(path, environment);
  if (!loaded) {
    result.diagnostics = std::move(loaded).error();
    return result;
  }
  Config config = *std::move(loaded);
  result.changes = diff(running, config);
  const bool any_now = std::any_of(result.changes.begin(), result.changes.end(),
                                   [](const Change& change) { return change.effect == Effect::Reload; });
  if (!any_now) {
    result.status = ReloadStatus::Unchanged;
    return result;
  }
  keep_until_restart(running, config);
  result.status = ReloadStatus::Applied;
  result.next = std::move(config);
  return result;
}

ReloadResult reload(const Active& current, const std::string& path, const Environment& environment,
                    resilience::HealthRegistry& healths, WallTime now) {
  ReloadResult result = reread(current.config, path, environment);
  if (result.status != ReloadStatus::Applied) return result;
  auto snapshot = compile(*result.next, healths, current.snapshot->generation + 1, now);
  if (!snapshot) {
    ReloadResult refused;
    refused.diagnostics = as_diagnostics(path, snapshot.error());
    return refused;
  }
  result.snapshot = *std::move(snapshot);
  return result;
}

std::string summary_of(const ReloadResult& result) {
  if (result.status == ReloadStatus::Refused) return "configuration refused, the old one stays";
  const auto restart = std::count_if(result.changes.begin(), result.changes.end(),
                                     [](const Change& change) { return change.effect == Effect::Restart; });
  const auto now = static_cast<std::ptrdiff_t>(result.changes.size()) - restart;
  std::string out = result.status == ReloadStatus::Applied
                        ? fmt::format("configuration reloaded, {} changed", now)
                        : std::string("configuration unchanged");
  if (restart > 0) out += fmt::format(", {} only after a restart", restart);
  return out;
}

std::string to_text(const Change& change) {
  return change.effect == Effect::Restart ? change.what + " (needs a restart)" : change.what;
}

std::string to_text(const ReloadResult& result) {
  std::string out = summary_of(result);
  std::string_view separator = ": ";
  const auto add = [&](std::string_view what) { out.append(std::exchange(separator, "; ")).append(what); };
  if (result.status == ReloadStatus::Refused) {
    for (const Diagnostic& diagnostic : result.diagnostics) add(to_text(diagnostic));
  } else {
    for (const Change& change : result.changes) add(to_text(change));
  }
  return out;
}

}  // namespace qq::config
