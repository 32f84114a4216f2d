#include "app/demo_text.h"

#include <gtest/gtest.h>

namespace qq::app {
namespace {

using testing::HasSubstr;
using testing::Not;

DemoPlace place_at(std::string_view api) {
  return {net::Address::parse(api).value(), net::Address::parse("127.0.0.1:9").value(), "a-key"};
}

DemoConfig simulated() {
  DemoConfig demo;
  demo.simulated_models = {"sim-chat", "sim-fallback"};
  return demo;
}

TEST(DemoText, OnTheLoopbackNothingLeavesThisMachine) {
  const std::string text = demo_text(place_at("127.0.0.1:8080"), simulated());
  EXPECT_THAT(text, HasSubstr("Nothing leaves this machine.\n"));
  EXPECT_THAT(text, Not(HasSubstr("WARNING")));
  DemoConfig real = simulated();
  real.real_models = {"gpt"};
  EXPECT_THAT(demo_text(place_at("127.0.0.1:8080"), real),
              HasSubstr("Nothing leaves this machine but what you send to the real models."));
}

TEST(DemoText, ElsewhereItWarnsInstead) {
  for (const std::string_view api : {"0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"}) {
    const std::string text = demo_text(place_at(api), simulated());
    EXPECT_THAT(text, Not(HasSubstr("Nothing leaves"))) << api;
    EXPECT_THAT(text, HasSubstr("WARNING: it listens on " + std::string(api))) << api;
  }
}

TEST(DemoText, CommandsAskTheLoopbackOfAllInterfaces) {
  EXPECT_THAT(demo_text(place_at("0.0.0.0:8080"), simulated()), HasSubstr("curl http://127.0.0.1:8080/v1/"));
  EXPECT_THAT(demo_text(place_at("[::]:8080"), simulated()), HasSubstr("curl http://[::1]:8080/v1/"));
  EXPECT_THAT(demo_text(place_at("192.0.2.1:8080"), simulated()),
              HasSubstr("curl http://192.0.2.1:8080/v1/"));
  EXPECT_THAT(demo_json(place_at("0.0.0.0:8080"), simulated()),
              HasSubstr(R"("base_url":"http://127.0.0.1:8080/v1")"));
}

TEST(DemoText, ShowsAFallbackAndAnthropicsWords) {
  const std::string text = demo_text(place_at("127.0.0.1:8080"), simulated());
  EXPECT_THAT(text, HasSubstr(R"({"model":"sim-fallback","stream":true,"messages":)"));
  EXPECT_THAT(text, HasSubstr("curl http://127.0.0.1:8080/v1/messages -H 'x-api-key: a-key' "));
}

TEST(DemoText, TellsWhatIsMissing) {
  DemoConfig demo = simulated();
  demo.missing = {"A_KEY is set, but"};
  EXPECT_THAT(demo_text(place_at("127.0.0.1:8080"), demo), HasSubstr("\n  missing   A_KEY is set, but\n"));
  EXPECT_THAT(demo_json(place_at("127.0.0.1:8080"), demo), HasSubstr(R"("missing":["A_KEY is set, but"])"));
}

TEST(DemoText, JsonIsOneLineWithWhatAProgramNeeds) {
  EXPECT_EQ(
      demo_json(place_at("127.0.0.1:8080"), simulated()),
      R"({"base_url":"http://127.0.0.1:8080/v1","api_key":"a-key","models":["sim-chat","sim-fallback"],)"
      R"("missing":[],"admin_url":"http://127.0.0.1:9","metrics_url":"http://127.0.0.1:9/metrics"})"
      "\n");
}

}  // namespace
}  // namespace qq::app
