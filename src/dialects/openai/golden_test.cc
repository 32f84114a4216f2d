// One hand-written fixture per habit of a provider, in tests/golden/openai: `<case>.sse` or `<case>.json` is
// what the provider sends, `<case>.expect` what we make of it: a comment, settings, a line `---`, the
// verdict. QQ_GOLDEN_UPDATE=1 in the environment writes the verdicts anew; review the difference.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "dialects/openai/answer.h"
#include "dialects/openai/replay.h"

namespace qq::dialects::openai {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

struct Case {
  fs::path input;
  std::string settings;  // up to and with the line `---`
  std::string verdict;
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  model::Target target;
  std::string asked;
  bool usage_forced = false;
};

model::Endpoint endpoint_named(std::string_view name) {
  for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
    const auto endpoint = static_cast<model::Endpoint>(i);
    if (model::to_string(endpoint) == name) return endpoint;
  }
  ADD_FAILURE() << "no endpoint is called " << name;
  return model::Endpoint::ChatCompletions;
}

Case load(const fs::path& expect, const fs::path& input) {
  Case loaded;
  loaded.input = input;
  const std::string text = read_file(expect);
  const std::size_t split = text.find("---\n");
  EXPECT_NE(split, std::string::npos) << expect;
  loaded.settings = text.substr(0, split + 4);
  loaded.verdict = text.substr(split + 4);
  std::istringstream lines(loaded.settings);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    const std::string key = line.substr(0, colon);
    const std::string value = line.substr(colon + 2);
    if (key == "endpoint") {
      loaded.endpoint = endpoint_named(value);
    } else if (key == "asked") {
      loaded.asked = value;
    } else if (key == "upstream") {
      loaded.target.upstream_model = value;
    } else if (key == "forced") {
      loaded.usage_forced = value == "yes";
    } else if (key == "reasoning_excluded") {
      loaded.target.quirks.reasoning_excluded_from_output = value == "yes";
    } else {
      ADD_FAILURE() << expect << ": unknown setting " << key;
    }
  }
  return loaded;
}

EventRules rules_of(const Case& loaded) {
  return {loaded.usage_forced, name_to_restore(loaded.asked, loaded.target)};
}

std::string verdict_of_stream(const Case& loaded, std::string_view body) {
  const auto whole = testing::replay(body, {}, loaded.endpoint, loaded.target, rules_of(loaded));
  std::string verdict;
  for (std::size_t i = 0; i < whole.events.size(); ++i) {
    verdict += std::to_string(i + 1) + " " + whole.events[i] + "\n";
  }
  return verdict + whole.end;
}

std::string verdict_of_answer(const Case& loaded, std::string_view body) {
  const AnswerFacts facts = judge_answer(loaded.endpoint, body, loaded.target);
  std::string verdict = "fault: ";
  verdict += facts.fault ? std::string(to_string(*facts.fault)) + ": " + facts.fault_message : "none";
  if (facts.error) verdict += " (type=" + facts.error->type + ", code=" + facts.error->code + ")";
  verdict += "\nfinish: " + facts.finish_reason + "\nusage: " + testing::describe(facts.usage) + "\n";
  AnswerBody out;
  edit_answer(facts, body, name_to_restore(loaded.asked, loaded.target), out);
  std::string forwarded;
  for (const std::string_view piece : out.pieces) forwarded += piece;
  EXPECT_EQ(forwarded.size(), out.bytes);
  verdict += forwarded == body ? "forwarded: as it is\n" : "forwarded: " + forwarded + "\n";
  return verdict;
}

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  static fs::path folder() { return fs::path(QQ_SOURCE_DIR) / "tests/golden/openai"; }
};

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(QQ_SOURCE_DIR) / "tests/golden/openai")) {
    if (entry.path().extension() == ".expect") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST_P(Golden, IsJudgedAsWrittenDown) {
  const fs::path expect = folder() / (GetParam() + ".expect");
  const bool is_stream = fs::exists(folder() / (GetParam() + ".sse"));
  const Case loaded = load(expect, folder() / (GetParam() + (is_stream ? ".sse" : ".json")));
  const std::string body = read_file(loaded.input);
  const std::string verdict = is_stream ? verdict_of_stream(loaded, body) : verdict_of_answer(loaded, body);
  if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(expect, std::ios::binary) << loaded.settings << verdict;
    return;
  }
  EXPECT_EQ(verdict, loaded.verdict) << loaded.settings;
}

TEST_P(Golden, IsTheSameHoweverTheBytesAreSplit) {
  const fs::path input = folder() / (GetParam() + ".sse");
  if (!fs::exists(input)) return;  // a whole answer comes in one piece
  const Case loaded = load(folder() / (GetParam() + ".expect"), input);
  const std::string body = read_file(input);
  const auto whole = testing::replay(body, {}, loaded.endpoint, loaded.target, rules_of(loaded));
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < body.size(); ++cut) {
    every.push_back(cut);
    const auto split = testing::replay(body, {cut}, loaded.endpoint, loaded.target, rules_of(loaded));
    ASSERT_EQ(split.events, whole.events) << "split at " << cut;
    ASSERT_EQ(split.forwarded, whole.forwarded) << "split at " << cut;
    ASSERT_EQ(split.end, whole.end) << "split at " << cut;
  }
  const auto bytewise = testing::replay(body, every, loaded.endpoint, loaded.target, rules_of(loaded));
  EXPECT_EQ(bytewise.events, whole.events);
  EXPECT_EQ(bytewise.forwarded, whole.forwarded);
  EXPECT_EQ(bytewise.end, whole.end);
}

INSTANTIATE_TEST_SUITE_P(Openai, Golden, ::testing::ValuesIn(case_names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace qq::dialects::openai
