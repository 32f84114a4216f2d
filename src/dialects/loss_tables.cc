#include "dialects/loss_tables.h"

#include <array>

#include "dialects/anthropic/dialect.h"
#include "dialects/bedrock/dialect.h"
#include "dialects/cohere/dialect.h"
#include "dialects/gemini/dialect.h"
#include "dialects/ollama/dialect.h"
#include "dialects/openai_chat/dialect.h"
#include "dialects/openai_responses/dialect.h"

namespace qq::dialects {
namespace {

using model::Dialect;

constexpr std::array kChatRequests{
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"temperature above the provider's highest", loss::kOutOfRange},
    LossNote{"more than 4 stop strings (OpenAI)", loss::kTooMany},
    LossNote{"a budget for reasoning or an effort that the provider or model has no word for",
             loss::kNearest},
    LossNote{"reasoning for models that do not think, where others are told by an effort",
             loss::kNoSuchField},
    LossNote{"a choice of tools where the provider only takes `auto`", loss::kNearest},
    LossNote{"members that a strict provider refuses (Mistral)", loss::kNoSuchField},
    LossNote{"members of OpenRouter's `reasoning`, elsewhere", loss::kNoSuchField},
    LossNote{"a document of text, which becomes text", loss::kNearest},
    LossNote{"media in a tool's result, which follow it as a user's", loss::kNearest},
    LossNote{"that a tool's result is an error", loss::kNoSuchField},
    LossNote{"an earlier answer's sound without its id", loss::kNoSuchField},
    LossNote{"thoughts, where the provider takes none back", loss::kNoSuchField},
    LossNote{"the beginning of the answer, where the provider takes none", loss::kNearest},
    LossNote{"cache marks of calls and results with no text before them (OpenRouter)", loss::kNoSuchField},
    LossNote{"metadata of an answer that is not to be stored (OpenAI)", loss::kNotTogether},
};
constexpr std::array kResponsesRequests{
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"fewer than 16 output tokens", loss::kOutOfRange},
    LossNote{"a budget for reasoning, which becomes an effort, and an effort that the model has no word for",
             loss::kNearest},
    LossNote{"reasoning and its showing, for models that do not think", loss::kNoSuchField},
    LossNote{"a document of text, which becomes text", loss::kNearest},
    LossNote{"media in an assistant's turn", loss::kForeignPart},
    LossNote{"parts of a tool's result that are no text, image or file", loss::kForeignPart},
    LossNote{"that a tool's result is an error", loss::kNoSuchField},
    LossNote{"thoughts without a state of OpenAI's making", loss::kForeignState},
};
constexpr std::array kAnthropicRequests{
    LossNote{"temperature above 1", loss::kOutOfRange},
    LossNote{"temperature, top_p and top_k beside thinking, and top_p beside temperature for some models",
             loss::kNotTogether},
    LossNote{"temperature, top_p and top_k for models without them", loss::kNoSuchField},
    LossNote{"blank stop strings", loss::kOutOfRange},
    LossNote{"service tiers other than auto and default", loss::kNearest},
    LossNote{"more than 4 cache marks: the last 4 stay", loss::kTooMany},
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"strict tools, for models that take no schemas", loss::kNoSuchField},
    LossNote{"words of a schema that Anthropic refuses", loss::kSchemaWord},
    LossNote{"a schema for the answer, for models without: asked for in words", loss::kNearest},
    LossNote{"reasoning beside a forced tool, a begun answer, a small limit or a tool loop of another's",
             loss::kNotTogether},
    LossNote{"a budget for reasoning below 1,024 or above what may be said", loss::kOutOfRange},
    LossNote{"reasoning for models that do not think", loss::kNoSuchField},
    LossNote{"thoughts without Anthropic's signature", loss::kForeignState},
    LossNote{"media outside of user turns", loss::kNoPlace},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
    LossNote{"a conversation that does not begin with a user's turn: one is made up", loss::kNearest},
    LossNote{"white space at the end of a begun answer", loss::kOutOfRange},
    LossNote{"a begun answer, for models of Claude from 4.6 on: a user's turn follows it", loss::kNearest},
    LossNote{"that a tool must be called, for Claude Fable and Mythos from 5.1 on", loss::kNearest},
    LossNote{"that nothing is thought, for Claude Fable and Mythos, which always think", loss::kNearest},
};
constexpr std::array kGeminiRequests{
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"more than 5 stop strings", loss::kTooMany},
    LossNote{"a seed beyond 32 bits", loss::kOutOfRange},
    LossNote{"words of a schema that Gemini does not know", loss::kSchemaWord},
    LossNote{"a description of the answer's schema", loss::kNoSuchField},
    LossNote{"voice and format of sound", loss::kNoSuchField},
    LossNote{"service tiers other than default, flex and priority", loss::kNearest},
    LossNote{"a service tier, on Vertex", loss::kNoSuchField},
    LossNote{"reasoning and its showing, for models that do not think", loss::kNoSuchField},
    LossNote{"reasoning that the model has no level or budget for", loss::kNearest},
    LossNote{"a budget for reasoning beyond the model's", loss::kOutOfRange},
    LossNote{"a system message that is all there is: it becomes a user's", loss::kNearest},
    LossNote{"parts of a system message that are no text", loss::kNoSuchField},
    LossNote{"an image's detail and a file's name", loss::kNoSuchField},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
};
constexpr std::array kBedrockRequests{
    LossNote{"temperature above 1", loss::kOutOfRange},
    LossNote{"sampling beside thinking, and top_p beside temperature for some models", loss::kNotTogether},
    LossNote{"sampling for models of Claude without it, and top_k for models other than Claude and Nova",
             loss::kNoSuchField},
    LossNote{"blank stop strings", loss::kOutOfRange},
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"`none` where the history calls tools: they stay declared", loss::kNearest},
    LossNote{"strict tools, for models that Converse takes none for", loss::kNoSuchField},
    LossNote{"words of a schema that Bedrock refuses", loss::kSchemaWord},
    LossNote{"a schema for the answer, for models without: asked for in words", loss::kNearest},
    LossNote{"reasoning for models that do not think, or cannot be told how much", loss::kNoSuchField},
    LossNote{"an effort that the model has no word for", loss::kNearest},
    LossNote{
        "Nova's highest effort beside a limit or sampling, and Claude's thinking where Anthropic refuses it",
        loss::kNotTogether},
    LossNote{"a budget for reasoning below 1,024 or above what may be said", loss::kOutOfRange},
    LossNote{"thoughts without a signature made here", loss::kForeignState},
    LossNote{"media outside of user turns", loss::kNoPlace},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
    LossNote{"a conversation that does not begin with a user's turn: one is made up", loss::kNearest},
    LossNote{"white space at the end of a begun answer", loss::kOutOfRange},
    LossNote{"a begun answer, for models of Claude from 4.6 on: a user's turn follows it", loss::kNearest},
    LossNote{"that a tool must be called, for Claude Fable and Mythos from 5.1 on", loss::kNearest},
    LossNote{"that nothing is thought, for Claude Fable and Mythos, which always think", loss::kNearest},
    LossNote{"more than 4 cache marks: the last 4 stay", loss::kTooMany},
    LossNote{"cache marks, for models other than Claude and Nova", loss::kNoSuchField},
    LossNote{"metadata beyond 16, or that are no plain texts of 256 letters", loss::kOutOfRange},
    LossNote{"service tiers other than auto, default, flex and priority", loss::kNoSuchField},
};
constexpr std::array kCohereRequests{
    LossNote{"numbers outside of what Cohere takes: temperature, top_p, top_k and penalties",
             loss::kOutOfRange},
    LossNote{"more than 5 stop strings", loss::kTooMany},
    LossNote{"a choice of tools that are not sent, or of a call where none is", loss::kNotTogether},
    LossNote{"strict tools beside others: all are strict then", loss::kNearest},
    LossNote{"a form of the answer beside tools", loss::kNotTogether},
    LossNote{"reasoning and earlier thoughts, for models that do not think", loss::kNoSuchField},
    LossNote{"a document of text, which becomes text", loss::kNearest},
    LossNote{"media in a tool's result, which follow it as a user's", loss::kNearest},
    LossNote{"media in an assistant's turn", loss::kNoPlace},
    LossNote{"that a tool's result is an error", loss::kNoSuchField},
    LossNote{"the beginning of the answer, which is not gone on with", loss::kNearest},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
};
constexpr std::array kOllamaRequests{
    LossNote{"that a tool must be called", loss::kNoSuchField},
    LossNote{"reasoning for models that do not think", loss::kNoSuchField},
    LossNote{"how much is thought, which is on or off for most models", loss::kNearest},
    LossNote{"a document of text, which becomes text", loss::kNearest},
    LossNote{"media in a tool's result, which follow it as a user's", loss::kNearest},
    LossNote{"media in an assistant's turn", loss::kNoPlace},
    LossNote{"that a tool's result is an error", loss::kNoSuchField},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
};

