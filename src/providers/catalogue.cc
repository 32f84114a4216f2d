#include "providers/catalogue.h"

#include <algorithm>

namespace qq::providers {
namespace {

using model::Endpoint;
using model::Quirks;

template <typename... Endpoints>
constexpr std::uint32_t bits(Endpoints... endpoints) noexcept {
  return (bit_of(endpoints) | ...);
}

constexpr Endpoint Chats = Endpoint::ChatCompletions;
constexpr Endpoint Responses = Endpoint::Responses;
constexpr Endpoint Completions = Endpoint::Completions;
constexpr Endpoint Embeddings = Endpoint::Embeddings;
constexpr Endpoint Moderations = Endpoint::Moderations;
constexpr Endpoint Images = Endpoint::ImagesGenerations;
constexpr Endpoint Edits = Endpoint::ImagesEdits;
constexpr Endpoint Rerank = Endpoint::Rerank;
constexpr Endpoint Speech = Endpoint::AudioSpeech;
constexpr Endpoint Transcriptions = Endpoint::AudioTranscriptions;
constexpr Endpoint Translations = Endpoint::AudioTranslations;
constexpr Endpoint Realtime = Endpoint::Realtime;
constexpr Endpoint Messages = Endpoint::Messages;
constexpr Endpoint MessageTokens = Endpoint::CountMessageTokens;
constexpr Endpoint Contents = Endpoint::GenerateContent;
constexpr Endpoint ContentTokens = Endpoint::CountContentTokens;
constexpr Endpoint Files = Endpoint::Files;
constexpr Endpoint Batches = Endpoint::Batches;
constexpr Endpoint MessageFiles = Endpoint::MessageFiles;
constexpr Endpoint MessageBatches = Endpoint::MessageBatches;
constexpr std::uint32_t kOpenai =
    bits(Chats, Responses, Completions, Embeddings, Moderations, Images, Edits, Speech, Transcriptions,
         Translations, Realtime, Endpoint::CountInputTokens, Endpoint::CompactResponse, Files, Batches);

using Chat = model::ChatQuirks;

constexpr Quirks kUsualQuirks{};
// Asked in another dialect, its reasoning models say and take more in responses: their thoughts come back
// with the next turn only there, and chat refuses tools together with thinking since GPT-5.4.
constexpr Quirks kOpenaiQuirks{
    .prefers_responses = true, .seals_thoughts = true, .chat = {.openai_words = true}};
// Send usage with every stream of their own accord: nothing is gained by asking.
constexpr Quirks kUsageUnaskedQuirks{.force_include_usage = false};
// The same, and answers 422 (extra_forbidden) to a client that asks.
constexpr Quirks kMistralQuirks{.force_include_usage = false,
                                .refuses_include_usage = true,
                                .chat = {.thoughts = Chat::Thoughts::Parts,
                                         .must_call = Chat::MustCall::Any,
                                         .prefill = Chat::Prefill::Prefix,
                                         .nine_letter_ids = true,
                                         .strict_fields = true,
                                         .temperature_max = 1.5}};
// xAI calls its chat deprecated; it has no place for thoughts, neither there nor back.
constexpr Quirks kXaiQuirks{.reasoning_excluded_from_output = true, .prefers_responses = true};
// Refuse a turn with calls that comes back without its thoughts; Moonshot refuses empty ones too.
constexpr Quirks kDeepseekQuirks{
    .chat = {.thinking = Chat::Thinking::SwitchAndEffort, .thoughts = Chat::Thoughts::WithCalls}};
constexpr Quirks kMoonshotQuirks{.chat = {.thinking = Chat::Thinking::Switch,
                                          .thoughts = Chat::Thoughts::FilledCalls,
                                          .prefill = Chat::Prefill::Partial,
                                          .temperature_max = 1}};
constexpr Quirks kZhipuQuirks{.force_include_usage = false,
                              .chat = {.thinking = Chat::Thinking::SwitchAndEffort,
                                       .thoughts = Chat::Thoughts::Content,
                                       .must_call = Chat::MustCall::Never,
                                       .temperature_max = 1}};
constexpr Quirks kQwenQuirks{
    .chat = {.thinking = Chat::Thinking::Budget, .thoughts = Chat::Thoughts::Content, .takes_top_k = true}};
constexpr Quirks kOpenrouterQuirks{.force_include_usage = false,
                                   .chat = {.thinking = Chat::Thinking::Object,
                                            .thoughts = Chat::Thoughts::Details,
                                            .prefill = Chat::Prefill::Plain,
                                            .takes_top_k = true,
                                            .takes_cache_control = true,
                                            .takes_file_urls = true}};
// Engines that take what they don't know, and sample by their own rules too.
constexpr Quirks kEngineQuirks{.chat = {.thoughts = Chat::Thoughts::Content, .takes_top_k = true}};
constexpr Quirks kTakesTopKQuirks{.chat = {.takes_top_k = true}};
// The model is in the URL.
constexpr Quirks kModelInUrlQuirks{.sends_model_in_body = false};
constexpr Quirks kVertexMessagesQuirks{.sends_model_in_body = false,
                                       .messages_form = model::MessagesForm::Vertex};
constexpr Quirks kBedrockMessagesQuirks{.sends_model_in_body = false,
                                        .messages_form = model::MessagesForm::BedrockInvoke};

// Base URLs, endpoints and variables as published by the providers; check them before relying on a provider
// that is not in your own tests. The habits come from recorded traffic and from documentation read in
// November 2026. Azure's `model` quirk depends on its URL form and is set by make_target.
constexpr std::array kCatalogue = {
    ProviderKind{"openai", "OpenAI", "https://api.openai.com/v1", AuthForm::Bearer, UrlForm::Base, kOpenai,
                 kOpenaiQuirks, "OPENAI_API_KEY"},
    // https://{resource}.openai.azure.com with api_version, or …/openai/v1 without.
    ProviderKind{"azure_openai", "Azure OpenAI", "", AuthForm::ApiKeyHeader, UrlForm::AzureDeployment,
                 bits(Chats, Responses, Completions, Embeddings, Images, Edits, Speech, Transcriptions,
                      Translations, Realtime, Endpoint::CompactResponse, Files, Batches),
                 kOpenaiQuirks, "AZURE_OPENAI_API_KEY"},
    ProviderKind{"deepseek", "DeepSeek", "https://api.deepseek.com", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses), kDeepseekQuirks, "DEEPSEEK_API_KEY"},
    ProviderKind{"zhipu", "Zhipu (Z.ai)", "https://open.bigmodel.cn/api/paas/v4", AuthForm::Bearer,
                 UrlForm::Base, bits(Chats, Embeddings, Images), kZhipuQuirks, "ZHIPU_API_KEY"},
    // The only provider with usage inside choices[0]; sends it when asked only.
    ProviderKind{"moonshot", "Moonshot (Kimi)", "https://api.moonshot.cn/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses), kMoonshotQuirks, "MOONSHOT_API_KEY"},
    ProviderKind{"qwen", "Qwen (DashScope, compatible mode)",
                 "https://dashscope.aliyuncs.com/compatible-mode/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Embeddings, Files, Batches), kQwenQuirks,
                 "DASHSCOPE_API_KEY", "/responses", LimitScope::Model},
    ProviderKind{"minimax", "MiniMax", "https://api.minimaxi.com/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses), kUsualQuirks, "MINIMAX_API_KEY"},
    ProviderKind{"ark", "Volcengine Ark (Doubao)", "https://ark.cn-beijing.volces.com/api/v3",
                 AuthForm::Bearer, UrlForm::Base, bits(Chats, Responses, Embeddings, Images), kUsualQuirks,
                 "ARK_API_KEY"},
    // api.hunyuan.cloud.tencent.com was shut on 2026-09-30; TokenHub is its successor. Responses are there
    // for some models only.
    ProviderKind{"hunyuan", "Tencent TokenHub (Hunyuan)", "https://tokenhub.tencentmaas.com/v1",
                 AuthForm::Bearer, UrlForm::Base, bits(Chats, Responses, Embeddings), kUsualQuirks,
                 "HUNYUAN_API_KEY"},
    ProviderKind{"qianfan", "Baidu Qianfan", "https://qianfan.baidubce.com/v2", AuthForm::Bearer,
                 UrlForm::Base, bits(Chats, Embeddings, Images), kUsualQuirks, "QIANFAN_API_KEY"},
    ProviderKind{"mistral", "Mistral", "https://api.mistral.ai/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Embeddings, Moderations, Transcriptions), kMistralQuirks, "MISTRAL_API_KEY"},
    ProviderKind{"groq", "Groq", "https://api.groq.com/openai/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Speech, Transcriptions, Translations, Files, Batches),
                 kUsageUnaskedQuirks, "GROQ_API_KEY"},
    ProviderKind{"xai", "xAI", "https://api.x.ai/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Images), kXaiQuirks, "XAI_API_KEY"},
    ProviderKind{"together", "Together", "https://api.together.ai/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Completions, Embeddings, Images, Rerank, Speech, Transcriptions, Translations),
                 kTakesTopKQuirks, "TOGETHER_API_KEY"},
    ProviderKind{"fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", AuthForm::Bearer,
                 UrlForm::Base, bits(Chats, Responses, Completions, Embeddings), kTakesTopKQuirks,
                 "FIREWORKS_API_KEY"},
    ProviderKind{"openrouter", "OpenRouter", "https://openrouter.ai/api/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Embeddings, Rerank), kOpenrouterQuirks,
                 "OPENROUTER_API_KEY"},
    // Chat was retired on 2026-09-27 and is offered for proxies of the old form; responses are under /v1.
    ProviderKind{"perplexity", "Perplexity", "https://api.perplexity.ai", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses), kUsageUnaskedQuirks, "PERPLEXITY_API_KEY", "/v1/responses"},
    // Engines one runs oneself: a key is optional, and private addresses must be opened in the configuration.
    ProviderKind{"vllm", "vLLM", "http://127.0.0.1:8000/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Embeddings, Rerank, Transcriptions, Translations),
                 kEngineQuirks, "VLLM_API_KEY"},
    ProviderKind{"sglang", "SGLang", "http://127.0.0.1:30000/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Completions, Embeddings, Rerank), kEngineQuirks, "SGLANG_API_KEY"},
    // Its usual port is 8080, which is ours, so the address must be given.
    ProviderKind{"llamacpp", "llama.cpp server", "", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Embeddings, Rerank), kEngineQuirks, "LLAMA_API_KEY"},
    ProviderKind{"ollama", "Ollama", "http://127.0.0.1:11434/v1", AuthForm::Bearer, UrlForm::Base,
                 bits(Chats, Responses, Completions, Embeddings), kEngineQuirks, "OLLAMA_API_KEY"},
    ProviderKind{"openai_compatible", "Any OpenAI-compatible server", "", AuthForm::Bearer, UrlForm::Base,
                 kOpenai | bits(Rerank), kUsualQuirks, ""},
    // Other dialects. Limits are a model's at all of the large ones.
    ProviderKind{.name = "anthropic",
                 .title = "Anthropic",
                 .base_url = "https://api.anthropic.com/v1",
                 .auth = AuthForm::XApiKey,
                 .endpoints = bits(Messages, MessageTokens, MessageFiles, MessageBatches),
                 .key_env = "ANTHROPIC_API_KEY",
                 .limits = LimitScope::Model},
    // Both forms of base URL are about: with /v1 and, as Anthropic's SDKs want it, without.
    ProviderKind{.name = "anthropic_compatible",
                 .title = "Any server with Anthropic's messages",
                 .auth = AuthForm::XApiKeyAndBearer,
                 .endpoints = bits(Messages, MessageTokens, MessageFiles, MessageBatches)},
    ProviderKind{
        .name = "gemini",
        .title = "Google AI Studio (Gemini)",
        .base_url = "https://generativelanguage.googleapis.com/v1beta",
        .auth = AuthForm::XGoogApiKey,
        .url = UrlForm::Gemini,
        .endpoints = bits(Contents, ContentTokens, Endpoint::EmbedContent, Endpoint::BatchEmbedContents),
        .quirks = kModelInUrlQuirks,
        .key_env = "GEMINI_API_KEY",
        .limits = LimitScope::Model},
    ProviderKind{.name = "vertex",
                 .title = "Google Vertex AI (Gemini)",
                 .base_url = "https://{location}-aiplatform.googleapis.com/v1",
                 .auth = AuthForm::GoogleAccount,
                 .url = UrlForm::Vertex,
                 .endpoints = bits(Contents, ContentTokens, Endpoint::EmbedContent, Endpoint::Predict),
                 .quirks = kModelInUrlQuirks,
                 .limits = LimitScope::Model},
    ProviderKind{.name = "vertex_anthropic",
                 .title = "Google Vertex AI (Claude)",
                 .base_url = "https://{location}-aiplatform.googleapis.com/v1",
                 .auth = AuthForm::GoogleAccount,
                 .url = UrlForm::Vertex,
                 .endpoints = bits(Messages, MessageTokens),
                 .quirks = kVertexMessagesQuirks,
                 .limits = LimitScope::Model},
    ProviderKind{.name = "bedrock",
                 .title = "Amazon Bedrock (Converse)",
                 .base_url = "https://bedrock-runtime.{region}.amazonaws.com",
                 .auth = AuthForm::AwsKeys,
                 .url = UrlForm::Bedrock,
                 .endpoints = bits(Endpoint::Converse, Endpoint::InvokeEmbed),
                 .quirks = kModelInUrlQuirks,
                 .key_env = "AWS_BEARER_TOKEN_BEDROCK",
                 .limits = LimitScope::Model},
    ProviderKind{.name = "bedrock_anthropic",
                 .title = "Amazon Bedrock (Claude, InvokeModel)",
                 .base_url = "https://bedrock-runtime.{region}.amazonaws.com",
                 .auth = AuthForm::AwsKeys,
                 .url = UrlForm::Bedrock,
                 .endpoints = bits(Messages, MessageTokens),
                 .quirks = kBedrockMessagesQuirks,
                 .key_env = "AWS_BEARER_TOKEN_BEDROCK",
                 .limits = LimitScope::Model},
    ProviderKind{.name = "cohere",
                 .title = "Cohere",
                 .base_url = "https://api.cohere.com/v2",
                 .endpoints = bits(Endpoint::CohereChat, Endpoint::CohereEmbed, Rerank),
                 .key_env = "COHERE_API_KEY",
                 .limits = LimitScope::Model},
    ProviderKind{.name = "ollama_native",
                 .title = "Ollama, its own dialect",
                 .base_url = "http://127.0.0.1:11434",
                 .endpoints = bits(Endpoint::OllamaChat),
                 .key_env = "OLLAMA_API_KEY"},
    ProviderKind{.name = "jina",
                 .title = "Jina AI",
                 .base_url = "https://api.jina.ai/v1",
                 .endpoints = bits(Embeddings, Rerank),
                 .key_env = "JINA_API_KEY"},
    // How it is spoken to, authentication too, stands in the provider's `adapter`.
    ProviderKind{.name = "declared",
                 .title = "A private back end, described by `adapter`",
                 .url = UrlForm::Declared,
                 .endpoints = bits(Endpoint::Declared)},
};

}  // namespace

std::span<const ProviderKind> catalogue() noexcept {
  return kCatalogue;
}

const ProviderKind* find_kind(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kCatalogue, name, &ProviderKind::name);
  return found == kCatalogue.end() ? nullptr : found;
}

}  // namespace qq::providers
