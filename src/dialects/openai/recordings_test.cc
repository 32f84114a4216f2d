// Every recorded exchange of the OpenAI dialects through decoder and judge: the same however the bytes are
// split, and as tests/golden/recordings.summary says. QQ_GOLDEN_UPDATE=1 writes the summary anew.
#include <recordings/dialects.h>
#include <recordings/fixture.h>
#include <recordings/summary.h>

#include "dialects/openai/answer.h"
#include "dialects/openai/replay.h"

namespace qq::dialects::openai {
namespace {

using recordings::Recording;

constexpr std::size_t kSplitMax = 4096;

model::Target target_of(const Recording& recording) {
  model::Target target;
  target.upstream_model = "what-the-provider-calls-it";
  target.quirks.reasoning_excluded_from_output = recording.provider == "xai";
  return target;
}

// Both edits at once, so that what is forwarded is compared too.
constexpr EventRules kRules{.usage_forced = true, .rename_model = "what-the-client-asked-for"};

class Recordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    load(recordings::kOpenaiExchanges,
         [](const Recording& each) { return recordings::openai_endpoint(each).has_value(); });
    for (Recording& each : all_) each.endpoint = *recordings::openai_endpoint(each);
  }
};

TEST_F(Recordings, StreamsAreTheSameWholeAndByteByByte) {
  std::size_t streams = 0;
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    ++streams;
    const model::Target target = target_of(recording);
    const auto whole = testing::replay(recording.body, {}, recording.endpoint, target, kRules);
    std::vector<std::size_t> every;
    for (std::size_t cut = 1; cut < recording.body.size(); ++cut) every.push_back(cut);
    const auto bytewise = testing::replay(recording.body, every, recording.endpoint, target, kRules);
    EXPECT_EQ(whole.events, bytewise.events) << recording.name;
    EXPECT_EQ(whole.forwarded, bytewise.forwarded) << recording.name;
    EXPECT_EQ(whole.end, bytewise.end) << recording.name;
  }
  EXPECT_GT(streams, 60U);
}

TEST_F(Recordings, StreamsAreTheSameSplitAnywhereInTheirFirst4KiB) {
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    const model::Target target = target_of(recording);
    // Up to the end of the event that holds byte 4,096: from there on nothing remembers the split.
    const std::size_t border = recording.body.find("\n\n", std::min(kSplitMax, recording.body.size()));
    const std::string_view body =
        std::string_view(recording.body).substr(0, border == std::string::npos ? border : border + 2);
    const auto whole = testing::replay(body, {}, recording.endpoint, target, kRules);
    for (std::size_t cut = 1; cut < std::min(kSplitMax, body.size()); cut += recordings::kSplitStride) {
      const auto split = testing::replay(body, {cut}, recording.endpoint, target, kRules);
      ASSERT_EQ(whole.events, split.events) << recording.name << " split at " << cut;
      ASSERT_EQ(whole.forwarded, split.forwarded) << recording.name << " split at " << cut;
      ASSERT_EQ(whole.end, split.end) << recording.name << " split at " << cut;
    }
  }
}

TEST_F(Recordings, StreamsPassByteForByteWhenNothingIsToBePutBack) {
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    const auto whole = testing::replay(recording.body, {}, recording.endpoint, target_of(recording), {});
    EXPECT_EQ(whole.forwarded, recordings::without_indents(recording.body)) << recording.name;
  }
}

std::string summarise_stream(const Recording& recording) {
  const auto whole = testing::replay(recording.body, {}, recording.endpoint, target_of(recording), {});
  std::size_t content = 0;
  std::size_t errors = 0;
  std::string first = "-";
  for (std::size_t i = 0; i < whole.events.size(); ++i) {
    if (whole.events[i].find("error(") != std::string::npos) ++errors;
    if (!whole.events[i].starts_with("content")) continue;
    if (content++ == 0) first = std::to_string(i + 1);
  }
  std::string end = whole.end;
  std::ranges::replace(end, '\n', ';');
  return "stream events=" + std::to_string(whole.events.size()) + " content=" + std::to_string(content) +
         " first=" + first + " errors=" + std::to_string(errors) + "; " + end;
}

std::string summarise_answer(const Recording& recording) {
  const AnswerFacts facts = judge_answer(recording.endpoint, recording.body, target_of(recording));
  return "answer " + std::string(facts.fault ? to_string(*facts.fault) : "good") +
         "; finish: " + facts.finish_reason + "; usage: " + testing::describe(facts.usage) + ";" +
         (facts.model_value.is_string() ? "" : " no model");
}

TEST_F(Recordings, AreJudgedAsTheSummarySays) {
  recordings::Summary summary(
      QQ_SOURCE_DIR "/tests/golden/recordings.summary",
      "Recorded exchanges by hash of their name: what the judge makes of each. See recordings_test.cc.");
  for (const Recording& recording : all_) {
    if (recording.status >= 400) continue;
    summary.add(recording, recording.stream ? summarise_stream(recording) : summarise_answer(recording));
  }
  summary.compare();
}

TEST_F(Recordings, GoodAnswersAreNeverFaults) {
  // What the recordings hold that is rightly no answer: nothing among the whole ones.
  for (const Recording& recording : all_) {
    if (recording.status >= 400 || recording.stream) continue;
    const AnswerFacts facts = judge_answer(recording.endpoint, recording.body, target_of(recording));
    EXPECT_FALSE(facts.fault) << recording.name << ": " << facts.fault_message;
    EXPECT_EQ(facts.usage.source, model::UsageSource::Provider) << recording.name;
  }
}

}  // namespace
}  // namespace qq::dialects::openai
