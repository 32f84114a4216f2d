#include "app/demo_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "admission/key_hash.h"
#include "base/assert.h"
#include "base/hex.h"
#include "base/random.h"
#include "providers/catalogue.h"

namespace qq::app {
namespace {

// A throw-away pepper is enough: the demo's keys die with it.
std::string random_pepper() {
  std::array<std::byte, 32> bytes{};
  fill_with_secure_random(bytes);
  return to_hex(bytes);
}

// Models that a provider with a key in the environment is offered with. Names of the vendors' model pages and
// of recorded traffic; those of a provider whose names one has to look up first are not here.
struct RealModels {
  std::string_view kind;
  std::array<std::string_view, 3> names;
};
constexpr std::array<RealModels, 17> kRealModels = {{
    {"openai", {"gpt-4o-mini", "gpt-4.1-mini", "text-embedding-3-small"}},
    {"anthropic", {"claude-haiku-4-5", "claude-sonnet-4-6", ""}},
    {"gemini", {"gemini-2.5-flash", "gemini-2.5-pro", ""}},
    {"deepseek", {"deepseek-chat", "deepseek-reasoner", ""}},
    {"zhipu", {"glm-4-flash", "glm-4.5-air", ""}},
    {"moonshot", {"kimi-latest", "moonshot-v1-8k", ""}},
    {"qwen", {"qwen-plus", "qwen-turbo", ""}},
    {"minimax", {"MiniMax-M2", "", ""}},
    {"qianfan", {"ernie-4.5-turbo-128k", "", ""}},
    {"mistral", {"mistral-small-latest", "mistral-embed", ""}},
    {"groq", {"llama-3.1-8b-instant", "llama-3.3-70b-versatile", ""}},
    {"xai", {"grok-4.3", "grok-3-mini", ""}},
    {"together", {"meta-llama/Llama-3.3-70B-Instruct-Turbo", "", ""}},
    {"fireworks", {"accounts/fireworks/models/llama-v3p3-70b-instruct", "", ""}},
    {"openrouter", {"openai/gpt-4o-mini", "google/gemini-2.5-flash", ""}},
    {"cohere", {"command-a-03-2025", "", ""}},
    {"jina", {"jina-embeddings-v3", "jina-reranker-v2-base-multilingual", ""}},
}};

// What a provider of this kind needs that the demo cannot know.
std::string_view needed_beside_the_key(const providers::ProviderKind& kind) {
  if (kind.base_url.empty()) return "its base_url and the names of its models";
  if (kind.base_url.contains("{region}")) return "its region and the names of its models";
  if (kind.base_url.starts_with("http://127.0.0.1")) {
    return "allow_private_address, being an engine of your own, and the names of its models";
  }
  return "the names of its models";
}

routing::ModelConfig model(std::string name, std::string provider, std::string upstream_name) {
  routing::ModelConfig config;
  config.name = std::move(name);
  config.provider = std::move(provider);
  config.upstream_name = std::move(upstream_name);
  return config;
}

void add_simulated(DemoConfig& demo, const std::string& simulator_url) {
  config::Config& config = demo.config;
  for (const std::string_view name : {"sim-one", "sim-two"}) {
    providers::ProviderConfig provider;
    provider.name = name;
    provider.kind = "openai_compatible";
    provider.base_url = simulator_url;
    provider.allow_private_address = true;
    providers::AccountConfig account;
    account.name = "main";
    account.credential = Secret("sk-simulated");
    provider.accounts.push_back(std::move(account));
    config.providers.push_back(std::move(provider));
  }
  demo.simulated_models = {"sim-chat",       "sim-reasoner", "sim-embedding",
                           "sim-moderation", "sim-image",    "sim-fallback"};
  for (const std::string& name : demo.simulated_models) {
    if (name != "sim-fallback") config.models.push_back(model(name, "sim-one", name));
  }
  // What the official SDKs ask for where no model is named.
  config.models.push_back(model("omni-moderation-latest", "sim-one", "sim-moderation"));
  demo.simulated_models.emplace_back("omni-moderation-latest");
  // A route whose first provider always fails: what a fallback looks like (see x-queqiao-attempts).
  config.models.push_back(model("sim-broken", "sim-one", "sim-chat+fault=503"));
  config.models.back().hidden = true;
  config.models.push_back(model("sim-spare", "sim-two", "sim-chat"));
  config.models.back().hidden = true;
  routing::RouteConfig route;
  route.name = "sim-fallback";
  routing::CandidateConfig broken;
  broken.model = "sim-broken";
  routing::CandidateConfig spare;
  spare.model = "sim-spare";
  route.candidates = {broken};
  route.fallback = {spare};
  config.routes.push_back(std::move(route));
}

void add_real(DemoConfig& demo,
              const std::function<std::optional<std::string>(const std::string&)>& variable) {
  for (const RealModels& real : kRealModels) {
    const providers::ProviderKind* kind = providers::find_kind(real.kind);
    QQ_ASSERT(kind != nullptr);
    const auto key = variable(std::string(kind->key_env));
    if (!key || key->empty()) continue;
    providers::ProviderConfig provider;
    provider.name = real.kind;
    provider.kind = real.kind;
    providers::AccountConfig account;
    account.name = "main";
    account.credential = Secret(*key);
    provider.accounts.push_back(std::move(account));
    demo.config.providers.push_back(std::move(provider));
    for (const std::string_view name : real.names) {
      if (name.empty()) continue;
      demo.config.models.push_back(model(std::string(name), std::string(real.kind), std::string(name)));
      demo.real_models.emplace_back(name);
    }
  }
}

void tell_missing(DemoConfig& demo,
                  const std::function<std::optional<std::string>(const std::string&)>& variable) {
  std::vector<std::string_view> told;  // some variables are those of two kinds
  for (const providers::ProviderKind& kind : providers::catalogue()) {
    if (kind.key_env.empty() || std::ranges::find(told, kind.key_env) != told.end()) continue;
    if (std::ranges::find(kRealModels, kind.name, &RealModels::kind) != kRealModels.end()) continue;
    told.push_back(kind.key_env);
    const auto key = variable(std::string(kind.key_env));
    if (!key || key->empty()) continue;
    demo.missing.push_back(
        fmt::format("{} is set, but a provider of kind {} also needs {}: write a configuration", kind.key_env,
                    kind.name, needed_beside_the_key(kind)));
  }
}

}  // namespace

DemoConfig make_demo_config(const std::string& listen, const std::string& key,
                            const std::string& simulator_url,
                            const std::function<std::optional<std::string>(const std::string&)>& variable) {
  DemoConfig demo;
  config::Config& config = demo.config;
  downstream::ListenerConfig listener;
  listener.address = listen;
  listener.serve_metrics = true;
  config.listeners.push_back(std::move(listener));
  downstream::ListenerConfig admin;
  admin.address = "127.0.0.1:0";
  admin.serve_api = false;
  admin.serve_admin = true;
  config.listeners.push_back(std::move(admin));
  config.timers.drain_announce = Milliseconds{0};  // no load balancer stands before it
  config.key_pepper = Secret(random_pepper());
  add_simulated(demo, simulator_url);
  add_real(demo, variable);
  tell_missing(demo, variable);

  const auto hasher = admission::KeyHasher::make(config.key_pepper);
  QQ_ASSERT(hasher.has_value());
  admission::KeyConfig demo_key;
  demo_key.name = demo_key.owner = "demo";
  demo_key.hash = admission::to_text(hasher->digest(key));
  config.keys.push_back(std::move(demo_key));
  return demo;
}

}  // namespace qq::app
