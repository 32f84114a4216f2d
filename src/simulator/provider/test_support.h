// What the tests of the simulated provider share: plays as bytes, and replies taken apart again by the
// readers of wire/. For tests only.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "simulator/provider/compose.h"
#include "simulator/provider/respond.h"
#include "wire/body_reader.h"
#include "wire/http_head.h"
#include "wire/sse.h"

namespace qq::simulator::testing {

// Everything that a play writes.
inline std::string bytes_of(const Play& play) {
  std::string bytes;
  for (const Step& step : play.steps) {
    for (std::uint64_t i = 0; i < step.repeat; ++i) bytes += step.bytes;
  }
  return bytes;
}

inline std::string chat_body(std::string_view model, std::string_view more = {}) {
  std::string body = "{\"model\":";
  wire::append_json_string(body, model);
  return body + ",\"messages\":[{\"role\":\"user\",\"content\":\"Say hello.\"}]" + std::string(more) + "}";
}

// The play of a request whose model's name carries the directives. `lines` of its head end in CRLF.
inline Play play_of(std::string_view target, const std::string& body, const Library& library = {},
                    std::string_view lines = {}) {
  const std::string raw = fmt::format("POST {} HTTP/1.1\r\nhost: sim\r\n{}\r\n", target, lines);
  wire::RequestHead head;
  EXPECT_EQ(wire::read_request_head(raw, wire::HeadLimits{}, head).kind, wire::HeadVerdict::Kind::Complete);
  const RequestText request = RequestText::make(head.method, head.path(), body, head.query(), &head.fields);
  const ModelName model = split_model(model_of(request));
  Script script;
  script.vendor = request.path.vendor;
  EXPECT_TRUE(apply_directives(script, model.directives, '+'));
  Reply reply = respond(request, model.name, script, library);
  return compose(std::move(reply), script, AskedFraming{}, WallTime{std::chrono::seconds(1'767'225'600)});
}

constexpr bool kStream = true;
constexpr bool kPlain = false;
inline Play chat_play(std::string_view directives, bool stream) {
  const std::string more = stream ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "";
  return play_of("/v1/chat/completions", chat_body("sim-gpt+" + std::string(directives), more));
}

// A reply as a strict reader sees it.
struct ReadReply {
  wire::ResponseHead head{};
  std::string raw{};  // views of `head` point here
  std::string body{};
  bool framed = false;  // the body ended where its framing says
  const char* error = nullptr;
  std::string rest{};  // bytes behind the reply
};
inline std::unique_ptr<ReadReply> read_reply(std::string raw) {
  auto reply = std::make_unique<ReadReply>();
  reply->raw = std::move(raw);
  std::string_view left = reply->raw;
  const wire::HeadVerdict verdict =
      wire::read_response_head(left, wire::HeadLimits{.head_max = 4UL << 20U, .line_max = 8192}, reply->head);
  if (verdict.kind != wire::HeadVerdict::Kind::Complete) {
    reply->error = verdict.kind == wire::HeadVerdict::Kind::Bad ? verdict.reason : "incomplete head";
    return reply;
  }
  left.remove_prefix(verdict.consumed);
  wire::BodyReader reader(reply->head.framing);
  while (!reader.done() && !left.empty()) {
    const auto step = reader.feed(left);
    if (step.error != nullptr) {
      reply->error = step.error;
      return reply;
    }
    reply->body += step.payload;
    left.remove_prefix(step.consumed);
  }
  reply->framed = reader.finish();
  reply->rest = std::string(left);
  return reply;
}

struct Event {
  std::string name;
  std::string data;
};
inline std::vector<Event> events_of(std::string_view body) {
  wire::SseDecoder decoder;
  std::vector<Event> events;
  std::size_t consumed = 0;
  wire::SseEvent event;
  while (decoder.next(body, consumed, event)) {
    if (event.has_data) events.push_back({std::string(event.name), std::string(event.data)});
  }
  if (decoder.finish(event) && event.has_data)
    events.push_back({std::string(event.name), std::string(event.data)});
  return events;
}

// The text that a client of chat completions reads out of a stream.
inline std::string text_of(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    if (event.data == "[DONE]" || wire::check_json(event.data)) continue;
    const auto choices = wire::JsonValue(event.data).member("choices");
    if (!choices) continue;
    for (wire::JsonElements items(*choices); items.next();) {
      if (const auto piece = items.value().at("delta", "content")) text += piece->string();
    }
  }
  return text;
}

}  // namespace qq::simulator::testing
