#include "simulator/provider/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "simulator/provider/tokens.h"

namespace qq::simulator {
namespace {

void append_logprob(std::string& out, std::string_view token, unsigned rank) {
  out += "{\"token\":";
  wire::append_json_string(out, token);
  fmt::format_to(std::back_inserter(out), ",\"logprob\":-0.{:02}", (token.size() * 7 + rank * 13) % 90 + 1);
  out += ",\"bytes\":[";
  for (std::size_t i = 0; i < token.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}", i > 0 ? "," : "", static_cast<unsigned char>(token[i]));
  }
  out += ']';
}

// The logprobs of some tokens; alternatives are the token with dots behind it.
void append_logprobs(std::string& out, const Asked& asked, std::span<const std::string> tokens) {
  if (!asked.logprobs || tokens.empty()) {
    out += "null";
    return;
  }
  out += "{\"content\":[";
  bool first = true;
  for (const std::string& token : tokens) {
    if (!std::exchange(first, false)) out += ',';
    append_logprob(out, token, 0);
    out += ",\"top_logprobs\":[";
    std::string alternative = token;
    for (unsigned rank = 0; rank < asked.top_logprobs; ++rank) {
      if (rank > 0) out += ',';
      append_logprob(out, alternative, rank);
      out += '}';
      alternative += '.';
    }
    out += "]}";
  }
  out += "],\"refusal\":null}";
}

void append_joined(std::string& out, std::span<const std::string> pieces, const Script& script) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  append_text(out, text, script);
}

void append_call(std::string& out, const ToolCall& call, std::string_view arguments) {
  out += "\"id\":";
  wire::append_json_string(out, call.id);
  out += ",\"type\":\"function\",\"function\":{\"name\":";
  wire::append_json_string(out, call.name);
  out += ",\"arguments\":";
  wire::append_json_string(out, arguments);
  out += '}';
}

void append_message(std::string& out, const Answer& said, const Script& script) {
  out += "{\"role\":\"assistant\"";
  if (!script.faults.has(Fault::EmptyRoleOnly)) {
    out += ",\"content\":";
    if (said.null_content || !said.refusal.empty()) {
      out += "null";
    } else {
      append_joined(out, said.content, script);
    }
    if (!said.reasoning.empty()) {
      out += ',';
      wire::append_json_string(out, script.reasoning_field);
      out += ':';
      append_joined(out, said.reasoning, script);
    }
    if (!said.calls.empty()) {
      out += ",\"tool_calls\":[";
      for (std::size_t i = 0; i < said.calls.size(); ++i) {
        out += i > 0 ? ",{" : "{";
        append_call(out, said.calls[i], said.calls[i].arguments);
        out += '}';
      }
      out += ']';
    }
    out += ",\"refusal\":";
    if (said.refusal.empty()) {
      out += "null";
    } else {
      wire::append_json_string(out, said.refusal);
    }
    out += ",\"annotations\":[]";
  }
  out += '}';
}

std::string envelope(std::string_view id_prefix, std::string_view object, const Asked& asked) {
  std::string out = fmt::format("{{\"id\":\"{}\",\"object\":\"{}\",\"created\":{},\"model\":",
                                stable_id(id_prefix, asked.hash, 29), object, kCreated);
  wire::append_json_string(out, asked.model);
  return out;
}

std::string usage_json(const Usage& usage) {
  std::string out;
  append_usage(out, usage);
  return out;
}

// Writes one stream: every chunk starts and ends the same.
class ChunkWriter {
 public:
  ChunkWriter(const Asked& asked, const Script& script, const Usage& usage, std::string head)
      : asked_(asked), script_(script), usage_(usage_json(usage)), head_("data: " + std::move(head)) {}

  // `choice` is what stands between the braces of the one choice.
  void add(PieceKind kind, std::string_view choice, std::uint64_t repeat = 1) {
    std::string bytes;
    bytes.reserve(head_.size() + choice.size() + 40);
    bytes.append(head_).append(",\"choices\":[{").append(choice).append("}]");
    if (script_.faults.has(Fault::UsageRepeated)) {
      bytes.append(",\"usage\":").append(usage_);
    } else if (asked_.include_usage && !script_.faults.has(Fault::UsageMissing)) {
      bytes += ",\"usage\":null";
    }
    bytes += "}\n\n";
    pieces_.push_back({std::move(bytes), kind, repeat});
  }

