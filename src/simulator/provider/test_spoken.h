// What the tests of the dialects other than OpenAI's share: how each is asked, with the head that its vendor
// wants. For tests only.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "simulator/provider/test_support.h"
#include "wire/aws_frames.h"

namespace qq::simulator::testing {

inline constexpr std::string_view kAnthropicHead =
    "x-api-key: sk-ant-sim\r\nanthropic-version: 2023-06-01\r\n";
inline constexpr std::string_view kGoogleHead = "x-goog-api-key: sim\r\n";
inline constexpr std::string_view kBearerHead = "authorization: Bearer sim\r\n";
inline constexpr std::string_view kAwsHead =
    "authorization: AWS4-HMAC-SHA256 Credential=AKIASIM/20260101/us-east-1/bedrock/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=00ff\r\nx-amz-date: 20260101T000000Z\r\n";

// One provider's way of asking "Say hello." of a model whose name carries directives.
struct Tongue {
  std::string_view name;
  std::string_view head;
  bool model_in_path;
  std::string_view whole;   // the target, with {} for the model where it is in the path
  std::string_view stream;  // the same of a stream
  std::string_view body;    // with {} for the model where it is in the body; its last brace is left out
  std::string_view stream_member;
  std::string_view whole_member;
  std::string_view model = "sim-x";
};
inline constexpr std::array<Tongue, 9> kTongues{{
    {"anthropic", kAnthropicHead, false, "/v1/messages", "/v1/messages",
     R"({"model":"@","max_tokens":1000,"messages":[{"role":"user","content":"Say hello."}])",
     ",\"stream\":true", ""},
    {"vertex claude", kBearerHead, true,
     "/v1/projects/p/locations/l/publishers/anthropic/models/@:rawPredict",
     "/v1/projects/p/locations/l/publishers/anthropic/models/@:streamRawPredict",
     R"({"anthropic_version":"vertex-2023-10-16","max_tokens":1000,"messages":[{"role":"user","content":"Say hello."}])",
     ",\"stream\":true", ""},
    {"bedrock invoke", kAwsHead, true, "/model/@/invoke", "/model/@/invoke-with-response-stream",
     R"({"anthropic_version":"bedrock-2023-05-31","max_tokens":1000,"messages":[{"role":"user","content":"Say hello."}])",
     "", ""},
    {"gemini", kGoogleHead, true, "/v1beta/models/@:generateContent",
     "/v1beta/models/@:streamGenerateContent?alt=sse",
     R"({"contents":[{"role":"user","parts":[{"text":"Say hello."}]}])", "", ""},
    {"gemini array", kGoogleHead, true, "/v1beta/models/@:generateContent",
     "/v1beta/models/@:streamGenerateContent",
     R"({"contents":[{"role":"user","parts":[{"text":"Say hello."}]}])", "", ""},
    {"vertex gemini", kBearerHead, true,
     "/v1/projects/p/locations/l/publishers/google/models/@:generateContent",
     "/v1/projects/p/locations/l/publishers/google/models/@:streamGenerateContent?alt=sse",
     R"({"contents":[{"role":"user","parts":[{"text":"Say hello."}]}])", "", ""},
    {"converse", kAwsHead, true, "/model/@/converse", "/model/@/converse-stream",
     R"({"messages":[{"role":"user","content":[{"text":"Say hello."}]}])", "", ""},
    {"cohere", kBearerHead, false, "/v2/chat", "/v2/chat",
     R"({"model":"@","messages":[{"role":"user","content":"Say hello."}])", ",\"stream\":true", ""},
    {"ollama", "", false, "/api/chat", "/api/chat",
     R"({"model":"@","messages":[{"role":"user","content":"Say hello."}])", "", ",\"stream\":false"},
}};

inline std::string with_model(std::string_view pattern, std::string_view model) {
  std::string out(pattern);
  if (const std::size_t at = out.find('@'); at != std::string::npos) out.replace(at, 1, model);
  return out;
}

// `more` are members of the body, each with a comma before it.
inline Play ask_in(const Tongue& tongue, bool stream, std::string_view directives = {},
                   std::string_view more = {}, const Library& library = {}) {
  std::string model(tongue.model);
  if (directives.starts_with("rec:")) {
    model = directives;
  } else if (!directives.empty()) {
    model.append("+").append(directives);
  }
  const std::string_view member = stream ? tongue.stream_member : tongue.whole_member;
  const std::string body = with_model(tongue.body, model) + std::string(member) + std::string(more) + "}";
  return play_of(with_model(stream ? tongue.stream : tongue.whole, model), body, library, tongue.head);
}
inline std::unique_ptr<ReadReply> told_in(const Tongue& tongue, bool stream, std::string_view directives = {},
                                          std::string_view more = {}) {
  return read_reply(bytes_of(ask_in(tongue, stream, directives, more)));
}
inline const Tongue& tongue_named(std::string_view name) {
  return *std::ranges::find(kTongues, name, &Tongue::name);
}

// The JSON of a stream's events, whatever carries it. Names of AWS's events and exceptions stand before.
inline std::vector<std::string> documents_of(const ReadReply& reply) {
  std::vector<std::string> documents;
  const std::string type(reply.head.fields.find("content-type").value_or(""));
  if (type.find("eventstream") != std::string::npos) {
    wire::AwsFrames frames;
    std::string_view left = reply.body;
    wire::AwsFrame frame;
    while (frames.next(left, frame)) {
      const std::string name(
          frame.header(frame.header(":message-type") == "exception" ? ":exception-type" : ":event-type"));
      const auto inner = wire::JsonValue(frame.payload).member("bytes");
      documents.push_back(name + " " +
                          (inner ? from_base64(inner->string()).value_or("?") : std::string(frame.payload)));
    }
    EXPECT_FALSE(frames.broken());
    return documents;
  }
  if (type.find("ndjson") != std::string::npos) {
    std::string_view left = reply.body;
    while (!left.empty()) {
      const std::size_t end = left.find('\n');
      documents.emplace_back(left.substr(0, end));
      left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    return documents;
  }
  if (type.find("event-stream") != std::string::npos) {
    for (Event& event : events_of(reply.body)) documents.push_back(std::move(event.data));
    return documents;
  }
  for (wire::JsonElements items{wire::JsonValue(reply.body)}; items.next();)
    documents.emplace_back(items.value().text());
  return documents;
}

// All strings of these members in a document, joined: enough to read what was said.
inline std::string texts_in(std::string_view json, std::string_view key) {
  std::string out;
  const std::string needle = "\"" + std::string(key) + "\":\"";
  for (std::size_t at = json.find(needle); at != std::string_view::npos; at = json.find(needle, at + 1)) {
    const std::size_t begin = at + needle.size() - 1;
    std::size_t end = begin + 1;
    while (json[end] != '"') end += json[end] == '\\' ? 2U : 1U;
    out += wire::JsonValue(json.substr(begin, end + 1 - begin)).string();
  }
  return out;
}
inline std::string_view text_key(const Tongue& tongue) {
  return tongue.name == "ollama" ? "content" : "text";
}
inline std::string joined(const std::vector<std::string>& documents) {
  std::string all;
  for (const std::string& document : documents) all += document;
  return all;
}

}  // namespace qq::simulator::testing
