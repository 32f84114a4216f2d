// What the gateway answers itself beside the list of models (models_list.h): health, readiness and metrics.
#pragma once
#include <optional>
#include <string>

#include "downstream/listener_config.h"
#include "relay/loop_services.h"
#include "wire/http_head.h"

namespace qq::downstream {

class Server;

struct LocalReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Readiness: configuration loaded, not draining, and a route that can be served. None can where every
// target's account rests because its key was refused or its quota is used up. Breakers and limits do not
// count: they pass by themselves, a route's last target is asked whatever its breaker says, and who is told
// when to come back is served better by us than by a load balancer that sees nobody ready.
LocalReply readiness(const relay::LoopServices& services);

// Small answers, which need no key. Nothing for what else is asked.
std::optional<LocalReply> local_reply(Server& server, const ListenerConfig& listener,
                                      const wire::RequestHead& head);

}  // namespace qq::downstream
