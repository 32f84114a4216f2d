// What the gateway answers itself beside the list of models (models_list.h): health and readiness.
#pragma once
#include <string>

#include "relay/loop_services.h"

namespace qq::downstream {

struct LocalReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Readiness: configuration loaded, at least one route, not draining.
LocalReply readiness(const relay::LoopServices& services);

}  // namespace qq::downstream
