#include "simulator/provider/responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "simulator/provider/chat.h"
#include "simulator/provider/in_quotes.h"
#include "simulator/provider/tokens.h"

namespace qq::simulator {
namespace {

std::string joined(std::span<const std::string> pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

std::string escaped(std::string_view text, const Script& script) {
  std::string out;
  append_text(out, text, script);
  return out;
}

// What the request said of that field, or a default: the answer repeats its settings.
std::string_view repeated(const Asked& asked, std::string_view field, std::string_view otherwise) {
  const auto found = asked.body.member(field);
  return found && !found->is_null() ? found->text() : otherwise;
}

std::string logprobs_json(const Asked& asked, std::span<const std::string> tokens) {
  if (!asked.logprobs) return "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    fmt::format_to(std::back_inserter(out),
                   "{}{{\"token\":{},\"logprob\":-0.{:02},\"bytes\":[],\"top_logprobs\":[]}}",
                   i > 0 ? "," : "", in_quotes(tokens[i]), tokens[i].size() * 7 % 90 + 1);
  }
  return out + "]";
}

// The last letters of an id behind a thought: no hexadecimal digit, then as many of the thought's.
constexpr char kBehindThought = 'r';
constexpr std::size_t kThoughtEnd = 8;

class ResponsesWriter {
 public:
  ResponsesWriter(const Asked& asked, const Script& script)
      : asked_(asked),
        script_(script),
        answers_(answer(asked, script)),
        usage_(bill(asked, answers_, script)) {
    if (!answers_.empty()) said_ = &answers_.front();
    incomplete_ = said_ != nullptr && (said_->finish == "length" || said_->finish == "content_filter");
  }

  Reply whole() {
    Reply reply = Reply::json(200, object(final_status(), finished_items(), true));
    reply.what = "responses";
    return reply;
  }

  Reply stream() {
    event("response.created", "\"response\":" + object("in_progress", "", false));
    event("response.in_progress", "\"response\":" + object("in_progress", "", false));
    if (said_ != nullptr) {
      if (!said_->reasoning.empty()) stream_reasoning();
      if (has_message()) stream_message();
      for (std::size_t i = 0; i < said_->calls.size(); ++i) stream_call(i);
      if (script_.faults.has(Fault::TinyEvents)) tiny_events();
    }
    const std::string_view terminal = incomplete_ ? "response.incomplete" : "response.completed";
    event(terminal, "\"response\":" + object(final_status(), finished_items(), true), PieceKind::Finish);
    Reply reply;
    reply.content_type = "text/event-stream; charset=utf-8";
    reply.stream = true;
    reply.pieces = std::move(pieces_);
    reply.what = "responses stream";
    return reply;
  }

 private:
  std::string_view final_status() const { return incomplete_ ? "incomplete" : "completed"; }

  bool has_message() const {
    return !said_->content.empty() || !said_->refusal.empty() ||
           (said_->calls.empty() && said_->reasoning.empty());
  }

  std::string id(std::string_view prefix, std::uint64_t salt = 0) const {
    return stable_id(prefix, asked_.hash + salt, 48);
  }

  std::string item_id(std::string_view prefix, std::uint64_t salt) const {
    std::string own = id(prefix, salt);
    if (said_->reasoning.empty()) return own;
    const std::string thought = id("rs_", 1);
    own.resize(own.size() - kThoughtEnd - 1);
    return own + kBehindThought + thought.substr(thought.size() - kThoughtEnd);
  }

