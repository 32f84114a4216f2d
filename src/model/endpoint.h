// The endpoints that a client may call and a provider may serve. Most are both; a conversation's endpoint
// names its dialect, and a target that serves a conversation in any dialect can answer all of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/part.h"

namespace qq::model {

enum class Endpoint : std::uint8_t {
  ChatCompletions,      // POST /v1/chat/completions
  Responses,            // POST /v1/responses
  Completions,          // POST /v1/completions
  Embeddings,           // POST /v1/embeddings
  Moderations,          // POST /v1/moderations
  ImagesGenerations,    // POST /v1/images/generations
  Messages,             // POST /v1/messages
  GenerateContent,      // POST /v1beta/models/{model}:generateContent, :streamGenerateContent
  CountInputTokens,     // POST /v1/responses/input_tokens
  CountMessageTokens,   // POST /v1/messages/count_tokens
  CountContentTokens,   // POST /v1beta/models/{model}:countTokens
  Rerank,               // POST /v1/rerank, /v2/rerank
  ImagesEdits,          // POST /v1/images/edits
  AudioSpeech,          // POST /v1/audio/speech
  AudioTranscriptions,  // POST /v1/audio/transcriptions
  AudioTranslations,    // POST /v1/audio/translations
  CompactResponse,      // POST /v1/responses/compact
  EmbedContent,         // POST /v1beta/models/{model}:embedContent
  BatchEmbedContents,   // POST /v1beta/models/{model}:batchEmbedContents
  Realtime,             // GET /v1/realtime?model={model}, upgraded to WebSocket
  // What a provider keeps for its callers, and all that is asked under it (relay/held/).
  Files,           // /v1/files, OpenAI's
  Batches,         // /v1/batches
  MessageFiles,    // /v1/files, Anthropic's
  MessageBatches,  // /v1/messages/batches
  // Of providers only.
  Converse,     // Bedrock's own
  CohereChat,   // POST /v2/chat
  OllamaChat,   // POST /api/chat
  CohereEmbed,  // POST /v2/embed
  Predict,      // Vertex: embeddings by …:predict
  InvokeEmbed,  // Bedrock: InvokeModel of a model that embeds
  Declared,     // a private back end, described by the configuration
};
inline constexpr std::size_t kEndpointCount = static_cast<std::size_t>(Endpoint::Declared) + 1;

constexpr std::string_view to_string(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::ChatCompletions: return "chat_completions";
    case Endpoint::Responses: return "responses";
    case Endpoint::Completions: return "completions";
    case Endpoint::Embeddings: return "embeddings";
    case Endpoint::Moderations: return "moderations";
    case Endpoint::ImagesGenerations: return "images_generations";
    case Endpoint::Messages: return "messages";
    case Endpoint::GenerateContent: return "generate_content";
    case Endpoint::CountInputTokens: return "count_input_tokens";
    case Endpoint::CountMessageTokens: return "count_message_tokens";
    case Endpoint::CountContentTokens: return "count_content_tokens";
    case Endpoint::Rerank: return "rerank";
    case Endpoint::ImagesEdits: return "images_edits";
    case Endpoint::AudioSpeech: return "audio_speech";
    case Endpoint::AudioTranscriptions: return "audio_transcriptions";
    case Endpoint::AudioTranslations: return "audio_translations";
    case Endpoint::CompactResponse: return "compact_response";
    case Endpoint::EmbedContent: return "embed_content";
    case Endpoint::BatchEmbedContents: return "batch_embed_contents";
    case Endpoint::Realtime: return "realtime";
    case Endpoint::Files: return "files";
    case Endpoint::Batches: return "batches";
    case Endpoint::MessageFiles: return "message_files";
    case Endpoint::MessageBatches: return "message_batches";
    case Endpoint::Converse: return "converse";
    case Endpoint::CohereChat: return "cohere_chat";
    case Endpoint::OllamaChat: return "ollama_chat";
    case Endpoint::CohereEmbed: return "cohere_embed";
    case Endpoint::Predict: return "predict";
    case Endpoint::InvokeEmbed: return "invoke_embed";
    case Endpoint::Declared: return "declared";
  }
  return "unknown";
}

// The language of a conversation's endpoint; nothing for the others.
constexpr std::optional<Dialect> conversation_at(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::ChatCompletions: return Dialect::OpenAiChat;
    case Endpoint::Responses: return Dialect::OpenAiResponses;
    case Endpoint::Messages: return Dialect::Anthropic;
    case Endpoint::GenerateContent: return Dialect::Gemini;
    case Endpoint::Converse: return Dialect::Bedrock;
    case Endpoint::CohereChat: return Dialect::Cohere;
    case Endpoint::OllamaChat: return Dialect::Ollama;
    case Endpoint::Declared: return Dialect::Declared;
    default: return std::nullopt;
  }
}

// Whether texts become vectors there, in whatever words: a target with one of these answers all of them.
constexpr bool is_embedding(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::Embeddings:
    case Endpoint::EmbedContent:
    case Endpoint::BatchEmbedContents:
    case Endpoint::CohereEmbed:
    case Endpoint::Predict:
    case Endpoint::InvokeEmbed: return true;
    default: return false;
  }
}

// The language in which errors at an endpoint are told: the conversation's, or that of whose endpoint it is.
constexpr Dialect dialect_of(Endpoint endpoint) noexcept {
  switch (endpoint) {
    case Endpoint::CompactResponse:
    case Endpoint::CountInputTokens: return Dialect::OpenAiResponses;
    case Endpoint::CountMessageTokens:
    case Endpoint::MessageFiles:
    case Endpoint::MessageBatches: return Dialect::Anthropic;
    case Endpoint::EmbedContent:
    case Endpoint::BatchEmbedContents:
    case Endpoint::CountContentTokens: return Dialect::Gemini;
    default: return conversation_at(endpoint).value_or(Dialect::OpenAiChat);
  }
}

}  // namespace qq::model
