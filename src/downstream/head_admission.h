// What is decided about a request by its head alone, between two waits: who asks, for what, and is there
// room?
#pragma once
#include <optional>

#include "base/error.h"
#include "downstream/admitted.h"
#include "downstream/listener_config.h"
#include "relay/loop_services.h"
#include "wire/http_head.h"

namespace qq::downstream {

// All fill in what the request is (`admitted.incoming.snapshot` must be there), or say why there is none.

// For the list of models `incoming.path` stays empty.
std::optional<Error> admit_head(const relay::LoopServices& services, const ListenerConfig& listener,
                                const wire::RequestHead& head, Admitted& admitted);
// Chat over WebSocket: with `refusal_status` the connection is not to be used any more. `finishing`: none is
// opened any more.
std::optional<Error> admit_upgrade(const relay::LoopServices& services, const ListenerConfig& listener,
                                   bool finishing, const wire::RequestHead& head, Admitted& admitted);
// Realtime, by its path, whatever else is wrong with it; as of `admit_upgrade`.
bool asks_for_realtime(const wire::RequestHead& head) noexcept;
std::optional<Error> admit_realtime(const relay::LoopServices& services, const ListenerConfig& listener,
                                    bool finishing, const wire::RequestHead& head, Admitted& admitted);

}  // namespace qq::downstream
