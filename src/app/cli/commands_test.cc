#include "app/cli/commands.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "admission/key_hash.h"
#include "admission/key_ring.h"
#include "config/load.h"

namespace qq::app::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto kPepper = "canary-pepper-0123456789abcdef";

class CommandsTest : public testing::Test {
 protected:
  config::Environment environment() {
    config::Environment out;
    out.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    out.file = [this](const std::string& path) -> std::expected<std::string, std::string> {
      const auto found = files_.find(path);
      if (found == files_.end()) return std::unexpected("is not there");
      return found->second;
    };
    return out;
  }
  Streams streams() { return {in_, out_, err_}; }
  int hash(std::string_view key) {
    in_.str(std::string(key));
    return run_keys_hash({}, environment(), streams());
  }
  // The text after "label" up to the next white space.
  std::string printed(const std::string& label) {
    std::smatch match;
    const std::string text = out_.str();
    return std::regex_search(text, match, std::regex(label + "\\s*(\\S+)")) ? match[1].str() : "";
  }

  std::map<std::string, std::string> variables_{{"QUEQIAO_KEY_PEPPER", kPepper}};
  std::map<std::string, std::string> files_;
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandsTest, TranslatesRequestsAnswersAndStreams) {
  in_.str(R"({"model":"m","max_tokens":9,"top_k":3,"messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(run_translate({.from = "anthropic", .to = "openai_chat", .model = "gpt"}, streams()), kGood);
  EXPECT_THAT(out_.str(), HasSubstr(R"("model":"gpt")"));
  EXPECT_THAT(out_.str(), HasSubstr(R"("content":"hi")"));
  EXPECT_THAT(err_.str(), HasSubstr("lost: top_k: "));
  out_.str("");
  in_.clear();
  in_.str(
      R"({"choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]})");
  EXPECT_EQ(run_translate({.from = "openai_chat", .to = "anthropic", .what = "answer"}, streams()), kGood);
  EXPECT_THAT(out_.str(), HasSubstr(R"("text":"yes")"));
  out_.str("");
  in_.clear();
  in_.str("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\n\n");
  EXPECT_EQ(run_translate({.from = "openai_chat", .to = "anthropic", .what = "stream"}, streams()), kFailed)
      << "it was cut";
  EXPECT_THAT(out_.str(), HasSubstr("content_block_delta"));
}

