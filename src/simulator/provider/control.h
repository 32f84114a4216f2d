// The simulator's own pages below /sim/: what it saw, and what it does next.
#pragma once
#include <string_view>

#include "simulator/provider/provider_simulator.h"
#include "simulator/provider/reply.h"
#include "wire/http_head.h"

namespace qq::simulator {

Reply control_page(ProviderSimulator& simulator, const wire::RequestHead& head, std::string_view body);

}  // namespace qq::simulator
