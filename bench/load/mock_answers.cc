#include "load/mock_answers.h"

#include <cstdio>
#include <string_view>

#include "load/event_scanner.h"

namespace qq::bench {
namespace {

constexpr std::string_view kChunkStart =
    R"(data: {"id":"chatcmpl-bench00000000000000000000000","object":"chat.completion.chunk",)"
    R"("created":1760000000,"model":"bench-model",)"
    R"("system_fingerprint":"fp_0123456789",)";

std::string chunked(std::string_view payload) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", payload.size());
  return std::string(size).append(payload).append("\r\n");
}

std::string event(std::string_view rest) {
  return chunked(std::string(kChunkStart).append(rest).append("\n\n"));
}

void put_stamp(char* digits, std::int64_t stamp) {
  for (std::size_t i = kStampDigits; i-- > 0; stamp /= 10) digits[i] = static_cast<char>('0' + stamp % 10);
}

}  // namespace

std::string completion_answer() {
  std::string body =
      R"({"id":"chatcmpl-bench00000000000000000000000","object":"chat.completion","created":1760000000,)"
      R"("model":"bench-model","choices":[{"index":0,"message":{"role":"assistant","content":"TEXT",)"
      R"("refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":)"
      R"({"prompt_tokens":212,"completion_tokens":31,"total_tokens":243,"prompt_tokens_details":)"
      R"({"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,)"
      R"("audio_tokens":0}},"service_tier":"default","system_fingerprint":"fp_0123456789"})";
  constexpr std::size_t kBodySize = 593;
  std::string text;
  while (body.size() - 4 + text.size() < kBodySize) text += "magpies build a bridge "[text.size() % 23];
  body.replace(body.find("TEXT"), 4, text);
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nx-request-id: req_bench0000000000\r\n\r\n" + body;
}

std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
         "x-request-id: req_bench0000000000\r\n\r\n";
}

void append_delta_event(std::string& out, std::int64_t now) {
  static const std::string kTemplate =
      event(R"("choices":[{"index":0,"delta":{"content":"t=0000000000000000000 bridge"},"logprobs":null,)"
            R"("finish_reason":null}]})");
  static const std::size_t kStampAt = kTemplate.find(kStampMark) + kStampMark.size();
  const std::size_t start = out.size();
  out += kTemplate;
  put_stamp(out.data() + start + kStampAt, now);
}

std::string stream_end() {
  return event(R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]})") +
         event(
             R"("choices":[],"usage":{"prompt_tokens":212,"completion_tokens":50,"total_tokens":262,)"
             R"("prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}})") +
         chunked("data: [DONE]\n\n") + "0\r\n\r\n";
}

}  // namespace qq::bench
