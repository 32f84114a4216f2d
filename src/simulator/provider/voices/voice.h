// How a provider of a dialect other than OpenAI's reads a request and tells an answer. A simulated provider
// is what a gateway is to its clients, so the sides are those of dialects/ where it has them (Anthropic,
// Gemini); those that no client speaks are written here (Bedrock's converse, Cohere, Ollama).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dialects/dialect.h"
#include "model/chat_answer.h"
#include "model/chat_request.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/route.h"

namespace qq::simulator {

struct Voice {
  model::Dialect dialect;
  std::string_view name;  // "messages", for the request log
  std::string_view call_id_prefix;
  std::size_t call_id_length;  // of what follows; 0: calls have no id here
  // What carries the proof that a thought or a call is the provider's own.
  enum class Signs : std::uint8_t { Nothing, Thoughts, Calls };
  Signs signs;
  std::string_view stream_type;  // content-type of a stream

  // `body` is checked JSON. Errors: InvalidRequest in the provider's words.
  Result<model::ChatRequest> (*read)(std::string_view body, const dialects::RequestHead& head);
  std::string (*whole)(const model::ChatAnswer& answer, const model::ChatRequest& request,
                       const dialects::AnswerHead& head);
  // Appends whole events in the text of `form`.
  std::unique_ptr<dialects::StreamEncoder> (*stream)(const model::ChatRequest& request,
                                                     const dialects::AnswerHead& head);
  StreamForm form;
};

// Nothing for routes of OpenAI's dialects and for those that are no conversation.
const Voice* voice_of(Route route) noexcept;

extern const Voice kConverseVoice;
extern const Voice kCohereVoice;
extern const Voice kOllamaVoice;

// The JSON of a request that is billed as its prompt: the conversation and what the system says.
std::string prompt_of(std::string_view body);

}  // namespace qq::simulator
