#include "routing/planner.h"

#include <algorithm>
#include <array>
#include <span>

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
    if (!target->endpoint_for(endpoint)) continue;
    if (std::ranges::find(plan.targets, target) != plan.targets.end()) continue;
    plan.targets.push_back(target);
  }
}

// Room for an order; most routes have few candidates, and their order needs no memory of its own.
class Order {
 public:
  explicit Order(std::size_t size) {
    if (size > few_.size()) many_.resize(size);
    places_ = many_.empty() ? std::span(few_).first(size) : std::span(many_);
  }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  [[nodiscard]] std::span<std::uint32_t> places() const noexcept { return places_; }

 private:
  std::array<std::uint32_t, 8> few_{};
  std::vector<std::uint32_t> many_;
  std::span<std::uint32_t> places_;
};

void pick(const Route& route, std::span<std::uint32_t> order, Random& random) {
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
}

}  // namespace

model::Plan make_plan(const Route& route, model::Endpoint endpoint, Random& random) {
  model::Plan plan{.route = route.name, .targets = {}, .triggers = route.triggers, .retry = route.retry};
  std::size_t targets = 0;
  for (const RouteCandidate& candidate : route.candidates) targets += candidate.targets.size();
  for (const RouteCandidate& candidate : route.fallback) targets += candidate.targets.size();
  plan.targets.reserve(targets);

  const Order order(route.candidates.size());
  pick(route, order.places(), random);
  for (const std::uint32_t i : order.places()) append_accounts(route.candidates[i], endpoint, random, plan);
  for (const RouteCandidate& candidate : route.fallback) append_accounts(candidate, endpoint, random, plan);
  return plan;
}

}  // namespace qq::routing
