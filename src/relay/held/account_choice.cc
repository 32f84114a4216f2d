#include "relay/held/account_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/utf8_cut.h"

namespace qq::relay {
namespace {

// Of what a caller sent, in the words of an error.
constexpr std::size_t kNameShown = 200;

Error cannot_choose(std::string message, std::string_view param = {}) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::string(param));
  error.type = "invalid_request_error";
  return error;
}

Result<const routing::Route*> usable_route(const RequestState& state, std::string_view name) {
  const routing::Route* const route = state.snapshot.find_route(name);
  if (route == nullptr || !admission::may_use(*state.incoming.key, name)) {
    return fail(Error::client(
        ErrorKind::NotFound,
        fmt::format(
            "The model `{}` does not exist or this key may not use it; GET /v1/models lists what it may use",
            cut_utf8(name, kNameShown)),
        "model"));
  }
  return route;
}

// One for each account.
void add_account(Targets& targets, const model::Target& target) {
  if (std::ranges::find(targets, target.account_name, &model::Target::account_name) == targets.end()) {
    targets.push_back(&target);
  }
}

// What may not be asked now is tried last.
void put_free_ones_first(const RequestState& state, Targets& targets) {
  const MonotonicTime now = state.services.loop.now();
  const auto is_barred = [&](const model::Target* target) {
    return state.snapshot.healths[target->index]->available_at(now).has_value();
  };
  Targets barred;
  std::ranges::copy_if(targets, std::back_inserter(barred), is_barred);
  std::erase_if(targets, is_barred);
  targets.insert(targets.end(), barred.begin(), barred.end());
}

// The route's target at that account; null if it has none.
const model::Target* target_at(const RequestState& state, const routing::Route& route,
                               std::string_view account) noexcept {
  for (const auto* const candidates : {&route.candidates, &route.fallback}) {
    for (const routing::RouteCandidate& candidate : *candidates) {
      for (const model::Target* const target : candidate.targets) {
        if (target->account_name == account && target->offers(state.incoming.endpoint)) return target;
      }
    }
  }
  return nullptr;
}

}  // namespace

Result<Targets> targets_of_model(RequestState& state, std::string_view name) {
  QQ_TRY(const routing::Route* const route, usable_route(state, name));
  state.plan = routing::make_plan(*route, state.incoming.endpoint, state.services.random);
  Targets targets;
  for (const model::Target* const target : state.plan.targets) add_account(targets, *target);
  if (targets.empty()) {
    return fail(cannot_choose(
        fmt::format("the providers of `{}` keep no files and batches in this dialect; choose another model",
                    cut_utf8(name, kNameShown)),
        "model"));
  }
  put_free_ones_first(state, targets);
  return targets;
}

Result<Targets> targets_of_only_account(RequestState& state) {
  Targets targets;
  for (const std::string& name : state.snapshot.public_names) {
    if (!admission::may_use(*state.incoming.key, name)) continue;
    const routing::Route& route = *state.snapshot.find_route(name);
    for (const auto* const candidates : {&route.candidates, &route.fallback}) {
      for (const routing::RouteCandidate& candidate : *candidates) {
        for (const model::Target* const target : candidate.targets) {
          if (target->offers(state.incoming.endpoint)) add_account(targets, *target);
        }
      }
    }
  }
  if (targets.empty()) {
    return fail(
        cannot_choose("no provider of the models that this key may use keeps files and batches in "
                      "this dialect"));
  }
  if (targets.size() > 1) {
    return fail(
        cannot_choose("several accounts could keep this: say for which model it is meant, with the header "
                      "`x-queqiao-model: NAME` or the form's field `model`",
                      "model"));
  }
  return targets;
}

Result<> keep_those_with(const RequestState& state, const std::vector<std::string>& names, Targets& targets) {
  for (const std::string& name : names) {
    QQ_TRY(const routing::Route* const route, usable_route(state, name));
    std::erase_if(targets, [&](const model::Target* target) {
      return target_at(state, *route, target->account_name) == nullptr;
    });
    if (targets.empty()) {
      return fail(cannot_choose(
          fmt::format(
              "`{}` is not to be had where the others are: all requests of a batch go to one account. "
              "Put models of other providers into batches of their own",
              cut_utf8(name, kNameShown)),
          "model"));
    }
  }
  return {};
}

std::vector<std::string> upstream_names(const RequestState& state, const std::vector<std::string>& names,
                                        const model::Target& at) {
  std::vector<std::string> others;
  others.reserve(names.size());
  for (const std::string& name : names) {
    const model::Target* const target = target_at(state, *state.snapshot.find_route(name), at.account_name);
    QQ_ASSERT(target != nullptr);  // keep_those_with has seen it
    others.push_back(target->upstream_model);
  }
  return others;
}

const model::Target* target_of_account(const RequestState& state, std::string_view account) noexcept {
  for (const auto& target : state.snapshot.targets) {
    if (target->account_name == account && target->offers(state.incoming.endpoint)) return target.get();
  }
  return nullptr;
}

}  // namespace qq::relay
