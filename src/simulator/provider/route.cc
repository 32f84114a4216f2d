#include "simulator/provider/route.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/percent.h"

namespace qq::simulator {
namespace {

using Segments = std::vector<std::string_view>;

constexpr std::array<std::string_view, 25> kVendors = {
    "openai",    "azure",      "deepseek",   "zhipu",   "moonshot", "qwen",   "minimax",
    "doubao",    "hunyuan",    "qianfan",    "mistral", "groq",     "xai",    "together",
    "fireworks", "openrouter", "perplexity", "vllm",    "llamacpp", "ollama", "anthropic",
    "gemini",    "vertex",     "bedrock",    "cohere"};

// As it is, if it is no such text.
std::string decoded(std::string_view text) {
  return percent_decoded(text).value_or(std::string(text));
}

// The path from one segment to another, which may hold slashes.
std::string joined_path(std::string_view first, std::string_view last) {
  return decoded({first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())});
}

// Takes "…:generateContent" and its kind apart; false for a name without such a verb.
bool take_google_verb(std::string_view name, std::string_view query, RoutedPath& routed) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view verb = name.substr(colon + 1);
  const std::string_view of = name.substr(0, colon);
  if (verb == "generateContent" || verb == "streamGenerateContent") {
    routed.route = Route::GenerateContent;
    routed.stream = verb.front() == 's';
    routed.array_stream = routed.stream && query_value(query, "alt") != "sse";
  } else if (verb == "countTokens") {
    routed.route = Route::CountContent;
  } else if (verb == "embedContent" || verb == "batchEmbedContents") {
    routed.route = Route::EmbedContents;
  } else if (verb == "predict") {
    routed.route = Route::Predict;
  } else if (verb == "rawPredict" || verb == "streamRawPredict") {
    routed.form = model::MessagesForm::Vertex;
    routed.route = of == "count-tokens" ? Route::CountMessages : Route::Messages;
    routed.stream = verb.front() == 's';
    if (routed.route == Route::CountMessages) return true;  // the model is in the body
  } else {
    return false;
  }
  routed.model = std::string(of);
  return true;
}

// /model/{id}/converse and its kind. Ids hold colons, and slashes where they are ARNs.
bool take_bedrock(const Segments& segments, RoutedPath& routed) {
  const auto at = std::ranges::find(segments, std::string_view("model"));
  if (at == segments.end() || segments.end() - at < 3) return false;
  const std::string_view verb = segments.back();
  if (verb == "converse" || verb == "converse-stream") {
    routed.route = Route::Converse;
  } else if (verb == "invoke" || verb == "invoke-with-response-stream") {
    routed.route = Route::Messages;
    routed.form = model::MessagesForm::BedrockInvoke;
  } else if (verb == "count-tokens") {
    routed.route = Route::CountMessages;
    routed.form = model::MessagesForm::BedrockInvoke;
  } else {
    return false;
  }
  routed.stream = verb.ends_with("stream");
  routed.model = joined_path(*(at + 1), segments[segments.size() - 2]);
  if (verb == "invoke" && routed.model.contains("embed")) {
    routed.route = Route::InvokeEmbed;
    routed.form = model::MessagesForm::Direct;
  }
  return true;
}

// /models/{id} of any API, and what Google does there. The rest of the path is the id.
bool take_models(const Segments& segments, std::string_view query, RoutedPath& routed) {
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (segments[i] != "models" || segments[i + 1] == "chat") continue;
    const std::string name = joined_path(segments[i + 1], segments.back());
    if (!take_google_verb(name, query, routed)) {
      routed.route = Route::Models;
      routed.model = name;
    }
    return true;
  }
  return false;
}

