// For tests of dialects: neutral requests, answers and streams as text that can be compared and reviewed, the
// grammar of streams as a check, and a decoder fed a body that is cut anywhere.
#pragma once
#include <fakes/stream_grammar.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "model/answer_builder.h"

namespace qq::testing {

inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

inline std::string describe(const model::Usage& usage) {
  std::string out;
  const auto add = [&](const char* name, const std::optional<model::TokenCount>& count) {
    if (count) out += std::string(out.empty() ? "" : " ") + name + "=" + std::to_string(*count);
  };
  add("uncached", usage.input_uncached);
  add("read", usage.cache_read);
  add("write", usage.cache_write);
  add("write_1h", usage.cache_write_1h);
  add("audio_in", usage.audio_input);
  add("image_in", usage.image_input);
  add("text", usage.output_text);
  add("reasoning", usage.reasoning);
  add("audio_out", usage.audio_output);
  add("image_out", usage.image_output);
  return out;
}

std::string describe(const model::Part& part);

inline std::string describe_parts(const std::vector<model::Part>& parts, std::string_view indent) {
  std::string out;
  for (const model::Part& part : parts) out += std::string(indent) + describe(part) + "\n";
  return out;
}

inline std::string describe(const model::Part& part) {
  std::string out;
  if (const auto* text = part.as<model::TextPart>()) {
    out = "text " + in_quotes(text->text);
    for (const model::Json& citation : text->citations) out += " citation " + citation;
  } else if (const auto* media = part.as<model::MediaPart>()) {
    constexpr const char* kKinds[] = {"image", "audio", "video", "file"};
    constexpr const char* kSources[] = {"base64", "url", "file_id", "text"};
    out = std::string(kKinds[static_cast<int>(media->kind)]) + " " +
          kSources[static_cast<int>(media->source)] + " " + in_quotes(media->data) + " " + media->media_type;
    if (!media->name.empty()) out += " name " + in_quotes(media->name);
    if (!media->detail.empty()) out += " detail " + media->detail;
  } else if (const auto* call = part.as<model::ToolCallPart>()) {
    out = std::string(call->kind == model::ToolCallPart::Kind::Custom ? "custom_call " : "call ") + call->id +
          " " + call->name + " " + call->arguments;
  } else if (const auto* result = part.as<model::ToolResultPart>()) {
    out = "result of " + result->call_id + " " + result->name + (result->is_error ? " error" : "") + "\n" +
          describe_parts(result->content, "      ");
    if (out.ends_with('\n')) out.pop_back();
  } else if (const auto* reasoning = part.as<model::ReasoningPart>()) {
    constexpr const char* kKinds[] = {"reasoning", "reasoning_summary", "reasoning_redacted"};
    out = std::string(kKinds[static_cast<int>(reasoning->kind)]) + " " + in_quotes(reasoning->text);
    if (!reasoning->id.empty()) out += " id " + reasoning->id;
  } else if (const auto* refusal = part.as<model::RefusalPart>()) {
    out = "refusal " + in_quotes(refusal->text);
  } else if (const auto* opaque = part.as<model::OpaquePart>()) {
    out = "opaque " + std::string(to_string(opaque->dialect)) + " " + opaque->type + " " + opaque->value;
  }
  if (!part.state.empty())
    out += " state " + std::string(to_string(part.state.maker)) + ":" + part.state.data;
  if (part.cache) {
    constexpr const char* kTtls[] = {"", " 5m", " 1h"};
    out += " cache" + std::string(kTtls[static_cast<int>(part.cache->ttl)]);
  }
  for (const model::ExtraField& extra : part.extra) out += " +" + extra.key + "=" + extra.value;
  return out;
}

inline std::string describe(const model::ChatAnswer& answer) {
  std::string out =
      "answer id=" + answer.id + " model=" + answer.model + " created=" + std::to_string(answer.created);
  if (!answer.service_tier.empty()) out += " tier=" + answer.service_tier;
  for (const model::ExtraField& extra : answer.extra) out += " +" + extra.key + "=" + extra.value;
  out += "\n";
  for (const model::Choice& choice : answer.choices) {
    out += "  choice " + std::to_string(choice.index) + " " + std::string(to_string(choice.finish)) + " (" +
           choice.finish_word + ")";
    if (!choice.stop_string.empty()) out += " stop " + in_quotes(choice.stop_string);
    if (!choice.logprobs.empty()) out += " logprobs " + choice.logprobs;
    out += "\n" + describe_parts(choice.parts, "    ");
  }
  return out + "  usage " + describe(answer.usage) + "\n";
}

inline std::string describe(const model::ChatRequest& request) {
  std::string out = "request " + std::string(to_string(request.dialect)) + " model=" + request.model;
  if (request.stream) out += " stream";
  if (request.usage_in_stream) out += " usage_in_stream";
  if (request.wants_reasoning_state) out += " wants_reasoning_state";
  out += "\n";
  constexpr const char* kRoles[] = {"system", "developer", "user", "assistant"};
  for (const model::Turn& turn : request.turns) {
    out += "  " + std::string(kRoles[static_cast<int>(turn.role)]);
    if (!turn.name.empty()) out += " name " + turn.name;
    for (const model::ExtraField& extra : turn.extra) out += " +" + extra.key + "=" + extra.value;
    out += "\n" + describe_parts(turn.parts, "    ");
  }
  for (const model::Tool& tool : request.tools) {
    constexpr const char* kKinds[] = {"function", "custom", "hosted"};
    out += "  tool " + std::string(kKinds[static_cast<int>(tool.kind)]) + " " + tool.name + " " +
           in_quotes(tool.description) + " " + tool.schema;
    if (tool.strict) out += *tool.strict ? " strict" : " not_strict";
    if (tool.cache) out += " cache";
    for (const model::ExtraField& extra : tool.extra) out += " +" + extra.key + "=" + extra.value;
    out += "\n";
  }
  if (request.tool_choice) {
    constexpr const char* kModes[] = {"auto", "none", "required"};
    out += "  tool_choice " + std::string(kModes[static_cast<int>(request.tool_choice->mode)]);
    for (const std::string& name : request.tool_choice->only) out += " " + name;
    out += "\n";
  }
  if (request.parallel_tool_calls) out += *request.parallel_tool_calls ? "  parallel\n" : "  not_parallel\n";
  if (request.output) {
    constexpr const char* kKinds[] = {"text", "json_object", "json_schema"};
    out += "  output " + std::string(kKinds[static_cast<int>(request.output->kind)]) + " " +
           request.output->name + " " + request.output->schema;
    if (request.output->strict) out += *request.output->strict ? " strict" : " not_strict";
    out += "\n";
  }
  if (request.reasoning) {
    constexpr const char* kEfforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    out += "  reasoning";
    if (request.reasoning->effort)
      out += " effort " + std::string(kEfforts[static_cast<int>(*request.reasoning->effort)]);
    if (request.reasoning->budget_tokens)
      out += " budget " + std::to_string(*request.reasoning->budget_tokens);
    if (request.reasoning->show) out += *request.reasoning->show ? " show" : " hide";
    if (!request.reasoning->summary.empty()) out += " summary " + request.reasoning->summary;
    out += "\n";
  }
  const model::Sampling& sampling = request.sampling;
  const auto number = [&](const char* name, const auto& value) {
    if (value) out += std::string("  ") + name + " " + std::to_string(*value) + "\n";
  };
  number("temperature", sampling.temperature);
  number("top_p", sampling.top_p);
  number("top_k", sampling.top_k);
  number("presence_penalty", sampling.presence_penalty);
  number("frequency_penalty", sampling.frequency_penalty);
  number("seed", sampling.seed);
  number("max_output_tokens", sampling.max_output_tokens);
  number("choices", sampling.choices);
  number("logprobs", sampling.logprobs);
  number("top_logprobs", sampling.top_logprobs);
  for (const std::string& stop : sampling.stop) out += "  stop " + in_quotes(stop) + "\n";
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += std::string("  ") + name + " " + value + "\n";
  };
  text("logit_bias", sampling.logit_bias);
  for (const std::string& modality : request.modalities) text("modality", modality);
  text("audio_output", request.audio_output);
  text("user", request.user);
  text("metadata", request.metadata);
  text("service_tier", request.service_tier);
  text("cache_key", request.cache_key);
  text("cached_content", request.cached_content);
  if (request.cache) out += "  cache\n";
  if (request.store) out += *request.store ? "  store\n" : "  do_not_store\n";
  text("previous_response_id", request.previous_response_id);
  text("conversation", request.conversation);
  for (const model::ExtraField& extra : request.extra) out += "  +" + extra.key + "=" + extra.value + "\n";
  return out;
}

