// For tests of providers' sides: neutral requests built in a line, and what their encoder made of them.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "dialects/dialect.h"
#include "wire/json.h"

namespace qq::testing::asking {

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
inline model::Part thought(std::string words, model::OpaqueState state = {}) {
  model::Part part(model::ReasoningPart{.text = std::move(words), .id = {}});
  part.state = std::move(state);
  return part;
}
inline model::Part media(model::MediaPart::Kind kind, std::string type, std::string data,
                         model::MediaPart::Source source = model::MediaPart::Source::Base64,
                         std::string name = {}) {
  model::MediaPart made;
  made.kind = kind;
  made.source = source;
  made.data = std::move(data);
  made.media_type = std::move(type);
  made.name = std::move(name);
  return model::Part(std::move(made));
}
inline model::Part marked(model::Part part, model::CacheMark mark = {}) {
  part.cache = mark;
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
model::ChatRequest request(Turns&&... turns) {
  model::ChatRequest out;
  out.model = "asked";
  (out.turns.push_back(std::forward<Turns>(turns)), ...);
  return out;
}
inline model::Tool tool(std::string name) {
  model::Tool out;
  out.name = std::move(name);
  out.schema = R"({"type":"object","properties":{"a":{"type":"string"}}})";
  return out;
}
inline model::ToolChoice choice(model::ToolChoice::Mode mode, std::vector<std::string> only = {}) {
  return {.mode = mode, .only = std::move(only)};
}

struct Sent {
  std::string body;
  std::string losses;   // "field: why" in lines
  std::string refused;  // the error's message, where nothing is sent
  // A member of the body, or of a member of it, as text; empty if it is absent.
  template <typename... Keys>
  [[nodiscard]] std::string at(Keys... keys) const {
    const auto value = wire::JsonValue(body).at(keys...);
    return value ? std::string(value->text()) : std::string();
  }
};
inline Sent sent(const dialects::ProviderDialect& provider, const model::ChatRequest& request,
                 const model::Target& target) {
  Sent out;
  dialects::Losses losses;
  const auto encoded = provider.encode_request(request, target, losses);
  for (const dialects::Loss& loss : losses) out.losses += loss.field + ": " + std::string(loss.why) + "\n";
  if (!encoded) {
    EXPECT_EQ(encoded.error().kind, ErrorKind::InvalidRequest);
    EXPECT_FALSE(encoded.error().param.empty()) << encoded.error().message;
    out.refused = encoded.error().message;
    return out;
  }
  out.body = encoded->body;
  EXPECT_FALSE(wire::check_json(out.body)) << out.body;
  return out;
}

}  // namespace qq::testing::asking