void take_last(const Segments& segments, RoutedPath& routed) {
  const std::string_view last = segments.back();
  const std::string_view before = segments.size() > 1 ? segments[segments.size() - 2] : std::string_view{};
  if (last == "completions") routed.route = before == "chat" ? Route::ChatCompletions : Route::Completions;
  if (last == "responses") routed.route = Route::Responses;
  if (last == "embeddings") routed.route = Route::Embeddings;
  if (last == "moderations") routed.route = Route::Moderations;
  if (last == "generations" && before == "images") routed.route = Route::ImagesGenerations;
  if (last == "models" || (last == "tags" && before == "api")) routed.route = Route::Models;
  if (last == "messages") routed.route = Route::Messages;
  if (last == "count_tokens" && before == "messages") routed.route = Route::CountMessages;
  if (last == "chat" && before == "v2") routed.route = Route::CohereChat;
  if (last == "chat" && before == "api") routed.route = Route::OllamaChat;
  if (last == "embed" && before == "v2") routed.route = Route::CohereEmbed;
  if (last == "compact" && before == "responses") routed.route = Route::Compact;
  if (last == "realtime") routed.route = Route::Realtime;
}

// Whose path it is, where that is plain.
std::string_view owner_of(const RoutedPath& routed, const Segments& segments) {
  if (std::ranges::find(segments, std::string_view("publishers")) != segments.end()) return "vertex";
  switch (routed.route) {
    case Route::Messages: return routed.form == model::MessagesForm::BedrockInvoke ? "bedrock" : "anthropic";
    case Route::CountMessages:
      return routed.form == model::MessagesForm::BedrockInvoke ? "bedrock" : "anthropic";
    case Route::InvokeEmbed: return "bedrock";
    case Route::CohereEmbed: return "cohere";
    case Route::EmbedContents:
    case Route::Predict:
    case Route::GenerateContent:
    case Route::CountContent: return "gemini";
    case Route::Converse: return "bedrock";
    case Route::CohereChat: return "cohere";
    case Route::OllamaChat: return "ollama_native";
    case Route::Models: {
      if (segments.front() == "v1beta") return "gemini";
      return segments.back() == "tags" ? "ollama_native" : std::string_view();
    }
    default: return {};
  }
}

}  // namespace

std::string_view to_string(Route route) noexcept {
  switch (route) {
    case Route::ChatCompletions: return "chat";
    case Route::Responses: return "responses";
    case Route::Completions: return "completions";
    case Route::Embeddings: return "embeddings";
    case Route::Moderations: return "moderations";
    case Route::ImagesGenerations: return "images";
    case Route::Models: return "models";
    case Route::Messages: return "messages";
    case Route::CountMessages: return "count_messages";
    case Route::GenerateContent: return "generate_content";
    case Route::CountContent: return "count_content";
    case Route::Converse: return "converse";
    case Route::CohereChat: return "cohere_chat";
    case Route::OllamaChat: return "ollama_chat";
    case Route::EmbedContents: return "embed_contents";
    case Route::Predict: return "predict";
    case Route::CohereEmbed: return "cohere_embed";
    case Route::InvokeEmbed: return "invoke_embed";
    case Route::Compact: return "compact";
    case Route::Realtime: return "realtime";
    case Route::Unknown: break;
  }
  return "unknown";
}

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name && equals != std::string_view::npos)
      return decoded(pair.substr(equals + 1));
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return {};
}

RoutedPath route_path(std::string_view path, std::string_view query) {
  RoutedPath routed;
  Segments segments;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.starts_with('+')) {
      routed.directives = std::string(segment.substr(1));
    } else if (!segment.empty()) {
      segments.push_back(segment);
    }
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  if (segments.empty()) return routed;
  const bool named = std::ranges::find(kVendors, segments.front()) != kVendors.end();
  if (named) routed.vendor = segments.front();
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (segments[i] != "deployments") continue;
    routed.vendor = "azure";
    routed.model = decoded(segments[i + 1]);
  }
  if (!take_bedrock(segments, routed) && !take_models(segments, query, routed)) take_last(segments, routed);
  if (routed.route == Route::Realtime) {
    routed.model = query_value(query, "model");
    if (routed.model.empty()) routed.model = query_value(query, "deployment");
  }
  const std::string_view owner = owner_of(routed, segments);
  if (!owner.empty() && (routed.vendor.empty() || owner == "ollama_native")) routed.vendor = owner;
  return routed;
}

ModelName split_model(std::string_view asked) {
  const std::size_t plus = asked.find('+');
  if (plus == std::string_view::npos) return {std::string(asked), {}};
  return {std::string(asked.substr(0, plus)), std::string(asked.substr(plus + 1))};
}

}  // namespace qq::simulator
