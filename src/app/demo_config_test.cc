#include "app/demo_config.h"

#include <gtest/gtest.h>

#include <map>

#include "config/compile.h"
#include "providers/catalogue.h"

namespace qq::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DemoConfig with_environment(const std::map<std::string, std::string>& variables) {
  return make_demo_config("127.0.0.1:0", "a-key", "http://127.0.0.1:1/v1",
                          [&variables](const std::string& name) -> std::optional<std::string> {
                            const auto found = variables.find(name);
                            if (found == variables.end()) return std::nullopt;
                            return found->second;
                          });
}

// Whether the gateway would start with it.
bool compiles(const DemoConfig& demo) {
  resilience::HealthRegistry healths;
  return config::compile(demo.config, healths, 1, WallTime{}).has_value();
}

TEST(DemoConfig, WithoutKeysItHasSimulatedModelsOnly) {
  const DemoConfig demo = with_environment({});
  EXPECT_TRUE(compiles(demo));
  EXPECT_THAT(demo.real_models, IsEmpty());
  EXPECT_THAT(demo.missing, IsEmpty());
}

TEST(DemoConfig, ListsEveryNameThatAClientMayAskFor) {
  const DemoConfig demo = with_environment({});
  for (const auto& model : demo.config.models) {
    if (!model.hidden) EXPECT_THAT(demo.simulated_models, Contains(model.name));
  }
  for (const auto& route : demo.config.routes) EXPECT_THAT(demo.simulated_models, Contains(route.name));
  EXPECT_THAT(demo.simulated_models, Contains("omni-moderation-latest"));
}

TEST(DemoConfig, AKeyAddsItsProvidersModels) {
  const DemoConfig demo = with_environment({{"ANTHROPIC_API_KEY", "sk-1"}, {"XAI_API_KEY", ""}});
  EXPECT_TRUE(compiles(demo));
  EXPECT_THAT(demo.real_models, Contains("claude-haiku-4-5"));
  EXPECT_EQ(demo.config.providers.back().kind, "anthropic");
  EXPECT_THAT(demo.missing, IsEmpty()) << "an empty variable is none";
}

TEST(DemoConfig, AKeyThatIsNotEnoughSaysWhatItsProviderNeeds) {
  const DemoConfig demo = with_environment({{"AZURE_OPENAI_API_KEY", "k"},
                                            {"PERPLEXITY_API_KEY", "k"},
                                            {"OLLAMA_API_KEY", "k"},
                                            {"AWS_BEARER_TOKEN_BEDROCK", "k"}});
  EXPECT_TRUE(compiles(demo));
  EXPECT_THAT(demo.real_models, IsEmpty());
  EXPECT_THAT(
      demo.missing,
      ElementsAre(AllOf(HasSubstr("AZURE_OPENAI_API_KEY"), HasSubstr("base_url")),
                  AllOf(HasSubstr("PERPLEXITY_API_KEY"), HasSubstr("also needs the names of its models")),
                  AllOf(HasSubstr("OLLAMA_API_KEY"), HasSubstr("allow_private_address")),
                  AllOf(HasSubstr("AWS_BEARER_TOKEN_BEDROCK"), HasSubstr("region"))));
}

TEST(DemoConfig, EveryKeyOfTheCatalogueDoesSomething) {
  for (const providers::ProviderKind& kind : providers::catalogue()) {
    if (kind.key_env.empty()) continue;
    const DemoConfig demo = with_environment({{std::string(kind.key_env), "k"}});
    EXPECT_TRUE(compiles(demo)) << kind.name;
    EXPECT_NE(demo.real_models.empty(), demo.missing.empty()) << kind.name;
  }
}

}  // namespace
}  // namespace qq::app