constexpr std::array kChatAnswers{
    LossNote{"state of a text", loss::kNoPlace},
    LossNote{"citations that name no URL", loss::kNoPlace},
    LossNote{"hosted tools' calls and results", loss::kForeignPart},
    LossNote{"media other than images and sound", loss::kNoPlace},
    LossNote{"state that is too much for a call's id", loss::kNoPlace},
};
constexpr std::array kResponsesAnswers{
    LossNote{"choices beyond the first", loss::kTooMany},
    LossNote{"hosted tools' calls and results of other dialects", loss::kForeignPart},
    LossNote{"media other than images, and a text's state", loss::kNoPlace},
    LossNote{"state that is too much for a call's id", loss::kNoPlace},
};
constexpr std::array kAnthropicAnswers{
    LossNote{"choices beyond the first", loss::kNoPlace},
    LossNote{"log probabilities", loss::kNoPlace},
    LossNote{"media, and hosted tools' calls and results of other dialects", loss::kNoPlace},
    LossNote{"citations of other dialects, and a text's state", loss::kNoPlace},
    LossNote{"state that is too much for a call's id", loss::kNoPlace},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
};
constexpr std::array kGeminiAnswers{
    LossNote{"thoughts that the client did not ask for and that are too much for a call's id",
             loss::kNoPlace},
    LossNote{"hosted tools' calls and results of other dialects", loss::kForeignPart},
    LossNote{"citations of other dialects", loss::kNoPlace},
    LossNote{"arguments of a call that are no JSON object", loss::kNotJson},
};

