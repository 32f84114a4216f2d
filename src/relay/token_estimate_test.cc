#include "relay/token_estimate.h"

#include <gtest/gtest.h>

namespace qq::relay {
namespace {

TEST(TokenEstimate, GoesByTheCharacters) {
  EXPECT_EQ(estimated_tokens(std::string_view()), 0);
  EXPECT_EQ(estimated_tokens("abcd"), 1);
  EXPECT_EQ(estimated_tokens("abcde"), 2);
  EXPECT_EQ(estimated_tokens("你好"), 2);
  EXPECT_EQ(estimated_tokens("дом"), 2) << "six quarters";
}

TEST(TokenEstimate, CountsTurnsToolsAndImages) {
  model::ChatRequest request;
  EXPECT_EQ(estimated_tokens(request), 0);
  model::Turn& turn = request.turns.emplace_back();
  turn.parts.emplace_back(model::TextPart{.text = "abcd", .citations = {}});
  EXPECT_EQ(estimated_tokens(request), 5);
  turn.parts.emplace_back(model::MediaPart{});
  EXPECT_EQ(estimated_tokens(request), 770);
  request.tools.push_back({.name = "abcd", .schema = "{}"});
  EXPECT_EQ(estimated_tokens(request), 780);
}

}  // namespace
}  // namespace qq::relay
