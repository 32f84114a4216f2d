#include "dialects/openai/chunk_shape.h"

#include <recordings/recordings.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "dialects/openai/stream.h"

namespace qq::dialects::openai {
namespace {

std::string chunk(std::string_view delta, std::string_view more = "") {
  return R"({"id":"c","created":17,"model":"m-1","choices":[{"index":0,"delta":)" + std::string(delta) +
         R"(,"finish_reason":null}],"usage":null)" + std::string(more) + "}";
}

class ChunkShapeTest : public ::testing::Test {
 protected:
  void learn(const std::string& data) {
    learned_ = data;
    const wire::JsonValue document(learned_);
    shape_.learn_chunk(learned_, false, *document.member("model"), *document.member("usage"));
  }
  std::string learned_;
  ChunkShape shape_;
};

TEST_F(ChunkShapeTest, MatchesWhatDiffersInItsHolesOnly) {
  learn(chunk(R"({"content":"a"})", R"(,"obfuscation":"xyz")"));
  const std::string next =
      R"({"id":"c","created":18,"model":"m-1","choices":[{"index":0,"delta":{"content":"\"鹊\u6865\n"},)"
      R"("finish_reason":null}],"usage":null,"obfuscation":""})";
  const auto match = shape_.match(next);
  ASSERT_TRUE(match);
  EXPECT_TRUE(match->content);
  EXPECT_EQ(match->model.text(), "\"m-1\"");
  EXPECT_EQ(match->model.text().data(), next.data() + next.find("\"m-1\""));
  EXPECT_EQ(match->usage_null.text(), "null");
  EXPECT_EQ(match->usage_null.text().data(), next.data() + next.find(":null,\"obf") + 1);
}

TEST_F(ChunkShapeTest, WhiteSpaceInAHoleIsNoContent) {
  learn(chunk(R"({"content":"a"})"));
  for (const char* blank : {R"({"content":""})", R"({"content":" \n"})"}) {
    const std::string data = chunk(blank);
    const auto match = shape_.match(data);
    ASSERT_TRUE(match) << blank;
    EXPECT_FALSE(match->content) << blank;
  }
}

TEST_F(ChunkShapeTest, DoesNotMatchWhatIsNotJsonOrNotTheSame) {
  learn(chunk(R"({"content":"a"})"));
  const std::vector<std::string> others = {
      chunk(R"({"content":"a"},"x":{"y":1})"),
      chunk(R"({"content":"a","refusal":"b"})"),
      chunk(R"({"content":null})"),
      chunk(R"({"content":["a"]})"),
      chunk("{\"content\":\"a\nb\"}"),
      chunk(R"({"content":"\x"})"),
      chunk(R"({"content":"\u12"})"),
      chunk("{\"content\":\"\xff\"}"),
      chunk("{\"content\":\"\xe9\xb5\"}"),
      chunk(R"({"content":"a"})") + " ",
      chunk(R"({"content":"a"})").substr(0, 40),
      chunk(R"({"content":"a)"),
      R"({"id":"c","created":007,"model":"m-1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null})",
      R"({"id":"c","created":,"model":"m-1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null})",
      R"({"id":"c","created":17,"model":"m-1","choices":[{"index":1,"delta":{"content":"a"},"finish_reason":null}],"usage":null})",
      R"({"id":"c","created":17,"model":"m-1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null})",
      R"({"id":"c","created":17,"model":"m-2","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null})",
      "",
      "{",
  };
  for (const std::string& other : others) EXPECT_FALSE(shape_.match(other)) << other;
  EXPECT_TRUE(shape_.match(chunk(R"({"content":"a"})")));
}

TEST_F(ChunkShapeTest, ArgumentsOfACallAreAHoleAndItsNameCounts) {
  learn(chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":"{"}}]})"));
  const std::string none = chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":""}}]})");
  const std::string blank = chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":" "}}]})");
  ASSERT_TRUE(shape_.match(none) && shape_.match(blank));
  EXPECT_FALSE(shape_.match(none)->content);
  EXPECT_TRUE(shape_.match(blank)->content);
  const std::string named =
      chunk(R"({"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]})");
  learn(named);
  ASSERT_TRUE(shape_.match(named));
  EXPECT_TRUE(shape_.match(named)->content);
}

TEST_F(ChunkShapeTest, TakesNoShapeWhereContentOrFiguresStandOutsideHoles) {
  for (const char* delta :
       {R"({"content":["a"]})", R"({"audio":{"data":"AAAA"}})", R"({"reasoning_details":[{"text":"a"}]})",
        R"({"tool_calls":[{"custom":{"input":"a"}}]})"}) {
    ChunkShape fresh;
    const std::string data = chunk(delta);
    fresh.learn_chunk(data, false, {}, {});
    EXPECT_FALSE(fresh.match(data)) << delta;
  }
  ChunkShape fresh;
  const std::string with_usage = R"({"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}})";
  fresh.learn_chunk(with_usage, false, {}, {});
  EXPECT_FALSE(fresh.match(with_usage));
  const std::string two =
      R"({"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]})";
  fresh.learn_chunk(two, false, {}, {});
  EXPECT_FALSE(fresh.match(two));
}

TEST_F(ChunkShapeTest, GivesUpOnStreamsWhoseEventsNeverLookAlike) {
  for (int i = 0; i < 5; ++i) learn(chunk(R"({"content":"a"})", R"(,"nonce":)" + std::to_string(i)));
  EXPECT_FALSE(shape_.match(learned_)) << "the fifth was not learned";
}

