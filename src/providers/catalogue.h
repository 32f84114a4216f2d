// The catalogue of provider kinds: where they are, how they authenticate, what they offer and which habits
// they have. A table, not code per provider; what is peculiar stands beside the entries.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/endpoint.h"
#include "model/target.h"
#include "providers/provider_config.h"

namespace qq::providers {

enum class AuthForm : std::uint8_t {
  Bearer,
  ApiKeyHeader,      // api-key
  XApiKey,           // x-api-key
  XApiKeyAndBearer,  // both: of Anthropic's imitators some read the one, some the other
  XGoogApiKey,       // x-goog-api-key
  AwsKeys,           // "ID:SECRET[:TOKEN]" signs (providers/sigv4.h), anything else is a Bedrock API key
  GoogleAccount,     // a service account's JSON, for which tokens are fetched (providers/google_token.h)
  None,
};
enum class UrlForm : std::uint8_t {
  Base,             // base_url + path of the endpoint ("/chat/completions")
  AzureDeployment,  // base_url + /openai/deployments/{model}/… ?api-version=…
  Gemini,           // base_url + /models/{model}:generateContent
  Vertex,           // base_url + /projects/{project}/locations/{location}/publishers/{whose}/models/{model}:…
  Bedrock,          // base_url + /model/{model}/…
  Declared,         // base_url + what the provider's `adapter` says
};

// Whose a rate limit is: a 429 rests the whole account (or limit group), or one model of it.
enum class LimitScope : std::uint8_t { Account, Model };

struct ProviderKind {
  std::string_view name;   // "openai", "azure_openai", "openai_compatible", ...
  std::string_view title;  // "Azure OpenAI"
  // Default, with version path: "https://api.openai.com/v1"; empty: must be given. "{location}" and
  // "{region}" stand for the provider's.
  std::string_view base_url;
  AuthForm auth = AuthForm::Bearer;
  UrlForm url = UrlForm::Base;
  std::uint32_t endpoints = 0;  // bit per model::Endpoint
  model::Quirks quirks;
  std::string_view key_env;  // usual environment variable of the key: "OPENAI_API_KEY"
  // Behind base_url. A leading "/v1" is left out where base_url ends in it.
  std::string_view responses_path = "/responses";
  LimitScope limits = LimitScope::Account;
};

// Its bit in ProviderKind::endpoints.
constexpr std::uint32_t bit_of(model::Endpoint endpoint) noexcept {
  return 1U << static_cast<unsigned>(endpoint);
}

std::span<const ProviderKind> catalogue() noexcept;
const ProviderKind* find_kind(std::string_view name) noexcept;

// "https://host[:port]/path" taken apart. Errors (kind Config): other schemes, user info, fragments, control
// bytes, empty host. `path` has no trailing slash.
struct BaseUrl {
  model::Origin origin;
  std::string path;
};
Result<BaseUrl> parse_base_url(std::string_view url);

// Whether an account at a provider of this kind can have this credential; an empty one sends none. Errors
// (Config) say what is wrong with it and quote nothing of it.
Result<> check_credential(const ProviderKind& kind, const Secret& credential);

// One target: URL forms, authentication, quirks resolved. Errors are Config errors naming the provider.
Result<model::Target> make_target(const ProviderConfig& provider, const AccountConfig& account,
                                  std::string_view model_name, std::string_view upstream_model);

}  // namespace qq::providers
