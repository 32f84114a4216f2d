// What the gateway answers itself: /v1/models, /healthz, /readyz, /metrics, and the errors for paths and
// methods that do not exist.
#pragma once
#include <optional>
#include <string>

#include "admission/key_ring.h"
#include "downstream/listener_config.h"
#include "relay/loop_services.h"
#include "wire/http_head.h"

namespace qq::downstream {

struct LocalReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// {"object":"list","data":[...]}: the public names that `key` may use.
std::string models_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key);
// One of them; nothing if it does not exist for this key.
std::optional<std::string> model_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key,
                                      std::string_view name);
// Percent-decoding of a path segment; nothing if it is malformed.
std::optional<std::string> percent_decoded(std::string_view text);

// Readiness: configuration loaded, at least one route, not draining.
LocalReply readiness(const relay::LoopServices& services);

}  // namespace qq::downstream