  // `without_choices`: a stream that has nothing else still says so.
  void finish(bool without_choices) {
    if (without_choices) pieces_.push_back({head_ + ",\"choices\":[]}\n\n", PieceKind::Other});
    if (asked_.include_usage && !script_.faults.has(Fault::UsageMissing)) {
      const std::string bytes = head_ + ",\"choices\":[],\"usage\":" + usage_ + "}\n\n";
      pieces_.push_back({bytes, PieceKind::Usage});
      if (script_.faults.has(Fault::UsageRepeated)) pieces_.push_back({bytes, PieceKind::Usage});
    }
    pieces_.push_back({"data: [DONE]\n\n", PieceKind::Done});
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  const Asked& asked_;
  const Script& script_;
  std::string usage_;
  std::string head_;
  std::vector<Piece> pieces_;
};

// The stream of one choice as the insides of its chunks, so that several can be interleaved.
struct Delta {
  PieceKind kind;
  std::string choice;
  std::uint64_t repeat = 1;
};

class ChoiceStream {
 public:
  ChoiceStream(const Asked& asked, const Script& script, unsigned index)
      : asked_(asked), script_(script), index_(index) {}

  std::vector<Delta> chat(const Answer& said) {
    role(said);
    text(script_.reasoning_field, said.reasoning, false);
    if (!said.refusal.empty()) text("refusal", token_pieces(said.refusal), false);
    text("content", said.content, true);
    if (script_.faults.has(Fault::TinyEvents)) {
      delta(PieceKind::Content, "\"content\":\"x\"", {}, script_.count > 0 ? script_.count : 100'000);
    }
    for (std::size_t i = 0; i < said.calls.size(); ++i) call(i, said.calls[i]);
    std::string end = fmt::format("\"index\":{},\"delta\":{{}},\"logprobs\":null,\"finish_reason\":", index_);
    wire::append_json_string(end, said.finish);
    deltas_.push_back({PieceKind::Finish, std::move(end)});
    return std::move(deltas_);
  }

 private:
  void role(const Answer& said) {
    std::string inner = "\"role\":\"assistant\"";
    if (!script_.faults.has(Fault::EmptyRoleOnly)) {
      inner +=
          said.null_content ? ",\"content\":null,\"refusal\":null" : ",\"content\":\"\",\"refusal\":null";
    }
    delta(PieceKind::Other, inner, {});
  }

  void text(std::string_view field, std::span<const std::string> tokens, bool with_logprobs) {
    for (std::size_t i = 0; i < tokens.size(); i += script_.tokens_per_event) {
      const auto group =
          tokens.subspan(i, std::min<std::size_t>(script_.tokens_per_event, tokens.size() - i));
      std::string inner;
      wire::append_json_string(inner, field);
      inner += ':';
      append_joined(inner, group, script_);
      delta(PieceKind::Content, inner, with_logprobs ? group : std::span<const std::string>{});
    }
  }

  void call(std::size_t at, const ToolCall& call) {
    std::string inner = fmt::format("\"tool_calls\":[{{\"index\":{},", at);
    append_call(inner, call, "");
    delta(PieceKind::Content, inner + "}]", {});
    const auto tokens = token_pieces(call.arguments);
    for (std::size_t i = 0; i < tokens.size(); i += script_.tokens_per_event) {
      const auto group =
          std::span(tokens).subspan(i, std::min<std::size_t>(script_.tokens_per_event, tokens.size() - i));
      inner = fmt::format("\"tool_calls\":[{{\"index\":{},\"function\":{{\"arguments\":", at);
      append_joined(inner, group, script_);
      delta(PieceKind::Content, inner + "}}]", {});
    }
  }

  void delta(PieceKind kind, std::string_view inner, std::span<const std::string> tokens,
             std::uint64_t repeat = 1) {
    std::string choice = fmt::format("\"index\":{},\"delta\":{{{}}},\"logprobs\":", index_, inner);
    append_logprobs(choice, asked_, tokens);
    choice += ",\"finish_reason\":null";
    deltas_.push_back({kind, std::move(choice), repeat});
  }

  const Asked& asked_;
  const Script& script_;
  unsigned index_;
  std::vector<Delta> deltas_;
};

// One event of each choice in turn, as n > 1 really arrives.
void interleave(std::vector<std::vector<Delta>>& choices, ChunkWriter& writer) {
  std::size_t longest = 0;
  for (const auto& deltas : choices) longest = std::max(longest, deltas.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (const auto& deltas : choices) {
      if (i < deltas.size()) writer.add(deltas[i].kind, deltas[i].choice, deltas[i].repeat);
    }
  }
}

Reply event_stream(std::vector<Piece> pieces, std::string_view what) {
  Reply reply;
  reply.content_type = "text/event-stream; charset=utf-8";
  reply.fields.emplace_back("cache-control", "no-cache");
  reply.stream = true;
  reply.pieces = std::move(pieces);
  reply.what = what;
  return reply;
}

constexpr std::string_view kFingerprint = R"(,"service_tier":"default","system_fingerprint":"fp_simulated")";

void append_plain_end(std::string& out, const Usage& usage, const Script& script) {
  out += ']';
  if (!script.faults.has(Fault::UsageMissing)) {
    out += ",\"usage\":";
    append_usage(out, usage);
  }
}

}  // namespace

void append_usage(std::string& out, const Usage& usage) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
                 R"("prompt_tokens_details":{{"cached_tokens":{},"audio_tokens":0}},)"
                 R"("completion_tokens_details":{{"reasoning_tokens":{},"audio_tokens":0,)"
                 R"("accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}})",
                 usage.prompt, usage.completion, usage.total(), usage.cached, usage.reasoning);
}