TEST(ChunkShape, ResponsesDeltasHaveACounterAndPadding) {
  ChunkShape shape;
  const std::string first =
      R"({"type":"response.output_text.delta","sequence_number":9,"item_id":"m","delta":"a","logprobs":[],"obfuscation":"x"})";
  const std::string next =
      R"({"type":"response.output_text.delta","sequence_number":10,"item_id":"m","delta":" b","logprobs":[],"obfuscation":""})";
  shape.learn_delta(first, ChunkShape::HoleKind::Prose);
  ASSERT_TRUE(shape.match(next));
  EXPECT_TRUE(shape.match(next)->content);
}

// The shape must never say anything else than a full reading: every event of every stream at hand, by a judge
// that remembers shapes and by a new one for each event.
void expect_same_facts(std::string_view body, model::Endpoint endpoint, const std::string& name) {
  const model::Target target;
  StreamJudge judge(endpoint, target);
  wire::SseDecoder decoder;
  std::size_t consumed = 0;
  for (wire::SseEvent event; decoder.next(body, consumed, event);) {
    StreamJudge fresh(endpoint, target);
    const EventFacts by_shape = judge.judge(event);
    const EventFacts in_full = fresh.judge(event);
    // Whole items count only while nothing came before: there the two judges rightly differ.
    const bool is_delta =
        endpoint != model::Endpoint::Responses || event.data.find(".delta\"") != std::string_view::npos;
    if (is_delta) {
      ASSERT_EQ(by_shape.content, in_full.content) << name << ": " << event.data;
    }
    ASSERT_EQ(by_shape.terminal, in_full.terminal) << name << ": " << event.data;
    ASSERT_EQ(by_shape.usage_only, in_full.usage_only) << name << ": " << event.data;
    ASSERT_EQ(by_shape.keep_alive, in_full.keep_alive) << name << ": " << event.data;
    // A delta has no model of its own; a whole response has.
    ASSERT_EQ(by_shape.model_value.text().data(), in_full.model_value.text().data())
        << name << ": " << event.data;
    ASSERT_EQ(by_shape.model_value.text(), in_full.model_value.text()) << name << ": " << event.data;
    ASSERT_EQ(by_shape.usage_null_value.text().data(), in_full.usage_null_value.text().data()) << name;
  }
}

// One byte changed, added or taken out, anywhere, many times over.
TEST(ChunkShape, NeverMatchesWhatAFullReadingSeesOtherwise) {
  const std::vector<std::string> seeds = {
      chunk(R"({"content":"Hi \"鹊\u6865\""})", R"(,"obfuscation":"xy")"),
      chunk(R"({"role":"assistant","content":"","reasoning_content":"Hm"})"),
      chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]})"),
  };
  constexpr std::string_view kBytes = "\"\\{}[],: 019aeu\n\x01\xff\xe9";
  const model::Target target;
  Random random(7);
  int matched = 0;
  for (int round = 0; round < 60'000; ++round) {
    const std::string& seed = seeds[random.below(seeds.size())];
    std::string mutated = seed;
    const std::size_t at = random.below(mutated.size());
    const char byte = kBytes[random.below(kBytes.size())];
    switch (random.below(3)) {
      case 0: mutated[at] = byte; break;
      case 1: mutated.insert(at, 1, byte); break;
      default: mutated.erase(at, 1); break;
    }
    ChunkShape shape;
    const wire::JsonValue document(seed);
    shape.learn_chunk(seed, false, *document.member("model"), *document.member("usage"));
    const auto match = shape.match(mutated);
    if (!match) continue;
    ++matched;
    ASSERT_FALSE(wire::check_json(mutated)) << mutated;
    StreamJudge fresh(model::Endpoint::ChatCompletions, target);
    wire::SseEvent event;
    event.data = mutated;
    event.has_data = true;
    const EventFacts in_full = fresh.judge(event);
    ASSERT_EQ(match->content, in_full.content) << mutated;
    ASSERT_EQ(match->model.text().data(), in_full.model_value.text().data()) << mutated;
    ASSERT_EQ(match->usage_null.text().data(), in_full.usage_null_value.text().data()) << mutated;
    ASSERT_FALSE(in_full.terminal || in_full.error || in_full.usage_only || in_full.keep_alive) << mutated;
  }
  EXPECT_GT(matched, 1000) << "or nothing was tried";
}

TEST(ChunkShape, SaysWhatAFullReadingSaysOfEveryFixture) {
  for (const auto& entry : std::filesystem::directory_iterator(QQ_SOURCE_DIR "/tests/golden/openai")) {
    if (entry.path().extension() != ".sse") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    const std::string name = entry.path().stem().string();
    const bool is_responses = name.starts_with("responses");
    const bool is_completions = name.starts_with("completions");
    if (name.starts_with("images")) continue;
    expect_same_facts(bytes.str(),
                      is_responses     ? model::Endpoint::Responses
                      : is_completions ? model::Endpoint::Completions
                                       : model::Endpoint::ChatCompletions,
                      name);
  }
}

TEST(ChunkShape, SaysWhatAFullReadingSaysOfEveryRecording) {
  const auto folder = recordings::folder();
  if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
  for (const auto& recording : recordings::load_openai(*folder)) {
    if (recording.stream && recording.status < 400)
      expect_same_facts(recording.body, recording.endpoint, recording.name);
  }
}

}  // namespace
}  // namespace qq::dialects::openai