  // The response object; `items` is the inside of `output`.
  std::string object(std::string_view status, std::string_view items, bool ended) const {
    std::string out = fmt::format(
        R"({{"id":"{}","object":"response","created_at":{},"status":"{}","background":false,"error":null,)"
        R"("incomplete_details":{},"instructions":{},"max_output_tokens":{},"model":{},"output":[{}],)"
        R"("parallel_tool_calls":{},"previous_response_id":{},"reasoning":{},"service_tier":"default",)"
        R"("store":{},"temperature":{},"text":{},"tool_choice":{},"tools":{},"top_p":{},)"
        R"("truncation":"disabled","usage":)",
        id("resp_"), kCreated, status, ended ? incomplete_details() : "null",
        repeated(asked_, "instructions", "null"), repeated(asked_, "max_output_tokens", "null"),
        in_quotes(asked_.model), items, asked_.parallel_calls,
        repeated(asked_, "previous_response_id", "null"),
        repeated(asked_, "reasoning", R"({"effort":null,"summary":null})"), repeated(asked_, "store", "true"),
        repeated(asked_, "temperature", "1.0"), repeated(asked_, "text", R"({"format":{"type":"text"}})"),
        repeated(asked_, "tool_choice", "\"auto\""), repeated(asked_, "tools", "[]"),
        repeated(asked_, "top_p", "1.0"));
    if (!ended || script_.faults.has(Fault::UsageMissing)) {
      out += "null";
    } else {
      append_bill(out);
    }
    fmt::format_to(std::back_inserter(out), ",\"user\":{},\"metadata\":{}}}",
                   repeated(asked_, "user", "null"), repeated(asked_, "metadata", "{}"));
    return out;
  }

  std::string incomplete_details() const {
    if (!incomplete_) return "null";
    return said_->finish == "length" ? R"({"reason":"max_output_tokens"})" : R"({"reason":"content_filter"})";
  }

  void append_bill(std::string& out) const {
    fmt::format_to(std::back_inserter(out),
                   R"({{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},"output_tokens":{},)"
                   R"("output_tokens_details":{{"reasoning_tokens":{}}},"total_tokens":{}}})",
                   usage_.prompt, usage_.cached, usage_.completion, usage_.reasoning, usage_.total());
  }

  std::string finished_items() const {
    std::string items;
    const auto add = [&](const std::string& item) {
      if (!items.empty()) items += ',';
      items += item;
    };
    if (said_ == nullptr) return items;
    if (!said_->reasoning.empty()) add(reasoning_item(true));
    if (has_message()) add(message_item(final_status(), finished_part()));
    for (std::size_t i = 0; i < said_->calls.size(); ++i) add(call_item(i, true));
    return items;
  }

  std::string reasoning_item(bool done) const {
    const std::string summary =
        done ? fmt::format(R"({{"type":"summary_text","text":{}}})", in_quotes(joined(said_->reasoning)))
             : "";
    const std::string name = id("rs_", 1);
    const std::string sealed =
        asked_.sealed_thoughts ? fmt::format(R"(,"encrypted_content":"{}{}")", kSealed, name) : "";
    return fmt::format(R"({{"id":"{}","type":"reasoning","summary":[{}]{}}})", name, summary, sealed);
  }

  std::string message_item(std::string_view status, std::string_view part) const {
    return fmt::format(R"({{"id":"{}","type":"message","status":"{}","role":"assistant","content":[{}]}})",
                       item_id("msg_", 2), status, part);
  }

  std::string text_part(std::string_view text, std::span<const std::string> tokens) const {
    return fmt::format(R"({{"type":"output_text","annotations":[],"logprobs":{},"text":{}}})",
                       logprobs_json(asked_, tokens), escaped(text, script_));
  }

  std::string finished_part() const {
    if (script_.faults.any(Fault::EmptyRoleOnly, Fault::EmptyNull)) return {};
    if (!said_->refusal.empty())
      return fmt::format(R"({{"type":"refusal","refusal":{}}})", in_quotes(said_->refusal));
    return text_part(joined(said_->content), said_->content);
  }

  std::string call_item(std::size_t at, bool done) const {
    const ToolCall& call = said_->calls[at];
    return fmt::format(
        R"({{"id":"{}","type":"function_call","status":"{}","arguments":{},"call_id":{},"name":{}}})",
        item_id("fc_", 10 + at), done ? "completed" : "in_progress",
        in_quotes(done ? call.arguments : std::string()), in_quotes(call.id), in_quotes(call.name));
  }

  void event(std::string_view type, std::string_view members, PieceKind kind = PieceKind::Other,
             std::uint64_t repeat = 1) {
    pieces_.push_back({fmt::format("event: {0}\ndata: {{\"type\":\"{0}\",\"sequence_number\":{1},{2}}}\n\n",
                                   type, sequence_++, members),
                       kind, repeat});
  }

