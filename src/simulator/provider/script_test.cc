#include "simulator/provider/script.h"

#include "simulator/provider/asked.h"

namespace qq::simulator {
namespace {

TEST(Script, ReadsFaultsAndNumbersFromAModelsName) {
  const ModelName model = split_model("sim-gpt+fault=reset_before_head+gap=20+words=7");
  EXPECT_EQ(model.name, "sim-gpt");
  Script script;
  ASSERT_TRUE(apply_directives(script, model.directives, '+'));
  EXPECT_TRUE(script.faults.has(Fault::ResetBeforeHead));
  EXPECT_EQ(script.gap, Milliseconds(20));
  EXPECT_EQ(script.words, 7U);
}

TEST(Script, ABareWordIsAFaultAndANumberAStatus) {
  Script script;
  ASSERT_TRUE(apply_directives(script, " 503 ; no_done; retry_after = 2 ", ';'));
  EXPECT_EQ(script.status, 503);
  EXPECT_TRUE(script.faults.has(Fault::NoDone));
  EXPECT_EQ(script.retry_after, "2");
}

TEST(Script, LaterDirectivesOverrideAndNoneForgetsTheFaults) {
  Script script;
  ASSERT_TRUE(apply_directives(script, "gap=5;fault=500,crlf;gap=9;fault=none;bom", ';'));
  EXPECT_EQ(script.gap, Milliseconds(9));
  EXPECT_FALSE(script.status);
  EXPECT_FALSE(script.faults.has(Fault::Crlf));
  EXPECT_TRUE(script.faults.has(Fault::Bom));
}

TEST(Script, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  Script script;
  const auto fault = apply_directives(script, "fault=explode", ';');
  ASSERT_FALSE(fault);
  EXPECT_NE(fault.error().message.find("reset_before_head"), std::string::npos);
  const auto directive = apply_directives(script, "speed=9", ';');
  ASSERT_FALSE(directive);
  EXPECT_NE(directive.error().message.find("ttft"), std::string::npos);
  EXPECT_FALSE(apply_directives(script, "gap=fast", ';'));
  EXPECT_FALSE(apply_directives(script, "status=9000", ';'));
}

TEST(Script, ReadsAJsonObjectWithAListOfFaults) {
  Script script;
  const std::string json = R"({"fault":["crlf","no_done"],"ttft":30,"retry_after":"1.5"})";
  ASSERT_TRUE(apply_json(script, wire::JsonValue(json)));
  EXPECT_TRUE(script.faults.has(Fault::Crlf));
  EXPECT_TRUE(script.faults.has(Fault::NoDone));
  EXPECT_EQ(script.ttft, Milliseconds(30));
  EXPECT_EQ(script.retry_after, "1.5");
}

TEST(Script, EveryFaultIsFoundByItsName) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Fault::Count_); ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_FALSE(to_string(fault).empty());
    EXPECT_EQ(fault_named(to_string(fault)), fault);
  }
}

TEST(RoutePath, FindsTheEndpointBehindAnyPrefix) {
  EXPECT_EQ(route_path("/v1/chat/completions").route, Route::ChatCompletions);
  EXPECT_EQ(route_path("/api/paas/v4/chat/completions").route, Route::ChatCompletions);
  EXPECT_EQ(route_path("/v1/completions").route, Route::Completions);
  EXPECT_EQ(route_path("/v1/images/generations").route, Route::ImagesGenerations);
  EXPECT_EQ(route_path("/models/chat/completions").route, Route::ChatCompletions);
  EXPECT_EQ(route_path("/v1/models").route, Route::Models);
  EXPECT_EQ(route_path("/v1/models/org/name").model, "org/name");
  EXPECT_EQ(route_path("/v1/files").route, Route::Unknown);
  const RoutedPath azure = route_path("/openai/deployments/gpt/chat/completions");
  EXPECT_EQ(azure.route, Route::ChatCompletions);
  EXPECT_EQ(azure.model, "gpt");
  EXPECT_EQ(azure.vendor, "azure");
}

TEST(RoutePath, TakesDirectivesAndAVendorFromSegments) {
  const RoutedPath path = route_path("/zhipu/+fault=500+gap=1/v1/chat/completions");
  EXPECT_EQ(path.route, Route::ChatCompletions);
  EXPECT_EQ(path.directives, "fault=500+gap=1");
  EXPECT_EQ(path.vendor, "zhipu");
}

}  // namespace
}  // namespace qq::simulator
