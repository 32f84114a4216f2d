// Real provider traffic for tests, read from where it is at hand: the folder that QQ_SHARED_DIR names, or
// `../shared` beside the checkout. It is other people's data and no part of this tree; without it the tests
// that want it are skipped.
#pragma once
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "model/endpoint.h"

namespace qq::recordings {

struct Recording {
  std::string name;  // "openai/chat-….json"
  std::string provider;
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  bool stream = false;
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // as it came over the wire, or re-serialised where only the parsed form was kept
  std::string method;
  std::string path;     // with its query
  std::string kind;     // the file's name up to its first '-': "chat", "messages", "converse"
  std::string request;  // the request's body; empty if the source did not have it
  std::string origin;   // "recorded", "unknown", "edited"
};

inline std::optional<std::filesystem::path> folder() {
  namespace fs = std::filesystem;
  const char* const named = std::getenv("QQ_SHARED_DIR");
  const fs::path shared = named != nullptr ? fs::path(named) : fs::path(QQ_SOURCE_DIR) / "../shared";
  const fs::path recordings = shared / "recordings";
  std::error_code ignored;
  return fs::is_directory(recordings, ignored) ? std::optional(recordings) : std::nullopt;
}

// Which endpoint of the OpenAI dialects an exchange belongs to. Not those whose provider speaks a dialect of
// its own at that path (Anthropic, Bedrock, Cohere, Gemini, Vertex; Ollama's /api/chat), and no DELETE or
// GET. Writer's /v1/chat speaks the dialect under another path. This selects 159 of the 254 recordings.
inline std::optional<model::Endpoint> openai_endpoint(std::string_view provider, std::string_view method,
                                                      std::string_view path) {
  for (const std::string_view other : {"anthropic", "bedrock", "cohere", "gemini", "vertex"}) {
    if (provider == other) return std::nullopt;
  }
  if (method != "POST") return std::nullopt;
  path = path.substr(0, path.find('?'));
  if (path.ends_with("/chat/completions")) return model::Endpoint::ChatCompletions;
  if (provider == "writer" && path == "/v1/chat") return model::Endpoint::ChatCompletions;
  if (path.ends_with("/responses")) return model::Endpoint::Responses;
  if (path.ends_with("/completions")) return model::Endpoint::Completions;
  if (path.ends_with("/embeddings")) return model::Endpoint::Embeddings;
  return std::nullopt;
}
inline constexpr std::size_t kRecordings = 254;
inline constexpr std::size_t kOpenaiExchanges = 159;

// A stream as the gateway passes it on: a few were recorded with a space before a field's name, which clients
// would not read.
inline std::string without_indents(std::string body) {
  if (body.starts_with(" data:")) body.erase(0, 1);
  for (std::size_t at = 0; (at = body.find("\n data:", at)) != std::string::npos;) body.erase(at + 1, 1);
  return body;
}

inline std::string text_of(simdjson::dom::element element) {
  if (element.is_string()) return std::string(std::string_view(element));
  std::ostringstream out;
  out << simdjson::minify(element);
  return out.str();
}

// Bodies that are no text (AWS event streams) are kept in base64.
inline std::string from_base64_text(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  unsigned bits = 0;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const char letter : text) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) continue;
    group = group << 6U | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) out += static_cast<char>(group >> (bits -= 8) & 0xffU);
  }
  return out;
}

// Every recording of these providers, or of all if none is named, whatever its endpoint: `endpoint` means
// nothing. Throws simdjson's exceptions on files that are no recordings.
inline std::vector<Recording> load_all(const std::filesystem::path& from,
                                       const std::vector<std::string_view>& providers = {}) {
  namespace fs = std::filesystem;
  std::vector<Recording> loaded;
  simdjson::dom::parser parser;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (entry.path().extension() != ".json") continue;
    const simdjson::dom::element file = parser.load(entry.path().string());
    Recording recording;
    recording.provider = std::string(std::string_view(file["provider"]));
    if (!providers.empty() && std::ranges::find(providers, recording.provider) == providers.end()) continue;
    const std::string name = entry.path().filename().string();
    recording.name = recording.provider + "/" + name;
    recording.kind = name.substr(0, name.find_first_of("-."));
    recording.path = std::string(std::string_view(file["endpoint"]));
    recording.origin = std::string(std::string_view(file["origin"]));
    std::string_view method = "POST";
    if (file["method"].get(method) != simdjson::SUCCESS) method = "POST";
    recording.method = method;
    recording.stream = bool(file["stream"]);
    if (!file["request"].is_null()) recording.request = text_of(file["request"]);
    recording.status = static_cast<int>(std::int64_t(file["response"]["status"]));
    recording.body = text_of(file["response"]["body"]);
    std::string_view encoding;
    if (file["response"]["body_encoding"].get(encoding) == simdjson::SUCCESS && encoding == "base64") {
      recording.body = from_base64_text(recording.body);
    }
    for (const auto& [key, value] : simdjson::dom::object(file["response"]["headers"])) {
      recording.headers.emplace_back(key, text_of(value));
    }
    loaded.push_back(std::move(recording));
  }
  std::ranges::sort(loaded, {}, &Recording::name);
  return loaded;
}

inline std::optional<model::Endpoint> openai_endpoint(const Recording& recording) {
  return openai_endpoint(recording.provider, recording.method, recording.path);
}

// Those of the OpenAI dialects' endpoints.
inline std::vector<Recording> load_openai(const std::filesystem::path& from) {
  std::vector<Recording> loaded = load_all(from);
  std::erase_if(loaded, [](const Recording& each) { return !openai_endpoint(each); });
  for (Recording& each : loaded) each.endpoint = *openai_endpoint(each);
  return loaded;
}

// FNV-1a: names of recordings in the tree's own summary.
inline std::string hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

}  // namespace qq::recordings
