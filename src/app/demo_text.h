// What `queqiao demo` prints when it runs: for people, or one line of JSON for programs.
#pragma once
#include <string>

#include "app/demo_config.h"
#include "net/address.h"

namespace qq::app {

struct DemoPlace {
  net::Address api;  // where it listens
  net::Address admin;
  std::string key;
};

// Commands that work when pasted; a warning where others than this machine can connect.
std::string demo_text(const DemoPlace& place, const DemoConfig& demo);

std::string demo_json(const DemoPlace& place, const DemoConfig& demo);

}  // namespace qq::app