// What came out of a stream. Deltas that follow each other are joined, so that the text does not depend on
// how a provider or the network cuts them; `grammar` says what was wrong.
struct DecodedStream {
  std::string events;
  model::ChatAnswer answer;
  std::optional<Error> error;
  bool ended = false;
  std::string grammar;
};

class CollectingSink final : public dialects::EventSink {
 public:
  explicit CollectingSink(model::Dialect dialect) : builder_(dialect), grammar_(dialect) {}
  void on_event(const model::StreamEvent& event) override {
    if (auto broken = grammar_.take(event)) {
      if (wrong_.empty()) wrong_ = *broken;
      return;
    }
    builder_.take(event);
    note(event);
  }
  DecodedStream release() {
    DecodedStream out;
    out.events = std::move(text_);
    out.error = builder_.error();
    out.ended = builder_.ended();
    out.answer = builder_.release();
    out.grammar = std::move(wrong_);
    return out;
  }

 private:
  void note(const model::StreamEvent& event) {
    using Kind = model::StreamEvent::Kind;
    const bool joins = event.kind == Kind::TextDelta || event.kind == Kind::ArgumentsDelta;
    if (joins && last_ == event.kind && last_part_ == event.part) {
      text_.insert(text_.size() - 2, in_quotes(event.text).substr(1, in_quotes(event.text).size() - 2));
      return;
    }
    last_ = event.kind;
    last_part_ = event.part;
    const std::string at = std::to_string(event.choice) + "." + std::to_string(event.part);
    switch (event.kind) {
      case Kind::Started: text_ += "started\n"; break;
      case Kind::PartStarted: {
        constexpr const char* kKinds[] = {"text", "reasoning", "call", "refusal", "media", "opaque"};
        text_ += at + " " + kKinds[static_cast<int>(event.part_kind)];
        for (const std::string_view word : {event.id, event.name, event.word}) {
          if (!word.empty()) text_ += " " + std::string(word);
        }
        text_ += "\n";
        break;
      }
      case Kind::TextDelta: text_ += at + " + " + in_quotes(event.text) + "\n"; break;
      case Kind::ArgumentsDelta: text_ += at + " args " + in_quotes(event.text) + "\n"; break;
      case Kind::StateDelta: text_ += at + " state " + event.state->data + "\n"; break;
      case Kind::CitationDelta: text_ += at + " citation " + std::string(event.json) + "\n"; break;
      case Kind::MediaDelta: text_ += at + " media " + std::to_string(event.text.size()) + "\n"; break;
      case Kind::OpaqueDelta: text_ += at + " opaque " + std::string(event.json) + "\n"; break;
      case Kind::PartFinished: text_ += at + " done\n"; break;
      case Kind::Logprobs: text_ += "logprobs " + std::string(event.json) + "\n"; break;
      case Kind::UsageSoFar: text_ += "usage " + describe(*event.usage) + "\n"; break;
      case Kind::Finished:
        text_ += std::to_string(event.choice) + " finished " + std::string(to_string(event.finish)) + " (" +
                 std::string(event.word) + ")\n";
        break;
      case Kind::End: text_ += "end\n"; break;
      case Kind::Ping: break;
      case Kind::Failed:
        text_ += "failed " + std::string(to_string(event.error->kind)) + " " + event.error->message + "\n";
        break;
    }
  }