  void stream_reasoning() {
    const std::string item = id("rs_", 1);
    const std::string where =
        fmt::format(R"("item_id":"{}","output_index":{},"summary_index":0)", item, index_);
    item_event("added", reasoning_item(false));
    event("response.reasoning_summary_part.added", where + R"(,"part":{"type":"summary_text","text":""})");
    deltas("response.reasoning_summary_text.delta", where, said_->reasoning, false);
    const std::string text = in_quotes(joined(said_->reasoning));
    event("response.reasoning_summary_text.done", where + ",\"text\":" + text);
    event("response.reasoning_summary_part.done",
          where + R"(,"part":{"type":"summary_text","text":)" + text + "}");
    item_event("done", reasoning_item(true));
    ++index_;
  }

  void stream_message() {
    const std::string where =
        fmt::format(R"("item_id":"{}","output_index":{},"content_index":0)", item_id("msg_", 2), index_);
    item_event("added", message_item("in_progress", ""));
    if (script_.faults.any(Fault::EmptyRoleOnly, Fault::EmptyNull)) {
      // A message without any part.
    } else if (!said_->refusal.empty()) {
      const std::string text = in_quotes(said_->refusal);
      event("response.content_part.added", where + R"(,"part":{"type":"refusal","refusal":""})");
      deltas("response.refusal.delta", where, token_pieces(said_->refusal), false);
      event("response.refusal.done", where + ",\"refusal\":" + text);
      event("response.content_part.done", where + R"(,"part":{"type":"refusal","refusal":)" + text + "}");
    } else {
      event("response.content_part.added", where + ",\"part\":" + text_part("", {}));
      deltas("response.output_text.delta", where, said_->content, true);
      event("response.output_text.done",
            fmt::format("{},\"text\":{},\"logprobs\":{}", where, escaped(joined(said_->content), script_),
                        logprobs_json(asked_, said_->content)));
      event("response.content_part.done", where + ",\"part\":" + finished_part());
    }
    item_event("done", message_item(final_status(), finished_part()));
    ++index_;
  }

  void stream_call(std::size_t at) {
    const std::string where =
        fmt::format(R"("item_id":"{}","output_index":{})", item_id("fc_", 10 + at), index_);
    item_event("added", call_item(at, false));
    deltas("response.function_call_arguments.delta", where, token_pieces(said_->calls[at].arguments), false);
    event("response.function_call_arguments.done",
          where + ",\"arguments\":" + in_quotes(said_->calls[at].arguments));
    item_event("done", call_item(at, true));
    ++index_;
  }

  void tiny_events() {
    event("response.output_text.delta",
          fmt::format(R"("item_id":"{}","output_index":0,"content_index":0,"delta":"x","logprobs":[])",
                      item_id("msg_", 2)),
          PieceKind::Content, script_.count > 0 ? script_.count : 100'000);
  }

  void item_event(std::string_view what, const std::string& item) {
    event(fmt::format("response.output_item.{}", what),
          fmt::format("\"output_index\":{},\"item\":{}", index_, item));
  }

  void deltas(std::string_view type, std::string_view where, std::span<const std::string> tokens,
              bool logprobs) {
    for (std::size_t i = 0; i < tokens.size(); i += script_.tokens_per_event) {
      const auto group =
          tokens.subspan(i, std::min<std::size_t>(script_.tokens_per_event, tokens.size() - i));
      std::string members = fmt::format("{},\"delta\":{}", where, escaped(joined(group), script_));
      if (logprobs) members += ",\"logprobs\":" + logprobs_json(asked_, group);
      event(type, members, PieceKind::Content);
    }
  }

  const Asked& asked_;
  const Script& script_;
  std::vector<Answer> answers_;
  Usage usage_;
  const Answer* said_ = nullptr;  // of answers_; null: no output at all
  bool incomplete_ = false;
  std::vector<Piece> pieces_;
  std::uint64_t sequence_ = 0;
  std::size_t index_ = 0;
};

}  // namespace

std::string end_of_thought_before(std::string_view item_id) {
  if (item_id.size() <= kThoughtEnd || item_id[item_id.size() - kThoughtEnd - 1] != kBehindThought) return {};
  return std::string(item_id.substr(item_id.size() - kThoughtEnd));
}

Reply responses_reply(const Asked& asked, const Script& script) {
  ResponsesWriter writer(asked, script);
  return asked.stream ? writer.stream() : writer.whole();
}

}  // namespace qq::simulator
