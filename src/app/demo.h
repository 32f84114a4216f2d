// `queqiao demo`: the gateway with simulated providers in one process, a throw-away key, and a curl line that
// works when pasted. Keys of real providers in the environment add their models beside the simulated ones.
#pragma once
#include <string>

namespace qq::app {

struct DemoOptions {
  std::string listen = "127.0.0.1:8080";
  std::string key;    // empty: a new one every start
  bool json = false;  // one line of JSON on stdout instead of the text
};

// Exit code 0 after a signal, 1 if it could not start.
int run_demo(const DemoOptions& options);

}  // namespace qq::app
