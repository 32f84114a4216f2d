// Ordinary requests, to whatever endpoint, that name files which an account holds: they go to that account,
// and to nobody's but their owner's.
//
// Owners share accounts, so a provider gives an owner's file to whoever knows its id: an id that is another
// owner's here is refused like one that does not exist. Ids that nobody has here are let through, since they
// may be the provider's own, or of files that the operator has put there.
#pragma once
#include <string>

#include "base/task.h"
#include "relay/held/file_ids.h"
#include "relay/held/holding_store.h"
#include "relay/request.h"

namespace qq::relay {

// Whether `pin_to_files` has something to do. Quick where no file is held at all.
bool may_refer_to_files(const RequestState& state) noexcept;

// Looks up the files that the request names, and leaves of its plan the targets of the account that holds
// them. Errors: NotFound for another owner's, InvalidRequest for files of several accounts and where no
// target of the plan is at theirs; the store's.
Task<Result<>> pin_to_files(RequestState& state);

// The account that holds all of these that are the caller's; empty if none is. `kind`: the dialect's kind of
// file. Errors: as above; InvalidRequest for more than kFileIdsMax.
Task<Result<std::string>> account_of_files(RequestState& state, HoldingKind kind, FileIds ids);

}  // namespace qq::relay
