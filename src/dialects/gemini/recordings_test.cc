// Every recorded exchange of Gemini and Vertex, both ways. tests/golden/gemini.summary keeps a hash of what
// each decodes to; QQ_GOLDEN_UPDATE=1 writes it anew.
#include <fakes/gemini.h>
#include <recordings/recordings.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "dialects/gemini/answer_encode.h"
#include "dialects/gemini/schema.h"

namespace qq::dialects::gemini {
namespace {

using recordings::Recording;

#ifdef QQ_SANITIZED
constexpr std::size_t kGeminiStride = 61;
#else
constexpr std::size_t kGeminiStride = 1;
#endif

class GeminiRecordings : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = recordings::folder();
    if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    for (Recording& each : recordings::load_all(*folder, {"gemini", "vertex"})) {
      if (each.kind == "generate") all_.push_back(std::move(each));
    }
    ASSERT_EQ(all_.size(), 34U);
  }
  std::vector<Recording> all_;
};

std::string model_of(const Recording& recording) {
  const std::size_t begin = recording.path.rfind("models/") + 7;
  return recording.path.substr(begin, recording.path.find(':', begin) - begin);
}

bool is_stream(const Recording& recording) {
  return recording.path.find(":stream") != std::string::npos;
}

std::string describe_reply(const Recording& recording) {
  const model::Target to = testing::target(model_of(recording), recording.provider);
  if (!is_stream(recording)) return testing::answer(recording.body);
  const auto whole = qq::testing::decode_however_split(provider_side(), model::Dialect::Gemini, to,
                                                       recording.body, 4096, kGeminiStride);
  return whole.events + qq::testing::describe(whole.answer);
}

TEST_F(GeminiRecordings, DecodeAsTheSummarySaysHoweverSplit) {
  const std::string path = QQ_SOURCE_DIR "/tests/golden/gemini.summary";
  std::string summary =
      "# By hash of the recording's name: hash of what it decodes to. See gemini/recordings_test.cc.\n";
  std::map<std::string, std::string> names;
  const char* const show = std::getenv("QQ_SHOW");
  for (const Recording& recording : all_) {
    const RequestHead head{.path_model = "asked"};
    const std::string text = (recording.request.empty() ? "" : testing::decoded(recording.request, head)) +
                             describe_reply(recording);
    if (show != nullptr) std::printf("==== %s\n%s", recording.name.c_str(), text.c_str());
    const std::string key = recordings::hash(recording.name);
    names[key] = recording.name + "\n" + text;
    summary += key + " " + recordings::hash(text) + "\n";
  }
  if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << summary;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path;
  std::istringstream now(summary);
  for (std::string then_line, now_line; std::getline(now, now_line);) {
    std::getline(in, then_line);
    EXPECT_EQ(now_line, then_line) << names[now_line.substr(0, now_line.find(' '))];
  }
}

// With its members in order, so that schemas can be compared whose words moved.
std::string canonical(wire::JsonValue value) {
  std::string out;
  if (value.is_object()) {
    std::map<std::string, std::string> sorted;
    for (wire::JsonMembers members(value); members.next();) {
      sorted[std::string(members.raw_key())] = canonical(members.value());
    }
    for (const auto& [key, member] : sorted) out += (out.empty() ? "{" : ",") + key + ":" + member;
    return out.empty() ? "{}" : out + "}";
  }
  if (!value.is_array()) return std::string(value.text());
  for (wire::JsonElements each(value); each.next();)
    out += (out.empty() ? "[" : ",") + canonical(each.value());
  return out.empty() ? "[]" : out + "]";
}

// Neighbours of one role become one content, so both are compared as such.
std::string merged(model::ChatRequest request) {
  for (model::Tool& tool : request.tools) {
    if (!tool.schema.empty() && takes_nothing(wire::JsonValue(tool.schema))) tool.schema.clear();
    tool.schema = canonical(wire::JsonValue(tool.schema));
  }
  if (request.output) request.output->schema = canonical(wire::JsonValue(request.output->schema));
  std::vector<model::Turn> turns;
  for (model::Turn& turn : request.turns) {
    if (turns.empty() || turns.back().role != turn.role) {
      turns.push_back(std::move(turn));
    } else {
      std::ranges::move(turn.parts, std::back_inserter(turns.back().parts));
    }
  }
  request.turns = std::move(turns);
  return qq::testing::describe(request);
}

TEST_F(GeminiRecordings, RequestsKeepTheirMeaningThroughBothSides) {
  std::size_t requests = 0;
  for (const Recording& recording : all_) {
    if (recording.request.empty()) continue;
    ++requests;
    const model::ChatRequest request = testing::request_of(recording.request);
    const testing::Encoded once =
        testing::encoded(request, testing::target(model_of(recording), recording.provider));
    // Ids that Vertex does not take are made anew, alike.
    EXPECT_EQ(merged(testing::request_of(once.body)), merged(request)) << recording.name << "\n" << once.body;
    EXPECT_EQ(once.losses, "") << recording.name;
  }
  EXPECT_EQ(requests, 23U);
}

TEST_F(GeminiRecordings, AnswersReachAClientOfTheSameDialectUnchanged) {
  for (const Recording& recording : all_) {
    if (is_stream(recording) || recording.status >= 400) continue;
    const auto answer = provider_side().decode_answer(recording.body, testing::target(), "seed");
    if (!answer) continue;
    model::ChatRequest asked;
    asked.reasoning.emplace().show = true;
    Losses losses;
    const std::string body =
        client_side().encode_answer(*answer, asked, {.model = answer->model, .request_id = "req"}, losses);
    EXPECT_TRUE(losses.empty()) << recording.name;
    const auto again = provider_side().decode_answer(body, testing::target(), "seed");
    ASSERT_TRUE(again) << recording.name << "\n" << body;
    // When it was made has no place.
    model::ChatAnswer before = *answer;
    before.created = 0;
    before.service_tier.clear();
    if (response_id(before.id, {.request_id = "req"}) == "req") before.id = "req";
    EXPECT_EQ(qq::testing::describe(*again), qq::testing::describe(before)) << recording.name << "\n" << body;
  }
}

}  // namespace
}  // namespace qq::dialects::gemini
