#include "config/bad_input.h"

#include <gtest/gtest.h>

#include <string>

#include "config/load.h"
#include "config/test_environment.h"

namespace qq::config {
namespace {

// clang-format off
constexpr std::string_view kGood =
    "workers: 2\n"
    "listeners:\n"
    "  - address: \"127.0.0.1:8080\"\n"
    "    serve: [api, metrics]\n"
    "limits: {body_max: 64MiB, bodies_in_flight_max: 1GiB}\n"
    "timers:\n"
    "  connect: 3s\n"
    "  total: 15m\n"
    "outbound: {proxy: \"http://user:canary-proxy@proxy.example:3128\"}\n"
    "key_pepper: \"${PEPPER}\"\n"
    "providers:\n"
    "  - name: openai\n"
    "    kind: openai\n"
    "    allow_private_address: false\n"
    "    accounts:\n"
    "      - {name: main, credential: \"${OPENAI_API_KEY}\", limit_group: org}\n"
    "      - {name: spare, credential: none}\n"
    "    limit_groups: [{name: org, rpm: 120}]\n"
    "models:\n"
    "  - {name: gpt-mini, provider: openai, upstream_name: gpt-4o-mini, context: 128k, can: [tools]}\n"
    "  - {name: gpt-big, provider: openai, hidden: true}\n"
    "routes:\n"
    "  - name: chat\n"
    "    candidates: [{model: gpt-mini, weight: 0.5}, {model: gpt-big, weight: 0.5}]\n"
    "    fallback: [{model: gpt-mini}]\n"
    "    trigger_on: [timeout, 5xx]\n"
    "    retry: {max_attempts: 3, backoff: {base: 200ms, max: 2s}}\n"
    "keys:\n"
    "  - {name: demo, hash: \"hmac-sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\", allow: [chat]}\n";

// clang-format on

std::string text_of(const BadInput& input) {
  if (input.replace == kWholeFile) return std::string(input.with);
  std::string text(kGood);
  const std::size_t at = text.find(input.replace);
  EXPECT_NE(at, std::string::npos) << "the case does not fit the good file";
  return text.replace(at, input.replace.size(), input.with);
}

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsRefusedWithEveryMistakeAtItsPlace) {
  const auto result = load_text("f.yaml", text_of(GetParam()), test_environment());
  ASSERT_FALSE(result.has_value());
  std::vector<std::string> found;
  for (const Diagnostic& d : result.error()) {
    EXPECT_EQ(d.file, "f.yaml");
    found.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message);
  }
  EXPECT_EQ(found, std::vector<std::string>(GetParam().mistakes.begin(), GetParam().mistakes.end()));
}

TEST_P(BadInputTest, NeverShowsASecret) {
  const auto result = load_text("f.yaml", text_of(GetParam()), test_environment());
  ASSERT_FALSE(result.has_value());
  for (const Diagnostic& d : result.error()) {
    EXPECT_EQ(to_text(d).find("canary"), std::string::npos) << to_text(d);
  }
}

const auto kNamed = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Syntax, BadInputTest, testing::ValuesIn(bad_syntax()), kNamed);
INSTANTIATE_TEST_SUITE_P(Keys, BadInputTest, testing::ValuesIn(bad_keys()), kNamed);
INSTANTIATE_TEST_SUITE_P(Values, BadInputTest, testing::ValuesIn(bad_values()), kNamed);
INSTANTIATE_TEST_SUITE_P(Expansions, BadInputTest, testing::ValuesIn(bad_expansions()), kNamed);
INSTANTIATE_TEST_SUITE_P(Meanings, BadInputTest, testing::ValuesIn(bad_meanings()), kNamed);

TEST(BadInput, TheGoodFileThatTheCasesChangeIsGood) {
  const auto result = load_text("f.yaml", kGood, test_environment());
  EXPECT_TRUE(result.has_value()) << to_text(result.error().front());
}

}  // namespace
}  // namespace qq::config