void append_text(std::string& out, std::string_view text, const Script& script) {
  if (!script.faults.any(Fault::InvalidUtf8, Fault::LoneSurrogate)) {
    wire::append_json_string(out, text);
    return;
  }
  // Broken bytes and the escape of half a surrogate pair go out as they are; the rest is escaped.
  constexpr std::string_view kHalf = "\\ud83d";
  out += '"';
  while (!text.empty()) {
    if (text.starts_with(kHalf)) {
      out += kHalf;
      text.remove_prefix(kHalf.size());
      continue;
    }
    const char byte = text.front();
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      out += byte;
    }
    text.remove_prefix(1);
  }
  out += '"';
}

Reply chat_reply(const Asked& asked, const Script& script) {
  const std::vector<Answer> answers = answer(asked, script);
  const Usage usage = bill(asked, answers, script);
  if (asked.stream) {
    std::string head = envelope("chatcmpl-", "chat.completion.chunk", asked);
    head += kFingerprint;
    ChunkWriter writer(asked, script, usage, std::move(head));
    std::vector<std::vector<Delta>> choices;
    for (unsigned i = 0; i < answers.size(); ++i) {
      choices.push_back(ChoiceStream(asked, script, i).chat(answers[i]));
    }
    interleave(choices, writer);
    writer.finish(answers.empty());
    return event_stream(writer.take(), "chat stream");
  }
  std::string out = envelope("chatcmpl-", "chat.completion", asked);
  out += ",\"choices\":[";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i > 0) out += ',';
    fmt::format_to(std::back_inserter(out), "{{\"index\":{},\"message\":", i);
    append_message(out, answers[i], script);
    out += ",\"logprobs\":";
    append_logprobs(out, asked, answers[i].content);
    out += ",\"finish_reason\":";
    wire::append_json_string(out, answers[i].finish);
    out += '}';
  }
  append_plain_end(out, usage, script);
  out += kFingerprint;
  out += '}';
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "chat";
  return reply;
}

Reply completions_reply(const Asked& asked, const Script& script) {
  const std::vector<Answer> answers = answer(asked, script);
  const Usage usage = bill(asked, answers, script);
  const auto choice = [&](std::size_t index, std::span<const std::string> tokens, std::string_view finish) {
    std::string out = "\"text\":";
    append_joined(out, tokens, script);
    fmt::format_to(std::back_inserter(out), ",\"index\":{},\"logprobs\":null,\"finish_reason\":", index);
    if (finish.empty()) {
      out += "null";
    } else {
      wire::append_json_string(out, finish);
    }
    return out;
  };
  if (asked.stream) {
    std::string head = envelope("cmpl-", "text_completion", asked);
    head += ",\"system_fingerprint\":\"fp_simulated\"";
    ChunkWriter writer(asked, script, usage, std::move(head));
    std::vector<std::vector<Delta>> choices;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::vector<Delta>& deltas = choices.emplace_back();
      for (const std::string& piece : answers[i].content) {
        deltas.push_back({PieceKind::Content, choice(i, std::span(&piece, 1), {})});
      }
      deltas.push_back({PieceKind::Finish, choice(i, {}, answers[i].finish)});
    }
    interleave(choices, writer);
    writer.finish(answers.empty());
    return event_stream(writer.take(), "completions stream");
  }
  std::string out = envelope("cmpl-", "text_completion", asked);
  out += ",\"choices\":[";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    out += i > 0 ? ",{" : "{";
    out += choice(i, answers[i].content, answers[i].finish);
    out += '}';
  }
  append_plain_end(out, usage, script);
  out += '}';
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "completions";
  return reply;
}

}  // namespace qq::simulator
