// Where a file or batch may be made: among the targets of the key's routes whose provider keeps such objects
// in the caller's dialect, one for each account, those first that may be asked now.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "relay/request.h"

namespace qq::relay {

using Targets = std::vector<const model::Target*>;

// Those of a route or model by name, in the order of its plan; the plan's route is set. Errors: NotFound for
// a name that this key may not use, InvalidRequest where none of its accounts keeps such objects.
Result<Targets> targets_of_model(RequestState& state, std::string_view name);

// The one account that could be meant where nobody says which. Errors: InvalidRequest, with what to say.
Result<Targets> targets_of_only_account(RequestState& state);

// Takes out accounts that have not all of these models. Errors: as `targets_of_model` for each name;
// InvalidRequest where none is left.
Result<> keep_those_with(const RequestState& state, const std::vector<std::string>& names, Targets& targets);

// What the provider calls them at that account, which has them all.
std::vector<std::string> upstream_names(const RequestState& state, const std::vector<std::string>& names,
                                        const model::Target& at);

// Any target of the account that holds something, whatever the key may use: what is asked of it names no
// model. Null if the configuration has it no more, or its provider keeps no such objects any more.
const model::Target* target_of_account(const RequestState& state, std::string_view account) noexcept;

}  // namespace qq::relay