// Those with a line in it, in the documents' order.
constexpr std::array kTargets{Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic,
                              Dialect::Gemini,     Dialect::Bedrock,         Dialect::Cohere,
                              Dialect::Ollama};

std::string cell(const Support& support) {
  switch (support.verdict) {
    case Support::Verdict::Whole: return "whole";
    case Support::Verdict::Lossy: return "lossy: " + std::string(support.why);
    case Support::Verdict::Refused: return "refused: " + std::string(support.why);
  }
  return {};
}

}  // namespace

SupportTable support_table(Dialect target) noexcept {
  switch (target) {
    case Dialect::OpenAiChat: return openai_chat::support();
    case Dialect::OpenAiResponses: return openai_responses::support();
    case Dialect::Anthropic: return anthropic::support();
    case Dialect::Gemini: return gemini::support();
    case Dialect::Bedrock: return bedrock::support();
    case Dialect::Cohere: return cohere::support();
    case Dialect::Ollama: return ollama::support();
    default: return {};
  }
}

LossNotes request_notes(Dialect target) noexcept {
  switch (target) {
    case Dialect::OpenAiChat: return kChatRequests;
    case Dialect::OpenAiResponses: return kResponsesRequests;
    case Dialect::Anthropic: return kAnthropicRequests;
    case Dialect::Gemini: return kGeminiRequests;
    case Dialect::Bedrock: return kBedrockRequests;
    case Dialect::Cohere: return kCohereRequests;
    case Dialect::Ollama: return kOllamaRequests;
    default: return {};
  }
}

LossNotes answer_notes(Dialect client) noexcept {
  switch (client) {
    case Dialect::OpenAiChat: return kChatAnswers;
    case Dialect::OpenAiResponses: return kResponsesAnswers;
    case Dialect::Anthropic: return kAnthropicAnswers;
    case Dialect::Gemini: return kGeminiAnswers;
    default: return {};
  }
}

std::string loss_section() {
  std::string out = "| field |";
  std::string rule = "| --- |";
  for (const Dialect target : kTargets) {
    out.append(" ").append(to_string(target)).append(" |");
    rule += " --- |";
  }
  out += "\n" + rule + "\n";
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    out.append("| ").append(to_string(field)).append(" |");
    for (const Dialect target : kTargets) {
      out.append(" ").append(cell(support_of(support_table(target), field))).append(" |");
    }
    out += "\n";
  }
  const auto notes = [&out](std::string_view of, LossNotes all) {
    out.append("\n").append(of).append(":\n\n");
    for (const LossNote& note : all)
      out.append("- ").append(note.what).append(": ").append(note.why).append("\n");
  };
  for (const Dialect target : kTargets)
    notes("Requests to " + std::string(to_string(target)) + ", beyond the table", request_notes(target));
  for (const Dialect client : kTargets) {
    if (answer_notes(client).empty()) continue;  // no client speaks it
    notes("Answers to clients of " + std::string(to_string(client)), answer_notes(client));
  }
  return out;
}

}  // namespace qq::dialects
