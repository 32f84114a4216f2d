// The configuration as an operator wrote it, checked but not yet resolved. `load` reads YAML into it,
// `compile` (compile.h) makes the snapshot that requests use.
#pragma once
#include <string>
#include <vector>

#include "admission/key_config.h"
#include "downstream/listener_config.h"
#include "providers/provider_config.h"
#include "relay/held/holding_storage.h"
#include "relay/response_storage.h"
#include "relay/settings.h"
#include "routing/route_config.h"

namespace qq::config {

struct Config {
  int workers = 0;  // event loops; 0: one per core
  std::vector<downstream::ListenerConfig> listeners;
  relay::Limits limits;
  relay::Timers timers;
  relay::OutboundProxy outbound_proxy;
  std::string outbound_ca_file;  // added to the system's trust store
  Secret key_pepper;             // for client keys; see docs/configuration
  std::vector<providers::ProviderConfig> providers;
  std::vector<routing::ModelConfig> models;
  std::vector<routing::RouteConfig> routes;
  std::vector<admission::KeyConfig> keys;
  relay::ResponseStorage responses;  // what stands under storage.responses
  relay::HoldingStorage holdings;    // under storage.objects
};

}  // namespace qq::config
