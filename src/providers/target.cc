#include <array>

#include "providers/catalogue.h"
#include "providers/percent_encoded.h"
#include "wire/http_head.h"

namespace qq::providers {
namespace {

using model::Endpoint;

// Behind the base URL, of the endpoints that need nothing but a path.
constexpr std::string_view usual_path(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::ChatCompletions: return "/chat/completions";
    case Endpoint::Responses: return "/responses";
    case Endpoint::Completions: return "/completions";
    case Endpoint::Embeddings: return "/embeddings";
    case Endpoint::Moderations: return "/moderations";
    case Endpoint::ImagesGenerations: return "/images/generations";
    case Endpoint::CountInputTokens: return "/responses/input_tokens";
    case Endpoint::Rerank: return "/rerank";
    case Endpoint::ImagesEdits: return "/images/edits";
    case Endpoint::AudioSpeech: return "/audio/speech";
    case Endpoint::AudioTranscriptions: return "/audio/transcriptions";
    case Endpoint::AudioTranslations: return "/audio/translations";
    default: return "";
  }
}

// The first api-version that knows stream_options; older ones refuse the field.
constexpr std::string_view kAzureStreamOptionsSince = "2024-09-01";

Error bad(const ProviderConfig& provider, std::string_view why) {
  return Error::gateway(ErrorKind::Config, "provider \"" + provider.name + "\": " + std::string(why));
}

Result<std::string> auth_lines(const ProviderConfig& provider, const AccountConfig& account, AuthForm form) {
  if (form == AuthForm::None || account.credential.empty()) return std::string();
  const std::string_view key = account.credential.reveal();
  if (!wire::is_safe_field_value(key)) {
    return fail(bad(provider, "the credential of account \"" + account.name +
                                  "\" holds a line end or a control byte; is it read from a file with more "
                                  "than one line?"));
  }
  std::string line = form == AuthForm::ApiKeyHeader ? "api-key: " : "authorization: Bearer ";
  line += key;
  line += "\r\n";
  return line;
}

std::string_view path_of(const ProviderKind& kind, std::string_view base, std::size_t endpoint) {
  if (static_cast<Endpoint>(endpoint) != Endpoint::Responses) {
    return usual_path(static_cast<Endpoint>(endpoint));
  }
  constexpr std::string_view kVersion = "/v1";
  std::string_view path = kind.responses_path;
  if (base.ends_with(kVersion) && path.starts_with("/v1/")) path.remove_prefix(kVersion.size());
  return path;
}

void add_paths(const ProviderKind& kind, const std::string& base, std::string_view query,
               std::uint32_t offered, model::Target& target) {
  for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
    if ((kind.endpoints & offered & (1U << i)) == 0) continue;
    target.endpoints[i].path_and_query = base + std::string(path_of(kind, base, i)) + std::string(query);
  }
}

constexpr std::uint32_t kEveryEndpoint = ~0U;
// The responses endpoint has no deployment in its path: it is reached by the /openai/v1 form.
constexpr std::uint32_t kPerDeployment = ~(1U << static_cast<unsigned>(Endpoint::Responses));

Result<> add_azure_paths(const ProviderKind& kind, const ProviderConfig& provider, std::string path,
                         model::Target& target) {
  if (path.ends_with("/openai/v1")) {
    add_paths(kind, path, {}, kEveryEndpoint, target);
    return {};
  }
  if (provider.api_version.empty()) {
    return fail(bad(provider,
                    "api_version is missing; set it (for example \"2024-10-21\"), or let base_url end in "
                    "/openai/v1, which needs none"));
  }
  if (!path.ends_with("/openai")) path += "/openai";
  path += "/deployments/" + percent_encoded(target.upstream_model);
  add_paths(kind, path, "?api-version=" + percent_encoded(provider.api_version), kPerDeployment, target);
  target.quirks.sends_model_in_body = false;
  if (provider.api_version < kAzureStreamOptionsSince) target.quirks.force_include_usage = false;
  return {};
}

}  // namespace

Result<model::Target> make_target(const ProviderConfig& provider, const AccountConfig& account,
                                  std::string_view model_name, std::string_view upstream_model) {
  const ProviderKind* kind = find_kind(provider.kind);
  if (kind == nullptr) {
    return fail(bad(provider, "there is no provider kind \"" + provider.kind +
                                  "\"; use openai_compatible for a server that is not in the catalogue"));
  }
  const std::string base_url = provider.base_url.empty() ? std::string(kind->base_url) : provider.base_url;
  if (base_url.empty()) return fail(bad(provider, "base_url is missing, and this kind has no usual one"));
  auto url = parse_base_url(base_url);
  if (!url) return fail(bad(provider, url.error().message));

  model::Target target;
  target.provider = provider.name;
  target.account = account.name;
  target.account_name = provider.name + "/" + account.name;
  target.limit_group_name =
      account.limit_group.empty() ? target.account_name : provider.name + "/" + account.limit_group;
  target.kind = provider.kind;
  target.model = model_name;
  target.upstream_model = upstream_model.empty() ? model_name : upstream_model;
  if (kind->limits == LimitScope::Model) target.limit_group_name += "/" + target.upstream_model;
  target.name = target.account_name + "/" + target.model;
  target.origin = std::move(url->origin);
  target.origin.allow_private_address = provider.allow_private_address;
  // A connection that was let through to a private address must not serve a provider that may not go there.
  if (provider.allow_private_address) target.origin.pool_key += "#private";
  target.quirks = kind->quirks;
  target.drain_for_usage = provider.drain_for_usage;

  QQ_TRY(std::string lines, auth_lines(provider, account, kind->auth));
  target.auth_header_lines = Secret(std::move(lines));
  if (kind->url == UrlForm::AzureDeployment) {
    QQ_CHECK(add_azure_paths(*kind, provider, std::move(url->path), target));
  } else {
    add_paths(*kind, url->path, {}, kEveryEndpoint, target);
  }
  return target;
}

}  // namespace qq::providers
