// For tests of the Gemini dialect: requests, answers and streams as text.
#pragma once
#include <fakes/neutral.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "dialects/gemini/dialect.h"
#include "wire/json.h"

namespace qq::dialects::gemini::testing {

inline constexpr std::string_view kFlash25 = "gemini-2.5-flash";
inline constexpr std::string_view kFlash3 = "gemini-3-flash-preview";

inline model::Target target(std::string_view model = kFlash25, std::string_view kind = "gemini") {
  model::Target target;
  target.kind = kind;
  target.upstream_model = model;
  return target;
}

// The error's text instead of a request that is none.
inline std::string decoded(std::string_view body, const RequestHead& head = {.path_model = "asked"}) {
  const auto request = client_side().decode_request(body, head);
  if (!request) return request.error().param + ": " + request.error().message;
  return qq::testing::describe(*request);
}

inline model::ChatRequest request_of(std::string_view body,
                                     const RequestHead& head = {.path_model = "asked"}) {
  auto request = client_side().decode_request(body, head);
  EXPECT_TRUE(request) << request.error().message << "\n" << body;
  return request ? *std::move(request) : model::ChatRequest();
}

struct Encoded {
  std::string body;
  std::string losses;  // "field: why" a line
};
inline Encoded encoded(const model::ChatRequest& request, const model::Target& to = target()) {
  Losses losses;
  const auto made = provider_side().encode_request(request, to, losses);
  Encoded out;
  out.body = made ? made->body : "refused " + made.error().param + ": " + made.error().message;
  if (made) EXPECT_FALSE(wire::check_json(made->body)) << made->body;
  for (const Loss& loss : losses) out.losses.append(loss.field).append(": ").append(loss.why).append("\n");
  return out;
}

inline qq::testing::DecodedStream stream(std::string_view body) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Gemini, target(), body);
}

inline std::string answer(std::string_view body) {
  const auto made = provider_side().decode_answer(body, target(), "seed");
  if (!made) return std::string(to_string(made.error().kind)) + " " + made.error().message;
  return qq::testing::describe(*made);
}

}  // namespace qq::dialects::gemini::testing