TEST_F(CommandsTest, TranslateSaysWhatIsWrong) {
  in_.str("{}");
  EXPECT_EQ(run_translate({.from = "klingon", .to = "openai_chat"}, streams()), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--from klingon: there is no such dialect"));
  EXPECT_EQ(run_translate({.from = "anthropic", .to = "declared"}, streams()), kUsage);
  EXPECT_EQ(run_translate({.from = "anthropic", .to = "openai_chat", .kind = "nobody"}, streams()), kUsage);
  EXPECT_EQ(run_translate({.from = "anthropic", .to = "openai_chat"}, streams()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("\nmodel: Field required\n"));
}

// The text with the printed entry put into a configuration finds the printed key.
void expect_key_works(const std::string& entry, const std::string& key,
                      const config::Environment& environment) {
  const std::string text =
      "listeners: [{address: \"127.0.0.1:0\"}]\n"
      "providers: [{name: p, kind: openai, accounts: [{name: a, credential: none}]}]\n"
      "models: [{name: m, provider: p}]\n" +
      entry;
  const auto loaded = config::load_text("f", text, environment);
  ASSERT_TRUE(loaded.has_value()) << config::to_text(loaded.error().front());
  const auto ring =
      admission::KeyRing::make(loaded->keys, admission::KeyHasher::make(loaded->key_pepper).value()).value();
  EXPECT_NE(ring.find(key), nullptr);
}

TEST_F(CommandsTest, KeysNewPrintsAKeyThatItsEntryLetsIn) {
  ASSERT_EQ(run_keys_new({}, environment(), streams()), kGood);
  const std::string key = printed("key:");
  EXPECT_TRUE(key.starts_with("sk-qq_")) << key;
  const std::string text = out_.str();
  expect_key_works(text.substr(text.find("key_pepper:")), key, environment());
  EXPECT_THAT(text, Not(HasSubstr(kPepper)));
}

TEST_F(CommandsTest, KeysNewMakesAPepperWhenAsked) {
  variables_.clear();
  KeysNew options;
  options.with_pepper = true;
  ASSERT_EQ(run_keys_new(options, environment(), streams()), kGood);
  const std::string pepper = printed("pepper:");
  EXPECT_EQ(pepper.size(), 64U);
  variables_["QUEQIAO_KEY_PEPPER"] = pepper;
  const std::string text = out_.str();
  EXPECT_THAT(text, HasSubstr("QUEQIAO_KEY_PEPPER=" + pepper));
  expect_key_works(text.substr(text.find("key_pepper:")), printed("key:"), environment());
}

TEST_F(CommandsTest, KeysNewReadsThePepperFromAFile) {
  files_["/run/secrets/pepper"] = std::string(kPepper) + "\n";
  KeysNew options;
  options.pepper.file = "/run/secrets/pepper";
  ASSERT_EQ(run_keys_new(options, environment(), streams()), kGood);
  const std::string text = out_.str();
  expect_key_works(text.substr(text.find("key_pepper:")), printed("key:"), environment());
}

TEST_F(CommandsTest, KeysAreDifferentEveryTime) {
  run_keys_new({}, environment(), streams());
  const std::string first = printed("key:");
  out_.str("");
  run_keys_new({}, environment(), streams());
  EXPECT_NE(printed("key:"), first);
}

TEST_F(CommandsTest, KeysNeedAPepper) {
  for (const auto* pepper : {"", "short"}) {
    variables_["QUEQIAO_KEY_PEPPER"] = pepper;
    EXPECT_EQ(run_keys_new({}, environment(), streams()), kFailed);
    EXPECT_EQ(hash("some-key"), kFailed);
  }
  variables_.clear();
  EXPECT_EQ(run_keys_new({}, environment(), streams()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("QUEQIAO_KEY_PEPPER is not set"));
  EXPECT_THAT(err_.str(), HasSubstr("queqiao keys new --with-pepper"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandsTest, KeysHashReadsTheKeyFromStandardInput) {
  ASSERT_EQ(hash("an-operators-own-string\n"), kGood);
  const auto hasher = admission::KeyHasher::make(Secret(kPepper)).value();
  EXPECT_EQ(printed("hash:"), admission::to_text(hasher.digest("an-operators-own-string")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("an-operators-own-string")));
}

TEST_F(CommandsTest, KeysHashTakesALineEndOfWindows) {
  ASSERT_EQ(hash("own\r\n"), kGood);
  const auto hasher = admission::KeyHasher::make(Secret(kPepper)).value();
  EXPECT_EQ(printed("hash:"), admission::to_text(hasher.digest("own")));
}

TEST_F(CommandsTest, KeysHashWarnsOfShortKeys) {
  ASSERT_EQ(hash("nineteen-characters\n"), kGood);
  EXPECT_NE(err_.str().find("fewer than 20 characters"), std::string::npos) << err_.str();
  err_.str("");
  in_.clear();
  ASSERT_EQ(hash("twenty-characters-it\n"), kGood);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandsTest, KeysHashRefusesASecondLine) {
  for (const auto* bad : {"one\ntwo\n", "one\n\ntwo", "one\r\ntwo\r\n"}) {
    in_.clear();
    EXPECT_EQ(hash(bad), kFailed) << bad;
  }
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr("one line"));
  EXPECT_THAT(err_.str(), HasSubstr("more than one"));
}

TEST_F(CommandsTest, KeysHashTakesEmptyLinesBehindTheKey) {
  EXPECT_EQ(hash("own\n\r\n\n"), kGood);
}

TEST_F(CommandsTest, KeysHashDoesNotWaitForMoreOfATerminal) {
  in_.str("own\nwhat is typed later\n");
  EXPECT_EQ(run_keys_hash({}, environment(), {in_, out_, err_, Streams::Input::Typed}), kGood);
}

TEST_F(CommandsTest, KeysHashRefusesWhatNoClientCouldSend) {
  for (const auto* bad : {"", "\n", "two words\n", "tab\tkey\n", "钥匙\n"}) {
    in_.clear();
    EXPECT_EQ(hash(bad), kFailed) << bad;
  }
  in_.clear();
  EXPECT_EQ(hash(std::string(513, 'a')), kFailed);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandsTest, KeysHashSeesThatAKeyIsMistyped) {
  ASSERT_EQ(run_keys_new({}, environment(), streams()), kGood);
  std::string key = printed("key:");
  key[10] = key[10] == 'a' ? 'b' : 'a';
  out_.str("");
  EXPECT_EQ(hash(key), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("mistyped"));
  EXPECT_THAT(err_.str(), Not(HasSubstr(key)));
}

TEST_F(CommandsTest, NamesThatTheConfigurationRefusesAreRefusedHere) {
  KeysNew options;
  options.name = "two words";
  EXPECT_EQ(run_keys_new(options, environment(), streams()), kUsage);
  EXPECT_EQ(out_.str(), "");
}

class CheckTest : public CommandsTest {
 protected:
  ~CheckTest() override { std::filesystem::remove(path_); }
  int check(std::string_view text) {
    std::ofstream(path_, std::ios::binary) << text;
    return run_check({path_}, environment(), streams());
  }
  std::string path_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "queqiao-check-XXXXXX";
    const int fd = mkstemp(name.data());
    EXPECT_GE(fd, 0);
    close(fd);
    return name;
  }();
};

TEST_F(CheckTest, SummarisesAGoodFile) {
  EXPECT_EQ(check("listeners: [{address: \"127.0.0.1:0\"}]\n"
                  "providers: [{name: p, kind: openai, accounts: [{name: a, credential: none}, {name: b, "
                  "credential: none}]}]\n"
                  "models: [{name: m, provider: p}]\n"),
            kGood);
  EXPECT_EQ(out_.str(),
            path_ +
                ": good. 1 listener, 1 provider, 1 model (2 targets), 0 routes, 1 public name, 0 keys\n"
                "note: without keys every request is refused; `queqiao keys new --with-pepper` makes one\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CheckTest, SaysWhichProvidersTheEgressGuardDenies) {
  EXPECT_EQ(
      check(
          "listeners: [{address: \"127.0.0.1:0\"}]\n"
          "providers:\n"
          "  - {name: usual, kind: ollama, accounts: [{name: a, credential: none}]}\n"
          "  - {name: mine, kind: ollama, allow_private_address: true, accounts: [{name: a, credential: "
          "none}]}\n"
          "  - {name: named, kind: openai_compatible, base_url: \"https://localhost:1/v1\", accounts: "
          "[{name: a, "
          "credential: none}, {name: b, credential: none}]}\n"
          "models: [{name: m1, provider: usual}, {name: m2, provider: mine}, {name: m3, provider: named}]\n"),
      kGood);
  EXPECT_THAT(out_.str(), HasSubstr("note: the address of provider usual is private"));
  EXPECT_THAT(out_.str(), HasSubstr("note: the address of provider named is private"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("provider mine")));
}

TEST_F(CheckTest, PrintsEveryMistakeOfABadOne) {
  EXPECT_EQ(check("lisners: []\nworkers: 010\n"), kFailed);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr(path_ + ":1:1: unknown key `lisners`: did you mean `listeners`?\n"));
  EXPECT_THAT(err_.str(), HasSubstr(path_ + ":2:10: workers: expected a whole number without leading zeros"));
  EXPECT_THAT(err_.str(), HasSubstr("5 mistakes\n"));
}

TEST_F(CheckTest, LooksAtTheFilesForTls) {
  EXPECT_EQ(check("listeners: [{address: \"127.0.0.1:0\", tls: {certificate: /none.pem, key: /gone.pem}}]\n"
                  "providers: [{name: p, kind: openai, accounts: [{name: a, credential: none}]}]\n"
                  "models: [{name: m, provider: p}]\n"),
            kFailed);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr(path_ + ": listeners[0].tls.certificate: /none.pem cannot be opened"));
  EXPECT_THAT(err_.str(), HasSubstr(path_ + ": listeners[0].tls.key: /gone.pem cannot be opened"));
  EXPECT_THAT(err_.str(), HasSubstr("2 mistakes\n"));
}

TEST_F(CheckTest, AMissingFileIsAFailure) {
  EXPECT_EQ(run_check({"/nonexistent.yaml"}, environment(), streams()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent.yaml:1:1: cannot be opened"));
}

TEST_F(CommandsTest, SchemaPrintsJsonOrTables) {
  EXPECT_EQ(run_schema({}, streams()), kGood);
  EXPECT_THAT(out_.str(), testing::StartsWith("{\n  \"$schema\""));
  out_.str("");
  SchemaOptions options;
  options.markdown = true;
  EXPECT_EQ(run_schema(options, streams()), kGood);
  EXPECT_THAT(out_.str(), HasSubstr("| key | value | default | meaning |"));
}

TEST_F(CommandsTest, VersionPrintsOneLine) {
  EXPECT_EQ(run_version({}, streams()), kGood);
  EXPECT_TRUE(std::regex_match(out_.str(), std::regex("queqiao \\d+\\.\\d+\\.\\d+\\n"))) << out_.str();
}

}  // namespace
}  // namespace qq::app::cli
