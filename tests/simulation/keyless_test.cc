// A configuration without keys is nobody's: it opens the gateway to no one.
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

WorldSetup keyless() {
  WorldSetup setup;
  setup.keyless = true;
  return setup;
}

TEST(Keyless, NobodysRequestIsServed) {
  World world(keyless());
  const Ask with_key = chat("alone");
  Ask without = with_key;
  without.header_lines.clear();
  for (const Ask& ask : {with_key, without, responses("alone"), with_key.streamed(), without.streamed()}) {
    const Exchange heard = world.ask(ask);
    EXPECT_EQ(heard.reply.status, 401) << heard.raw;
    EXPECT_EQ(error_code_in(heard.reply.body), "invalid_api_key");
    EXPECT_TRUE(heard.reply.header("www-authenticate"));
  }
  EXPECT_EQ(world.provider(0).seen().total(), 0U) << "and no provider is asked";
  world.expect_rest();
}

TEST(Keyless, NorAreTheNamesOfTheModelsTold) {
  World world(keyless());
  for (const std::string_view path : {"/v1/models", "/v1/models/alone", "/v1/models/none"}) {
    for (const std::string_view key : {std::string_view(), kKeyLine}) {
      const Exchange heard = world.say(fmt::format("GET {} HTTP/1.1\r\nhost: g\r\n{}\r\n", path, key));
      EXPECT_EQ(heard.reply.status, 401) << heard.raw;
      EXPECT_EQ(heard.reply.body.find("alone"), std::string::npos);
    }
  }
  EXPECT_EQ(world.say("GET /healthz HTTP/1.1\r\nhost: g\r\n\r\n").reply.status, 200) << "which needs no key";
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
