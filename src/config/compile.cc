#include "config/compile.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "providers/catalogue.h"

namespace qq::config {
namespace {

using TargetsByModel = std::unordered_map<std::string_view, std::vector<const model::Target*>>;

Result<TargetsByModel> make_targets(const Config& config, resilience::HealthRegistry& healths,
                                    relay::Snapshot& out) {
  std::unordered_map<std::string_view, const providers::ProviderConfig*> providers;
  for (const auto& provider : config.providers) providers.emplace(provider.name, &provider);
  TargetsByModel by_model;
  for (const auto& model : config.models) {
    const auto provider = providers.find(model.provider);
    QQ_ASSERT(provider != providers.end());  // `check` looked it up
    for (const auto& account : provider->second->accounts) {
      QQ_TRY(auto target,
             providers::make_target(*provider->second, account, model.name, model.upstream_name));
      target.context_tokens = model.context_tokens;
      target.can = model.can;
      target.reasons = std::ranges::find(model.can, "reasoning") != model.can.end();
      target.index = static_cast<std::uint32_t>(out.targets.size());
      out.targets.push_back(std::make_unique<const model::Target>(std::move(target)));
      out.healths.push_back(healths.of(*out.targets.back()));
      by_model[model.name].push_back(out.targets.back().get());
    }
  }
  return by_model;
}

std::vector<routing::RouteCandidate> candidates_of(const std::vector<routing::CandidateConfig>& list,
                                                   const TargetsByModel& targets) {
  std::vector<routing::RouteCandidate> out;
  for (const auto& candidate : list) {
    const auto found = targets.find(candidate.model);
    QQ_ASSERT(found != targets.end());  // `check` looked it up
    out.push_back({candidate.weight, found->second});
  }
  return out;
}

void add_route(routing::Route route, relay::Snapshot& out) {
  out.public_names.push_back(route.name);
  std::string name = route.name;
  const bool fresh = out.routes.emplace(std::move(name), std::move(route)).second;
  QQ_ASSERT(fresh);  // `check` refuses a name that is used twice
}

Result<admission::KeyRing> make_keys(const Config& config) {
  if (config.keys.empty()) return admission::KeyRing();
  QQ_TRY(auto hasher, admission::KeyHasher::make(config.key_pepper));
  return admission::KeyRing::make(config.keys, std::move(hasher));
}

}  // namespace

Result<std::shared_ptr<const relay::Snapshot>> compile(const Config& config,
                                                       resilience::HealthRegistry& healths,
                                                       std::uint64_t generation, WallTime now) {
  auto snapshot = std::make_shared<relay::Snapshot>();
  snapshot->generation = generation;
  snapshot->created_unix = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  snapshot->set_timers(config.timers);
  snapshot->limits = config.limits;
  QQ_TRY(snapshot->keys, make_keys(config));
  QQ_TRY(const auto targets, make_targets(config, healths, *snapshot));
  for (const auto& route : config.routes) {
    add_route({route.name, route.picker, candidates_of(route.candidates, targets),
               candidates_of(route.fallback, targets), route.triggers, route.retry},
              *snapshot);
  }
  for (const auto& model : config.models) {
    if (model.hidden) continue;
    add_route({model.name, routing::PickerKind::Order, candidates_of({{model.name}}, targets), {}, {}, {}},
              *snapshot);
  }
  return std::shared_ptr<const relay::Snapshot>(std::move(snapshot));
}

}  // namespace qq::config
