// What is sent to make a file or batch, and where.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "relay/held/account_choice.h"
#include "relay/held/held_exchange.h"
#include "relay/held/held_form.h"
#include "relay/held/named_models.h"

namespace qq::relay {

struct Creation {
  Targets targets;  // in the order in which they are asked; never empty
  HeldForm form{};  // of files
  NamedModels models{};
  std::string_view models_in{};  // the text that names them: a file's bytes, or the whole body
  std::string known_models{};    // Holding::models of the file that is made
};

// From the request's body, which stays as it is. Errors: InvalidRequest and NotFound, with the field.
Task<Result<Creation>> plan_creation(RequestState& state);

// What one target is sent. `own` holds what the question shows beside the body.
HeldQuestion question_for(const RequestState& state, const Creation& creation, const model::Target& target,
                          std::string& own);

}  // namespace qq::relay
