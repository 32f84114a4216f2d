#include "relay/called.h"

#include <algorithm>
#include <array>

#include "base/percent.h"
#include "wire/multipart.h"

namespace qq::relay {
namespace {

using model::Endpoint;

struct Path {
  std::string_view text;
  Endpoint endpoint;
};
constexpr std::array kPaths = {
    Path{"/v1/chat/completions", Endpoint::ChatCompletions},
    Path{"/v1/responses", Endpoint::Responses},
    Path{"/v1/completions", Endpoint::Completions},
    Path{"/v1/embeddings", Endpoint::Embeddings},
    Path{"/v1/moderations", Endpoint::Moderations},
    Path{"/v1/images/generations", Endpoint::ImagesGenerations},
    Path{"/v1/messages", Endpoint::Messages},
    Path{"/v1/messages/count_tokens", Endpoint::CountMessageTokens},
    Path{"/v1/responses/input_tokens", Endpoint::CountInputTokens},
    Path{"/v1/responses/compact", Endpoint::CompactResponse},
    Path{"/v1/rerank", Endpoint::Rerank},
    Path{"/v2/rerank", Endpoint::Rerank},  // as Cohere's SDKs ask
    Path{"/v1/audio/speech", Endpoint::AudioSpeech},
    Path{"/v1/audio/transcriptions", Endpoint::AudioTranscriptions},
    Path{"/v1/audio/translations", Endpoint::AudioTranslations},
    Path{"/v1/images/edits", Endpoint::ImagesEdits},
};

struct Method {
  std::string_view name;
  Endpoint endpoint;
  std::string_view path;  // for logs: the model is told elsewhere
  bool stream;
};
constexpr std::array kMethods = {
    Method{"generateContent", Endpoint::GenerateContent, "/v1beta/models/{model}:generateContent", false},
    Method{"streamGenerateContent", Endpoint::GenerateContent, "/v1beta/models/{model}:streamGenerateContent",
           true},
    Method{"countTokens", Endpoint::CountContentTokens, "/v1beta/models/{model}:countTokens", false},
    Method{"embedContent", Endpoint::EmbedContent, "/v1beta/models/{model}:embedContent", false},
    Method{"batchEmbedContents", Endpoint::BatchEmbedContents, "/v1beta/models/{model}:batchEmbedContents",
           false},
};

// Whether a query holds `name=value`.
bool asks_for(std::string_view query, std::string_view pair) noexcept {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    if (query.substr(0, end) == pair) return true;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return false;
}

// "/v1beta/models/gemini-pro:generateContent".
std::optional<Called> gemini_called(std::string_view path, std::string_view query) {
  constexpr std::string_view kModels = "/models/";
  if (path.starts_with("/v1beta")) {
    path.remove_prefix(7);
  } else if (path.starts_with("/v1")) {
    path.remove_prefix(3);
  } else {
    return std::nullopt;
  }
  if (!path.starts_with(kModels)) return std::nullopt;
  path.remove_prefix(kModels.size());
  const std::size_t colon = path.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto method = std::ranges::find(kMethods, path.substr(colon + 1), &Method::name);
  if (method == kMethods.end()) return std::nullopt;
  auto model = percent_decoded(path.substr(0, colon));
  if (!model) return std::nullopt;
  Called called{method->endpoint, method->path, std::make_unique<NativeHead>()};
  called.native->path_model = *std::move(model);
  called.native->path_stream = method->stream;
  called.native->array_stream = method->stream && !asks_for(query, "alt=sse");
  return called;
}

constexpr bool takes_forms(Endpoint endpoint) noexcept {
  return endpoint == Endpoint::AudioTranscriptions || endpoint == Endpoint::AudioTranslations ||
         endpoint == Endpoint::ImagesEdits;
}

}  // namespace

std::optional<Called> endpoint_called(const wire::RequestHead& head) {
  const std::string_view path = head.path();
  const auto found = std::ranges::find(kPaths, path, &Path::text);
  if (found == kPaths.end()) return gemini_called(path, head.query());
  Called called{found->endpoint, found->text, nullptr};
  if (model::dialect_of(called.endpoint) == model::Dialect::Anthropic) {
    called.native = std::make_unique<NativeHead>();
    called.native->beta = head.fields.find("anthropic-beta").value_or("");
    called.native->version = head.fields.find("anthropic-version").value_or("");
  }
  const auto type = takes_forms(called.endpoint) ? head.fields.find("content-type") : std::nullopt;
  if (type && wire::is_form_type(*type)) {
    called.native = std::make_unique<NativeHead>();
    called.native->form_type = *type;
  }
  return called;
}

bool is_endpoint(std::string_view path) {
  return std::ranges::find(kPaths, path, &Path::text) != kPaths.end() || gemini_called(path, {});
}

model::Dialect dialect_of_path(std::string_view path) noexcept {
  if (path.starts_with("/v1/messages")) return model::Dialect::Anthropic;
  const bool is_gemini =
      path.starts_with("/v1beta/") || (path.starts_with("/v1/models/") && path.find(':') != path.npos);
  if (is_gemini) return model::Dialect::Gemini;
  return path.starts_with("/v1/responses") ? model::Dialect::OpenAiResponses : model::Dialect::OpenAiChat;
}

}  // namespace qq::relay
