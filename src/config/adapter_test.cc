// Mistakes in the description of a private back end and what is said about them, where.
#include <gtest/gtest.h>

#include "config/diff.h"
#include "config/load.h"
#include "config/test_config.h"

namespace qq::config {
namespace {

constexpr std::string_view kOwn = R"(listeners:
  - {address: "127.0.0.1:8080"}
providers:
  - name: own
    kind: declared
    base_url: "https://brain.example/api"
    accounts: [{name: team, credential: "${WORD}"}]
    adapter:
      path: /ask
      request:
        body: |
          {"turns": "{{messages}}",
           "heat": "{{temperature}}"}
        message: '{"from": "{{role}}", "words": "{{text}}"}'
      answer: {text: /words}
      stream: {format: sse, text: /piece, done_data: END}
      errors: {code: /code, kinds: [{code: "1", kind: refused}]}
models:
  - {name: mine, provider: own}
)";

// "line:column: message" a line.
std::string mistakes(std::string_view from, std::string_view to) {
  const auto result = load_text("f.yaml", replaced(kOwn, from, to), test_environment());
  std::string out;
  if (result) return "none\n";
  for (const Diagnostic& d : result.error())
    out += to_text(d).substr(std::string_view("f.yaml:").size()) + "\n";
  return out;
}

TEST(Adapter, TheGoodOneIsGood) {
  EXPECT_EQ(mistakes("END", "END"), "none\n");
}

TEST(Adapter, MistakesAreTheirsWithLineAndColumn) {
  EXPECT_TRUE(
      mistakes("{{temperature}}", "{{temprature}}")
          .starts_with("11:15: providers[0].adapter.request.body: unknown placeholder {{temprature}}: known "
                       "here are model, messages, system, temperature,"));
  EXPECT_EQ(mistakes("\"heat\":", "\"heat\""),
            "11:15: providers[0].adapter.request.body: is not JSON in line 2, column 9: expected ':'\n");
  EXPECT_EQ(
      mistakes("{text: /words}", "{text: words}"),
      "15:22: providers[0].adapter.answer.text: expected a JSON pointer such as /choices/0/text; '~' is "
      "written ~0 in it, and '/' in a name ~1\n");
  EXPECT_EQ(mistakes("{text: /words}", "{id: /id}"),
            "15:15: providers[0].adapter.answer: `text`, the pointer to the answer's text, is required\n");
  EXPECT_EQ(mistakes(", done_data: END", ""),
            "16:15: providers[0].adapter.stream: nothing tells the stream's end: give `done`, `done_data`, "
            "`done_in` or `finish`, so that one that breaks off is not taken for a whole one\n");
  EXPECT_EQ(
      mistakes("format: sse", "format: csv"),
      "16:24: providers[0].adapter.stream.format: expected one of `sse`, `ndjson`, `none`, found `csv`\n");
  EXPECT_EQ(
      mistakes("kind: refused", "kind: sorry"),
      "17:55: providers[0].adapter.errors.kinds[0].kind: expected one of `rate_limited`, `quota_exhausted`, "
      "`credential_dead`, `forbidden`, `model_missing`, `refused`, `overloaded`, `server_error`, found "
      "`sorry`\n");
  EXPECT_EQ(mistakes("code: \"1\"", "status: 200, code: \"1\""),
            "17:46: providers[0].adapter.errors.kinds[0].status: must be between 400 and 599, found `200`\n");
  EXPECT_TRUE(mistakes("answer:", "anwser:").contains("unknown key `anwser`: did you mean `answer`?"));
}

TEST(Adapter, BelongsToItsKindAndItsKindNeedsOne) {
  EXPECT_EQ(mistakes("kind: declared", "kind: openai_compatible"),
            "4:5: providers[0]: `adapter` belongs to the kind declared, not to this one\n");
  std::string without(kOwn);
  const std::size_t begin = without.find("    adapter:");
  without.erase(begin, without.find("models:") - begin);
  const auto result = load_text("f.yaml", without, test_environment());
  ASSERT_FALSE(result);
  EXPECT_EQ(to_text(result.error().front()),
            "f.yaml:4:5: providers[0]: `adapter` is missing, which describes how this kind is spoken to");
}

TEST(Adapter, ASignaturesSecretMustBeOne) {
  const std::string signing =
      replaced(kOwn, "path: /ask",
               "path: /ask\n      auth: {hmac: {header: x-sig, value: \"{{key_id}} {{signature}}\", "
               "string_to_sign: \"{{body}}\"}}");
  const auto result = load_text("f.yaml", signing, test_environment());
  ASSERT_FALSE(result);
  EXPECT_EQ(to_text(result.error().front()),
            "f.yaml:7:41: providers[0].accounts[0].credential: the credential of account \"team\" must be "
            "ID:SECRET, "
            "since the signature's headers name a key");
  EXPECT_TRUE(load_text("f.yaml", replaced(signing, "${WORD}", "id:${WORD}"), test_environment()));
}

TEST(Adapter, OnlyItsTemplatesMayHaveLineBreaks) {
  EXPECT_TRUE(mistakes("path: /ask", "path: \"/a\\nsk\"")
                  .contains("holds a control character, such as a line break"));
  EXPECT_TRUE(mistakes("{\"turns\"", "{\x01\"turns\"").contains("control character"));
}

TEST(Adapter, AReloadSeesWhatChangedInIt) {
  const auto changes = diff(config_of(kOwn), config_of(replaced(kOwn, "path: /ask", "path: /tell")));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_TRUE(changes[0].what.starts_with("providers[own].adapter.path")) << changes[0].what;
}

TEST(Adapter, OneThatIsPolledSaysHow) {
  const auto polled = [](std::string_view poll) {
    const std::string text = "poll: {" + std::string(poll) + "}";
    const std::string without = replaced(kOwn, "stream: {format: sse, text: /piece, done_data: END}", text);
    const auto result = load_text("f.yaml", without, test_environment());
    return result ? "none" : to_text(result.error().front()).substr(std::string_view("f.yaml:").size());
  };
  EXPECT_EQ(polled("id: /id, path: \"/jobs/{{operation}}\", every: 500ms, done: /done"), "none");
  EXPECT_EQ(polled("id: /id, path: \"/jobs/{{operation}}\""),
            "16:13: providers[0].adapter.poll: `done` is required");
  EXPECT_TRUE(polled("id: /id, path: \"/jobs/{{operation}}\", done: /done, every: 1ms")
                  .contains("providers[0].adapter.poll.every: must be"));
}

}  // namespace
}  // namespace qq::config
