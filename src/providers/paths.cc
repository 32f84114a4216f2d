#include "providers/paths.h"

#include <algorithm>

#include "providers/percent.h"

namespace qq::providers {
namespace {

using model::Endpoint;

// The first api-version that knows stream_options; older ones refuse the field.
constexpr std::string_view kAzureStreamOptionsSince = "2024-09-01";

Error config_error(std::string_view why) {
  return Error::gateway(ErrorKind::Config, std::string(why));
}

// Behind the base URL, of the endpoints that need nothing but a path.
std::string_view usual_path(const ProviderKind& kind, Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::ChatCompletions: return "/chat/completions";
    case Endpoint::Responses: return kind.responses_path;
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
    case Endpoint::Realtime: return "/realtime";
    case Endpoint::Messages: return "/v1/messages";
    case Endpoint::CountMessageTokens: return "/v1/messages/count_tokens";
    case Endpoint::CompactResponse: return "/responses/compact";
    case Endpoint::Files: return "/files";
    case Endpoint::Batches: return "/batches";
    case Endpoint::MessageFiles: return "/v1/files";
    case Endpoint::MessageBatches: return "/v1/messages/batches";
    case Endpoint::CohereChat: return "/chat";
    case Endpoint::CohereEmbed: return "/embed";
    case Endpoint::OllamaChat: return "/api/chat";
    default: return "";
  }
}

bool offers(const ProviderKind& kind, Endpoint endpoint) noexcept {
  return (kind.endpoints & bit_of(endpoint)) != 0;
}

void set_path(model::Target& target, Endpoint endpoint, std::string path, std::string stream_path = {}) {
  target.endpoints[static_cast<std::size_t>(endpoint)] = {std::move(path), std::move(stream_path)};
}

// A WebSocket's opening has no body: its URL names the model. `parameters`: up to that of the model.
void add_realtime_path(const ProviderKind& kind, const std::string& base, std::string_view parameters,
                       model::Target& target) {
  if (!offers(kind, Endpoint::Realtime)) return;
  set_path(target, Endpoint::Realtime,
           base + std::string(usual_path(kind, Endpoint::Realtime)) + "?" + std::string(parameters) + "=" +
               percent_encoded(target.upstream_model));
}

void add_base_paths(const ProviderKind& kind, const std::string& base, std::string_view query,
                    std::uint32_t offered, model::Target& target) {
  constexpr std::string_view kVersion = "/v1";
  for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
    const auto endpoint = static_cast<Endpoint>(i);
    if (!offers(kind, endpoint) || (offered & bit_of(endpoint)) == 0) continue;
    if (endpoint == Endpoint::Realtime) {
      add_realtime_path(kind, base, "model", target);
      continue;
    }
    std::string_view path = usual_path(kind, endpoint);
    if (base.ends_with(kVersion) && path.starts_with("/v1/")) path.remove_prefix(kVersion.size());
    set_path(target, endpoint, base + std::string(path) + std::string(query));
  }
}

constexpr std::uint32_t kEveryEndpoint = ~0U;
// These have no deployment in their path: they are reached by the /openai/v1 form. Realtime has it in its
// query.
constexpr std::uint32_t kPerDeployment =
    ~(bit_of(Endpoint::Responses) | bit_of(Endpoint::CompactResponse) | bit_of(Endpoint::Realtime) |
      bit_of(Endpoint::Files) | bit_of(Endpoint::Batches));

Result<> add_azure_paths(const ProviderKind& kind, const ProviderConfig& provider, std::string base,
                         model::Target& target) {
  if (base.ends_with("/openai/v1")) {
    add_base_paths(kind, base, {}, kEveryEndpoint, target);
    return {};
  }
  if (provider.api_version.empty()) {
    return fail(
        config_error("api_version is missing; set it (for example \"2024-10-21\"), or let base_url end in "
                     "/openai/v1, which "
                     "needs none"));
  }
  if (!base.ends_with("/openai")) base += "/openai";
  add_realtime_path(kind, base, "api-version=" + percent_encoded(provider.api_version) + "&deployment",
                    target);
  base += "/deployments/" + percent_encoded(target.upstream_model);
  add_base_paths(kind, base, "?api-version=" + percent_encoded(provider.api_version), kPerDeployment, target);
  target.quirks.sends_model_in_body = false;
  if (provider.api_version < kAzureStreamOptionsSince) target.quirks.force_include_usage = false;
  return {};
}

