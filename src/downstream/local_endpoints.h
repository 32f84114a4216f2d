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

// Readiness: configuration loaded, at least one route, not draining.
LocalReply readiness(const relay::LoopServices& services);

// Small answers, which need no key. Nothing for what else is asked.
std::optional<LocalReply> local_reply(Server& server, const ListenerConfig& listener,
                                      const wire::RequestHead& head);

}  // namespace qq::downstream
