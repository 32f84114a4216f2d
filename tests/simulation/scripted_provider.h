// The gateway in front of a provider that answers what the test has put down: for endpoints that the
// simulated provider does not have.
#pragma once
#include "fakes/http_script.h"
#include "simulation/world.h"

namespace qq::simulation {

// The model `m0`, and the route `asked`, which goes to `m0` and then to `m1`. Both targets, each of a
// provider of its own, call the model "real-model" and are the one script, so that its n-th reply is that of
// the n-th attempt.
struct ScriptedWorld {
  explicit ScriptedWorld(std::string_view more = {}) : world(setup(more)) {}
  ~ScriptedWorld() { world.expect_rest(); }
  ScriptedWorld(const ScriptedWorld&) = delete;
  ScriptedWorld& operator=(const ScriptedWorld&) = delete;

  static WorldSetup setup(std::string_view more) {
    WorldSetup setup;
    setup.providers = 0;
    setup.config = "listeners: [{address: \"127.0.0.1:8080\"}]\n";
    setup.config.append(more).append("providers:\n");
    for (const std::string_view name : {"s0", "s1"}) {
      setup.config.append("  - {name: ")
          .append(name)
          .append(
              ", kind: openai_compatible, base_url: \"http://127.0.0.1:9101/v1\", allow_private_address: "
              "true, "
              "accounts: [{name: main, credential: sk-upstream}]}\n");
    }
    setup.config +=
        "models:\n"
        "  - {name: m0, provider: s0, upstream_name: real-model}\n"
        "  - {name: m1, provider: s1, upstream_name: real-model}\n"
        "routes:\n"
        "  - {name: asked, candidates: [{model: m0}], fallback: [{model: m1}]}\n";
    return setup;
  }

  World world;
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
};

}  // namespace qq::simulation
