// From a route to a plan: the candidates' targets in the picker's order, then the fallback's. A model has
// one target per account of its provider.
//
// Pure: no clock, no I/O; the random source is an argument, so the same draw gives the same plan.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/plan.h"
#include "routing/route_config.h"

namespace qq::routing {

struct RouteCandidate {
  double weight = 1.0;
  std::vector<const model::Target*> targets;  // one per account
};

// A route with its names resolved to targets. Immutable, part of the snapshot.
struct Route {
  std::string name;
  PickerKind picker = PickerKind::Order;
  std::vector<RouteCandidate> candidates;
  std::vector<RouteCandidate> fallback;
  model::Triggers triggers;
  model::RetryRules retry;
};

// The order of candidates: as written (Order), or drawn without replacement in proportion to weight
// (Weighted; Efraimidis & Spirakis, 2006). The accounts of one candidate start at a random one
// and follow each other. Targets that cannot answer at `endpoint`, in their own dialect or another, are left
// out; the plan is empty if none can.
model::Plan make_plan(const Route& route, model::Endpoint endpoint, Random& random);

}  // namespace qq::routing