  model::AnswerBuilder builder_;
  StreamGrammar grammar_;
  std::string text_;
  std::string wrong_;
  model::StreamEvent::Kind last_ = model::StreamEvent::Kind::Ping;
  std::uint32_t last_part_ = 0;
};

// `cuts` are the offsets at which the body is split, in order.
inline DecodedStream decode_stream(const dialects::ProviderDialect& dialect, model::Dialect name,
                                   const model::Target& target, std::string_view body,
                                   const std::vector<std::size_t>& cuts = {}) {
  const std::unique_ptr<dialects::StreamDecoder> decoder = dialect.stream_decoder(target, "seed");
  CollectingSink sink(name);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    decoder->feed(body.substr(from, cut - from), sink);
    from = cut;
  }
  decoder->feed(body.substr(from), sink);
  decoder->finish(sink);
  return sink.release();
}

// What `describe` tells, but for the ids of items that a translation into responses leaves out.
inline std::string without_item_ids(std::string described) {
  for (const std::string_view before : {" id ", "\"id\":\""}) {
    for (std::size_t at = 0; (at = described.find(before, at)) != std::string::npos;) {
      const bool is_json = before.front() == '"';
      std::size_t end = described.find_first_of(is_json ? "\"" : " \n", at + before.size());
      end = std::min(end, described.size());
      if (is_json) end += described.substr(end, 2) == "\"," ? 2 : 1;
      described.erase(at, end - at);
    }
  }
  return described;
}

// The same whole, byte by byte and split at every `stride`-th place of its first `most` bytes.
inline DecodedStream decode_however_split(const dialects::ProviderDialect& dialect, model::Dialect name,
                                          const model::Target& target, std::string_view body,
                                          std::size_t most = 4096, std::size_t stride = 1) {
  DecodedStream whole = decode_stream(dialect, name, target, body);
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < body.size(); ++cut) every.push_back(cut);
  EXPECT_EQ(decode_stream(dialect, name, target, body, every).events, whole.events) << "byte by byte";
  for (std::size_t cut = 1; cut < std::min(most, body.size()); cut += stride) {
    if (decode_stream(dialect, name, target, body, {cut}).events == whole.events) continue;
    ADD_FAILURE() << "differs when split at " << cut;
    break;
  }
  EXPECT_EQ(whole.grammar, "") << whole.events;
  return whole;
}

}  // namespace qq::testing
