// Who asks one of the gateway's own stores, on which loop, when, and how long the answer may take.
//
// Every wait ends: at the scope's deadline (TotalTimeout), with its cancellation (its reason), and after
// kStoreWaitMax whatever the scope says. A call that ended so early may still be carried out.
#pragma once
#include <chrono>
#include <string>
#include <utility>

#include "base/time.h"
#include "net/event_loop.h"
#include "net/wait.h"

namespace qq::relay {

// A guess: longer than a checkpoint of a slow disk, shorter than a client's patience.
inline constexpr std::chrono::seconds kStoreWaitMax{10};

struct StoreCall {
  StoreCall(net::EventLoop& on, std::string whose, WallTime at, net::Scope within)
      : loop(&on), owner(std::move(whose)), now(at), scope(within) {}

  net::EventLoop* loop;
  std::string owner;  // of the client key; never empty
  WallTime now;       // what has run out by then does not exist
  net::Scope scope;
};

}  // namespace qq::relay
