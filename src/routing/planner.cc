#include "routing/planner.h"

#include <algorithm>

#include "routing/pickers/order.h"
#include "routing/pickers/weighted.h"

namespace qq::routing {
namespace {

// The candidate's accounts, from a random one on. A target that is in the plan already (a fallback often
// repeats a candidate) is not tried twice.
void append_accounts(const RouteCandidate& candidate, model::Endpoint endpoint, Random& random,
                     model::Plan& plan) {
  const std::size_t count = candidate.targets.size();
  if (count == 0) return;
  const std::size_t start = count == 1 ? 0 : random.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    const model::Target* target = candidate.targets[(start + i) % count];
    if (!target->offers(endpoint)) continue;
    if (std::ranges::find(plan.targets, target) != plan.targets.end()) continue;
    plan.targets.push_back(target);
  }
}

std::vector<std::uint32_t> pick(const Route& route, Random& random) {
  std::vector<std::uint32_t> order(route.candidates.size());
  switch (route.picker) {
    case PickerKind::Order: pickers::pick_in_order(order); break;
    case PickerKind::Weighted: {
      std::vector<double> weights;
      weights.reserve(route.candidates.size());
      for (const RouteCandidate& candidate : route.candidates) weights.push_back(candidate.weight);
      pickers::pick_weighted(weights, order, random);
      break;
    }
  }
  return order;
}

}  // namespace

model::Plan make_plan(const Route& route, model::Endpoint endpoint, Random& random) {
  model::Plan plan{.route = route.name, .targets = {}, .triggers = route.triggers, .retry = route.retry};
  std::size_t targets = 0;
  for (const RouteCandidate& candidate : route.candidates) targets += candidate.targets.size();
  for (const RouteCandidate& candidate : route.fallback) targets += candidate.targets.size();
  plan.targets.reserve(targets);

  for (const std::uint32_t i : pick(route, random))
    append_accounts(route.candidates[i], endpoint, random, plan);
  for (const RouteCandidate& candidate : route.fallback) append_accounts(candidate, endpoint, random, plan);
  return plan;
}

}  // namespace qq::routing