// `model`: up to its method, "/models/gemini-3-pro".
void add_google_methods(const ProviderKind& kind, const std::string& model, model::Target& target) {
  if (offers(kind, Endpoint::GenerateContent)) {
    set_path(target, Endpoint::GenerateContent, model + ":generateContent",
             model + ":streamGenerateContent?alt=sse");
  }
  if (offers(kind, Endpoint::CountContentTokens)) {
    set_path(target, Endpoint::CountContentTokens, model + ":countTokens");
  }
  if (offers(kind, Endpoint::Messages)) {
    set_path(target, Endpoint::Messages, model + ":rawPredict", model + ":streamRawPredict");
  }
}

// Names may say what they are a name of: "models/…", "tunedModels/…".
void add_gemini_paths(const ProviderKind& kind, const std::string& base, model::Target& target) {
  const std::string& name = target.upstream_model;
  const std::string_view under =
      name.starts_with("models/") || name.starts_with("tunedModels/") ? "/" : "/models/";
  const std::string model = base + std::string(under) + percent_encoded(name, under == "/" ? "/" : "");
  add_google_methods(kind, model, target);
  set_path(target, Endpoint::EmbedContent, model + ":embedContent");
  set_path(target, Endpoint::BatchEmbedContents, model + ":batchEmbedContents");
}

// Vertex has two ways to embed, by the model: Google's SDKs go by its name as well.
bool embeds_by_content(std::string_view model) noexcept {
  return (model.contains("gemini") && !model.contains("gemini-embedding-001")) || model.contains("maas");
}

// Names may be whole resources: "publishers/meta/models/…", "endpoints/…".
void add_vertex_paths(const ProviderKind& kind, const ProviderConfig& provider, std::string base,
                      model::Target& target) {
  base += "/projects/" + percent_encoded(provider.project, ":") + "/locations/" + provider.location + "/";
  const std::string& name = target.upstream_model;
  if (name.starts_with("publishers/") || name.starts_with("endpoints/")) {
    base += percent_encoded(name, "/");
  } else {
    base += offers(kind, Endpoint::Messages) ? "publishers/anthropic/models/" : "publishers/google/models/";
    base += percent_encoded(name, "@");  // Claude's versions: "claude-sonnet-4-5@20250929"
  }
  add_google_methods(kind, base, target);
  if (offers(kind, Endpoint::Messages)) {
    // A model of its own, whose body names the one that is meant; a name that is a whole resource says
    // another.
    const std::size_t models = base.rfind("/models/");
    if (models != std::string::npos && offers(kind, Endpoint::CountMessageTokens)) {
      set_path(target, Endpoint::CountMessageTokens,
               base.substr(0, models) + "/models/count-tokens:rawPredict");
    }
  } else if (embeds_by_content(name)) {
    set_path(target, Endpoint::EmbedContent, base + ":embedContent");
  } else {
    set_path(target, Endpoint::Predict, base + ":predict");
  }
}

// CountTokens takes the ids of models and none of inference profiles: "us.anthropic.claude-…" is that of the
// model behind a word for its regions, and what an ARN or a name of one's own stands for is not known.
std::string_view counted_model(std::string_view id) noexcept {
  constexpr std::string_view kMaker = "anthropic.";
  const std::size_t at = id.find(kMaker);
  if (at == std::string_view::npos || id.starts_with("arn:")) return {};
  return id.substr(at);
}

// Of InvokeModel each family has words of its own, of which dialects/embeddings knows two.
bool embeds(const model::Target& target) noexcept {
  const auto is = [&](std::string_view mark) {
    return target.upstream_model.contains(mark) || target.model.contains(mark);
  };
  return is("titan-embed") || is("cohere.embed");
}

