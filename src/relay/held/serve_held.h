// Files and batches: made at one account, asked for there ever after.
//
//   create  has the owner room? -> which accounts can have it -> asked of one at a time, the next only if the
//           one before has surely made nothing -> noted here -> told
//   get, cancel, delete, content  noted here? -> asked of the account that holds it, whatever its load
//   list    from what is noted here: a provider's own list shows what all owners have made at the account
//
// The models that a batch names are the gateway's names, checked as those of any request, and go on as the
// provider's. What a batch has used is the usage of the request that first reads its end, and of no other.
#pragma once
#include "base/task.h"
#include "relay/held/held_call.h"
#include "relay/request.h"

namespace qq::relay {

// Answers the client, whatever happens, and records the request. `incoming.held` is there.
Task<void> serve_held(LoopServices& services, IncomingRequest incoming, ClientPort& client);

}  // namespace qq::relay
