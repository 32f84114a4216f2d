// Which recorded exchanges are in which dialect of conversations, and what the target of each is like.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dialects/anthropic/dialect.h"
#include "dialects/dialect.h"
#include "recordings/recordings.h"

namespace qq::recordings {

// A dialect that is recorded; each has one line in kRecorded.
struct Recorded {
  model::Dialect dialect;
  std::size_t exchanges;  // how many of them there are
  bool (*speaks)(const Recording&);
  model::Target (*target)(const Recording&);
};

namespace recorded {

inline bool chat(const Recording& recording) {
  return recording.kind == "chat" && openai_endpoint(recording) == model::Endpoint::ChatCompletions;
}
inline model::Target chat_target(const Recording& recording) {
  model::Target target;
  target.upstream_model = "upstream";
  target.quirks.reasoning_excluded_from_output = recording.provider == "xai";
  return target;
}

inline bool responses(const Recording& recording) {
  return recording.kind == "responses";
}
inline model::Target responses_target(const Recording& /*recording*/) {
  model::Target target;
  target.upstream_model = "upstream";
  return target;
}

// Amazon's own models speak other bodies; one stream of Anthropic's is in OpenAI's dialect.
inline bool anthropic(const Recording& recording) {
  if (recording.provider == "bedrock")
    return recording.kind == "invoke" && recording.path.find("anthropic.") != std::string::npos;
  return recording.provider == "anthropic" && recording.body.find("chat.completion") == std::string::npos;
}
inline model::Target anthropic_target(const Recording& recording) {
  model::Target target;
  target.upstream_model = "claude-x";
  if (recording.provider == "bedrock") target.quirks.messages_form = model::MessagesForm::BedrockInvoke;
  return target;
}

inline bool gemini(const Recording& recording) {
  return recording.kind == "generate" && (recording.provider == "gemini" || recording.provider == "vertex");
}
// Views of the recording's own texts.
inline model::Target gemini_target(const Recording& recording) {
  const std::size_t begin = recording.path.rfind("models/") + 7;
  model::Target target;
  target.kind = recording.provider;
  target.upstream_model = recording.path.substr(begin, recording.path.find(':', begin) - begin);
  return target;
}

inline bool bedrock(const Recording& recording) {
  return recording.provider == "bedrock" && recording.kind == "converse";
}
inline bool cohere(const Recording& recording) {
  return recording.provider == "cohere";
}
// Its others are OpenAI's dialect, or no chat.
inline bool ollama(const Recording& recording) {
  return recording.provider == "ollama" && recording.path == "/api/chat";
}
inline model::Target any_target(const Recording& /*recording*/) {
  return {};
}

}  // namespace recorded

inline constexpr std::array kRecorded{
    Recorded{model::Dialect::OpenAiChat, 112, recorded::chat, recorded::chat_target},
    Recorded{model::Dialect::OpenAiResponses, 38, recorded::responses, recorded::responses_target},
    Recorded{model::Dialect::Anthropic, 33, recorded::anthropic, recorded::anthropic_target},
    Recorded{model::Dialect::Gemini, 34, recorded::gemini, recorded::gemini_target},
    Recorded{model::Dialect::Bedrock, 10, recorded::bedrock, recorded::any_target},
    Recorded{model::Dialect::Cohere, 8, recorded::cohere, recorded::any_target},
    Recorded{model::Dialect::Ollama, 1, recorded::ollama, recorded::any_target},
};
inline constexpr const Recorded& recorded_in(model::Dialect dialect) {
  return *std::ranges::find(kRecorded, dialect, &Recorded::dialect);
}

// A stream of a 200: errors and answers to count requests come whole.
inline bool is_stream(const Recording& recording) {
  return recording.status < 400 && (recording.stream || recording.path.find(":stream") != std::string::npos);
}
inline bool is_answer(const Recording& recording) {
  return recording.status < 400 && !is_stream(recording) && recording.kind != "count_tokens";
}
inline bool has_request(const Recording& recording) {
  return recording.request.starts_with('{');
}

// The request as our own clients would send it: Bedrock and Azure's older form have the model in the URL.
inline Result<model::ChatRequest> decode_request(model::Dialect dialect, const Recording& recording) {
  std::string body = recording.request;
  const bool in_url = dialect != model::Dialect::Gemini && body.find("\"model\"") == std::string::npos;
  if (in_url) body = R"({"model":"claude-x",)" + body.substr(1);
  const dialects::RequestHead head{.path_model = "asked"};
  if (recording.kind == "count_tokens") return dialects::anthropic::decode_count_request(body, head);
  return dialects::client_dialect(dialect)->decode_request(body, head);
}

// Every request of a client that our decoders take, for tests of encoders.
struct AskedRequest {
  std::string name;  // of the recording
  model::ChatRequest request;
};
inline std::vector<AskedRequest> asked_requests() {
  std::vector<AskedRequest> out;
  const auto from = folder();
  if (!from) return out;
  for (const Recording& recording : load_all(*from)) {
    const auto in =
        std::ranges::find_if(kRecorded, [&](const Recorded& each) { return each.speaks(recording); });
    if (in == kRecorded.end() || dialects::client_dialect(in->dialect) == nullptr) continue;
    if (!has_request(recording) || recording.kind == "count_tokens") continue;
    auto request = decode_request(in->dialect, recording);
    if (request) out.push_back({recording.name, std::move(*request)});
  }
  return out;
}

}  // namespace qq::recordings
