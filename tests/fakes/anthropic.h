// For tests of both sides.
#pragma once
#include <fakes/neutral.h>
#include <gtest/gtest.h>

#include <string>

#include "dialects/anthropic/dialect.h"
#include "wire/json.h"

namespace qq::dialects::anthropic::testing {

inline model::Target target_of(std::string model, model::MessagesForm form = model::MessagesForm::Direct) {
  model::Target target;
  target.upstream_model = std::move(model);
  target.quirks.messages_form = form;
  return target;
}

inline model::ChatRequest decoded(std::string_view body, const RequestHead& head = {}) {
  Result<model::ChatRequest> request = client_side().decode_request(body, head);
  EXPECT_TRUE(request) << (request ? "" : request.error().message) << "\n" << body;
  return request.value_or(model::ChatRequest{});
}

inline std::string why_refused(std::string_view body) {
  const Result<model::ChatRequest> request = client_side().decode_request(body, {});
  return request ? "not refused" : request.error().message;
}

struct Sent {
  std::string body;
  std::string headers;
  Losses losses;
  [[nodiscard]] wire::JsonValue json() const { return wire::JsonValue(body); }
  // A member of the body as text; empty if it is absent.
  [[nodiscard]] std::string at(std::string_view key) const {
    const auto value = json().member(key);
    return value ? std::string(value->text()) : std::string();
  }
  [[nodiscard]] std::string lost() const {
    std::string out;
    for (const Loss& loss : losses) out += loss.field + ": " + std::string(loss.why) + "\n";
    return out;
  }
};

inline Sent sent(const model::ChatRequest& request, const model::Target& target) {
  Sent out;
  Result<EncodedRequest> encoded = provider_side().encode_request(request, target, out.losses);
  EXPECT_TRUE(encoded) << (encoded ? "" : encoded.error().message);
  if (!encoded) return out;
  out.body = std::move(encoded->body);
  out.headers = std::move(encoded->header_lines);
  EXPECT_FALSE(wire::check_json(out.body)) << out.body;
  return out;
}
inline Sent sent(const model::ChatRequest& request, std::string model = "claude-sonnet-4-5") {
  return sent(request, target_of(std::move(model)));
}

// A request as another dialect's decoder makes it.
inline model::Part text(std::string words) {
  return model::Part(model::TextPart{.text = std::move(words), .citations = {}});
}
inline model::Part call(std::string id, std::string name, std::string arguments) {
  return model::Part(
      model::ToolCallPart{.id = std::move(id), .name = std::move(name), .arguments = std::move(arguments)});
}
inline model::Part result(std::string id, std::string words, std::string name = {}) {
  model::ToolResultPart part{.call_id = std::move(id), .name = std::move(name), .content = {}};
  part.content.push_back(text(std::move(words)));
  return model::Part(std::move(part));
}
inline model::Part thought(std::string words, model::OpaqueState state) {
  model::Part part(model::ReasoningPart{.text = std::move(words), .id = {}});
  part.state = std::move(state);
  return part;
}
template <typename... Parts>
model::Turn turn(model::Role role, Parts&&... parts) {
  model::Turn out;
  out.role = role;
  (out.parts.push_back(std::forward<Parts>(parts)), ...);
  return out;
}
template <typename... Turns>
model::ChatRequest foreign(Turns&&... turns) {
  model::ChatRequest request;
  request.dialect = model::Dialect::OpenAiChat;
  request.model = "asked";
  (request.turns.push_back(std::forward<Turns>(turns)), ...);
  return request;
}

}  // namespace qq::dialects::anthropic::testing