void add_bedrock_paths(const ProviderKind& kind, const std::string& base, model::Target& target) {
  // Also of what is a whole ARN: it stays one segment.
  const std::string model = base + "/model/" + percent_encoded(target.upstream_model);
  if (offers(kind, Endpoint::Converse)) {
    set_path(target, Endpoint::Converse, model + "/converse", model + "/converse-stream");
  }
  if (offers(kind, Endpoint::InvokeEmbed) && embeds(target)) {
    set_path(target, Endpoint::InvokeEmbed, model + "/invoke");
  }
  if (offers(kind, Endpoint::Messages)) {
    set_path(target, Endpoint::Messages, model + "/invoke", model + "/invoke-with-response-stream");
  }
  const std::string_view counted = counted_model(target.upstream_model);
  if (offers(kind, Endpoint::CountMessageTokens) && !counted.empty()) {
    set_path(target, Endpoint::CountMessageTokens,
             base + "/model/" + percent_encoded(counted) + "/count-tokens");
  }
}

// What becomes a part of a host's name.
bool is_place(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// A key that this kind needs, or one that means nothing to it.
Result<> check_key(bool wanted, std::string_view key, std::string_view value, std::string_view example) {
  if (wanted && value.empty()) {
    return fail(
        config_error(std::string(key) + " is missing; set it (for example " + std::string(example) + ")"));
  }
  if (!wanted && !value.empty()) {
    return fail(
        config_error(std::string(key) + " is set, and means nothing to a provider of this kind; remove it"));
  }
  return {};
}

Result<> check_places(const ProviderKind& kind, const ProviderConfig& provider) {
  const bool vertex = kind.url == UrlForm::Vertex;
  const bool bedrock = kind.url == UrlForm::Bedrock;
  QQ_CHECK(check_key(vertex, "project", provider.project, "my-project-123"));
  QQ_CHECK(check_key(vertex, "location", provider.location, "europe-west4, or global"));
  QQ_CHECK(check_key(bedrock, "region", provider.region, "eu-central-1"));
  if (vertex && !is_place(provider.location)) {
    return fail(config_error("location must be small letters, digits and hyphens, such as europe-west4"));
  }
  if (bedrock && !is_place(provider.region)) {
    return fail(config_error("region must be small letters, digits and hyphens, such as eu-central-1"));
  }
  return {};
}

std::string filled_in(std::string_view pattern, std::string_view place, std::string_view value) {
  std::string out(pattern);
  if (const std::size_t at = out.find(place); at != std::string::npos) out.replace(at, place.size(), value);
  return out;
}

// Vertex has other hosts where the location is no single region.
std::string vertex_url(std::string_view pattern, const std::string& location) {
  if (location == "global") return "https://aiplatform.googleapis.com/v1";
  if (location == "us" || location == "eu")
    return "https://aiplatform." + location + ".rep.googleapis.com/v1";
  return filled_in(pattern, "{location}", location);
}

std::string bedrock_url(std::string_view pattern, const std::string& region) {
  std::string url = filled_in(pattern, "{region}", region);
  if (region.starts_with("cn-")) url += ".cn";
  return url;
}

}  // namespace

Result<std::string> base_url_of(const ProviderKind& kind, const ProviderConfig& provider) {
  QQ_CHECK(check_places(kind, provider));
  if (!provider.base_url.empty()) return provider.base_url;
  if (kind.base_url.empty()) return fail(config_error("base_url is missing, and this kind has no usual one"));
  switch (kind.url) {
    case UrlForm::Vertex: return vertex_url(kind.base_url, provider.location);
    case UrlForm::Bedrock: return bedrock_url(kind.base_url, provider.region);
    default: return std::string(kind.base_url);
  }
}

Result<> add_paths(const ProviderKind& kind, const ProviderConfig& provider, std::string base,
                   model::Target& target) {
  switch (kind.url) {
    case UrlForm::Base: add_base_paths(kind, base, {}, kEveryEndpoint, target); break;
    case UrlForm::AzureDeployment: return add_azure_paths(kind, provider, std::move(base), target);
    case UrlForm::Gemini: add_gemini_paths(kind, base, target); break;
    case UrlForm::Vertex: add_vertex_paths(kind, provider, std::move(base), target); break;
    case UrlForm::Bedrock: add_bedrock_paths(kind, base, target); break;
    case UrlForm::Declared: break;  // described: declared_adapter.h
  }
  return {};
}

}  // namespace qq::providers
