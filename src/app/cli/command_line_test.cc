#include "app/cli/command_line.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace qq::app::cli {
namespace {

using testing::HasSubstr;

struct Parsed {
  Command command;
  std::string out;
  std::string err;
};

Parsed parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "queqiao");
  std::ostringstream out;
  std::ostringstream err;
  Command command = parse_command_line(static_cast<int>(words.size()), words.data(), out, err);
  return {std::move(command), out.str(), err.str()};
}

template <typename T>
T options(std::vector<const char*> words) {
  const Parsed result = parsed(std::move(words));
  EXPECT_TRUE(std::holds_alternative<T>(result.command)) << result.err;
  return std::holds_alternative<T>(result.command) ? std::get<T>(result.command) : T{};
}

TEST(CommandLine, ServeTakesAConfiguration) {
  EXPECT_EQ(options<ServeOptions>({"serve", "--config", "a.yaml"}).config, "a.yaml");
  EXPECT_EQ(options<ServeOptions>({"serve", "-c", "a.yaml"}).config, "a.yaml");
  EXPECT_EQ(options<ServeOptions>({"serve", "--config=a.yaml"}).config, "a.yaml");
}

TEST(CommandLine, ServeTakesALogFile) {
  EXPECT_EQ(options<ServeOptions>({"serve", "-c", "a.yaml"}).log, "");
  EXPECT_EQ(options<ServeOptions>({"serve", "-c", "a.yaml", "--log", "a.log"}).log, "a.log");
}

TEST(CommandLine, DemoWorksWithoutOptions) {
  const auto demo = options<DemoOptions>({"demo"});
  EXPECT_EQ(demo.listen, "127.0.0.1:8080");
  EXPECT_FALSE(demo.json);
  EXPECT_EQ(demo.key, "");
}

TEST(CommandLine, DemoTakesAddressKeyAndJson) {
  const auto demo = options<DemoOptions>({"demo", "--listen", "127.0.0.1:0", "--json", "--key", "k"});
  EXPECT_EQ(demo.listen, "127.0.0.1:0");
  EXPECT_TRUE(demo.json);
  EXPECT_EQ(demo.key, "k");
}

TEST(CommandLine, DemoRefusesAKeyThatNoClientCouldSend) {
  const std::string long_key(513, 'a');
  for (const auto* key : {"a b", " ", "\xd0\xba", "a\nb", "a\x7f", long_key.c_str()}) {
    const Parsed result = parsed({"demo", "--key", key});
    ASSERT_TRUE(std::holds_alternative<ExitNow>(result.command)) << key;
    EXPECT_EQ(std::get<ExitNow>(result.command).code, kUsage) << key;
    EXPECT_THAT(result.err, HasSubstr("--key: at most 512 visible ASCII characters without spaces"));
    EXPECT_THAT(result.err, testing::Not(HasSubstr("a b"))) << "a key is a secret";
  }
  // Begins like one of ours, and no checksum fits.
  const Parsed mistyped = parsed({"demo", "--key", "sk-qq_mine"});
  ASSERT_TRUE(std::holds_alternative<ExitNow>(mistyped.command));
  EXPECT_THAT(mistyped.err, HasSubstr("checksum is wrong"));
  EXPECT_EQ(options<DemoOptions>({"demo", "--key", long_key.substr(1).c_str()}).key.size(), 512U);
}

TEST(CommandLine, SimProviderTakesRecordingsAndScenario) {
  const auto sim = options<SimProviderOptions>(
      {"sim-provider", "--listen", "127.0.0.1:9", "--recordings", "r", "--scenario", "s"});
  EXPECT_EQ(sim.listen, "127.0.0.1:9");
  EXPECT_EQ(sim.recordings, "r");
  EXPECT_EQ(sim.scenario, "s");
  EXPECT_FALSE(sim.lenient);
  EXPECT_TRUE(options<SimProviderOptions>({"sim-provider", "--lenient"}).lenient);
}

TEST(CommandLine, KeysNewTakesANameAndAPepper) {
  const auto plain = options<KeysNew>({"keys", "new"});
  EXPECT_EQ(plain.pepper.variable, "QUEQIAO_KEY_PEPPER");
  EXPECT_FALSE(plain.with_pepper);
  EXPECT_EQ(options<KeysNew>({"keys", "new", "--name", "n", "--pepper-env", "P"}).pepper.variable, "P");
  EXPECT_EQ(options<KeysNew>({"keys", "new", "--pepper-file", "f"}).pepper.file, "f");
  EXPECT_TRUE(options<KeysNew>({"keys", "new", "--with-pepper"}).with_pepper);
}

TEST(CommandLine, KeysHashTakesAPepper) {
  const auto hash = options<KeysHash>({"keys", "hash", "--name", "n", "--pepper-file", "f"});
  EXPECT_EQ(hash.name, "n");
  EXPECT_EQ(hash.pepper.file, "f");
}

TEST(CommandLine, CheckSchemaAndVersion) {
  EXPECT_EQ(options<CheckOptions>({"check", "a.yaml"}).config, "a.yaml");
  EXPECT_FALSE(options<SchemaOptions>({"schema"}).markdown);
  EXPECT_TRUE(options<SchemaOptions>({"schema", "--markdown"}).markdown);
  options<VersionOptions>({"version"});
  options<VersionOptions>({"--version"});
}

TEST(CommandLine, HelpIsPrintedWithExamplesAndIsNoFailure) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"--help"},
                                             {"serve", "--help"},
                                             {"demo", "-h"},
                                             {"sim-provider", "--help"},
                                             {"keys", "new", "--help"},
                                             {"keys", "hash", "--help"},
                                             {"check", "--help"},
                                             {"schema", "--help"}}) {
    const Parsed result = parsed(words);
    ASSERT_TRUE(std::holds_alternative<ExitNow>(result.command)) << words[0];
    EXPECT_EQ(std::get<ExitNow>(result.command).code, kGood);
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  ")) << words[0];
    EXPECT_EQ(result.err, "");
  }
}

TEST(CommandLine, WrongUseSaysWhatIsWrongOnStandardError) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{},
                                             {"fly"},
                                             {"serve"},
                                             {"serve", "--config"},
                                             {"serve", "--config", "a", "b"},
                                             {"serve", "--confg", "a"},
                                             {"check"},
                                             {"check", "a", "b"},
                                             {"keys"},
                                             {"keys", "old"},
                                             {"keys", "new", "--with-pepper", "--pepper-env", "P"},
                                             {"keys", "new", "--pepper-file", "f", "--pepper-env", "P"},
                                             {"keys", "hash", "sk-on-the-command-line"},
                                             {"demo", "--json=maybe"},
                                             {"version", "extra"}}) {
    const Parsed result = parsed(words);
    ASSERT_TRUE(std::holds_alternative<ExitNow>(result.command)) << testing::PrintToString(words);
    EXPECT_EQ(std::get<ExitNow>(result.command).code, kUsage) << testing::PrintToString(words);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
}

}  // namespace
}  // namespace qq::app::cli
