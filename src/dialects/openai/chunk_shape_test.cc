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

DeltaFacts facts_of(std::string_view data) {
  const wire::JsonValue document(data);
  return {.content = true,
          .model_value = document.member("model").value_or(wire::JsonValue()),
          .usage_null_value = document.member("usage").value_or(wire::JsonValue())};
}

std::optional<DeltaFacts> matched(ChunkShape& shape, std::string_view data) {
  DeltaFacts found;
  return shape.match(data, found) ? std::optional(found) : std::nullopt;
}

class ChunkShapeTest : public ::testing::Test {
 protected:
  void learn(const std::string& data) {
    learned_ = data;
    shape_.learn_chunk(learned_, {}, false, facts_of(learned_));
  }
  std::string learned_;
  ChunkShape shape_;
};

TEST_F(ChunkShapeTest, MatchesWhatDiffersInItsHolesOnly) {
  learn(chunk(R"({"content":"a"})", R"(,"obfuscation":"xyz")"));
  const std::string next =
      R"({"id":"c","created":18,"model":"m-1","choices":[{"index":0,"delta":{"content":"\"鹊\u6865\n"},)"
      R"("finish_reason":null}],"usage":null,"obfuscation":""})";
  const auto match = matched(shape_, next);
  ASSERT_TRUE(match);
  EXPECT_TRUE(match->content);
  EXPECT_EQ(match->model_value.text(), "\"m-1\"");
  EXPECT_EQ(match->model_value.text().data(), next.data() + next.find("\"m-1\""));
  EXPECT_EQ(match->usage_null_value.text(), "null");
  EXPECT_EQ(match->usage_null_value.text().data(), next.data() + next.find(":null,\"obf") + 1);
}

TEST_F(ChunkShapeTest, WhiteSpaceInAHoleIsNoContent) {
  learn(chunk(R"({"content":"a"})"));
  for (const char* blank : {R"({"content":""})", R"({"content":" \n"})"}) {
    const std::string data = chunk(blank);
    const auto match = matched(shape_, data);
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
  for (const std::string& other : others) EXPECT_FALSE(matched(shape_, other)) << other;
  EXPECT_TRUE(matched(shape_, chunk(R"({"content":"a"})")));
}

TEST_F(ChunkShapeTest, ArgumentsOfACallAreAHoleAndItsNameCounts) {
  learn(chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":"{"}}]})"));
  const std::string none = chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":""}}]})");
  const std::string blank = chunk(R"({"tool_calls":[{"index":0,"id":"","function":{"arguments":" "}}]})");
  ASSERT_TRUE(matched(shape_, none) && matched(shape_, blank));
  EXPECT_FALSE(matched(shape_, none)->content);
  EXPECT_TRUE(matched(shape_, blank)->content);
  const std::string named =
      chunk(R"({"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]})");
  learn(named);
  ASSERT_TRUE(matched(shape_, named));
  EXPECT_TRUE(matched(shape_, named)->content);
}

TEST_F(ChunkShapeTest, TakesNoShapeWhereContentOrFiguresStandOutsideHoles) {
  for (const char* delta :
       {R"({"content":["a"]})", R"({"audio":{"data":"AAAA"}})", R"({"reasoning_details":[{"text":"a"}]})",
        R"({"tool_calls":[{"custom":{"input":"a"}}]})"}) {
    ChunkShape fresh;
    const std::string data = chunk(delta);
    fresh.learn_chunk(data, {}, false, {});
    EXPECT_FALSE(matched(fresh, data)) << delta;
  }
  ChunkShape fresh;
  const std::string with_usage = R"({"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}})";
  fresh.learn_chunk(with_usage, {}, false, {});
  EXPECT_FALSE(matched(fresh, with_usage));
  const std::string two =
      R"({"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]})";
  fresh.learn_chunk(two, {}, false, {});
  EXPECT_FALSE(matched(fresh, two));
}

TEST_F(ChunkShapeTest, GivesUpOnStreamsWhoseEventsNeverLookAlike) {
  for (int i = 0; i < 5; ++i) learn(chunk(R"({"content":"a"})", R"(,"nonce":)" + std::to_string(i)));
  EXPECT_FALSE(matched(shape_, learned_)) << "the fifth was not learned";
}

TEST(ChunkShape, ResponsesDeltasHaveACounterAndPadding) {
  ChunkShape shape;
  const std::string first =
      R"({"type":"response.output_text.delta","sequence_number":9,"item_id":"m","delta":"a","logprobs":[],"obfuscation":"x"})";
  const std::string next =
      R"({"type":"response.output_text.delta","sequence_number":10,"item_id":"m","delta":" b","logprobs":[],"obfuscation":""})";
  shape.learn_delta(first, {}, ChunkShape::HoleKind::Prose);
  ASSERT_TRUE(matched(shape, next));
  EXPECT_TRUE(matched(shape, next)->content);
}

TEST_F(ChunkShapeTest, WithItsFramingItIsFoundInUndecodedBytes) {
  const std::string line = chunk(R"({"content":"a"})", R"(,"obfuscation":"xyz")");
  for (const auto& [before, behind] : {std::pair("data: ", "\n\n"), std::pair("data:", "\r\n\r\n"),
                                       std::pair("event: x\nid: 1\ndata: ", "\n\n")}) {
    const std::string raw = before + line + behind;
    const std::string_view data = std::string_view(raw).substr(std::string_view(before).size(), line.size());
    ChunkShape shape;
    shape.learn_chunk(data, framing_of(raw, data), false, facts_of(data));
    ASSERT_TRUE(shape.framed()) << raw;
    const std::string next = chunk(R"({"content":" bridge"})", R"(,"obfuscation":"")");
    const std::string bytes = before + next + behind + "data: ";
    std::string_view found_data;
    DeltaFacts found;
    EXPECT_EQ(shape.match_framed(bytes, found_data, found), bytes.size() - 6) << raw;
    EXPECT_EQ(found_data, next);
    EXPECT_TRUE(found.content);
    EXPECT_TRUE(shape.match(next, found)) << "nor does the framing stand in the way of its data";
    for (std::size_t size = 0; size < bytes.size() - 6; ++size) {
      EXPECT_EQ(shape.match_framed(bytes.substr(0, size), found_data, found), 0U) << size;
    }
    EXPECT_EQ(shape.match_framed(before + chunk("{\"content\":\"a\nb\"}") + behind, found_data, found), 0U);
    EXPECT_EQ(shape.match_framed("\n" + bytes, found_data, found), 0U);
  }
}

TEST(ChunkShape, FramingThatDependsOnWhatCameBeforeIsNotTaken) {
  const std::string line = chunk(R"({"content":"a"})");
  for (const std::string& raw :
       {"\xef\xbb\xbf" + ("data: " + line) + "\n\n", "\ndata: " + line + "\n\n",
        ": hi\ndata: " + line + "\n\n", "data: " + line + "\r\r", "data: " + line + "\n",
        "data: " + line + "\nid: 1\n\n", "data: " + line + " \n\n"}) {
    const std::string_view data = std::string_view(raw).substr(raw.find('{'), line.size());
    EXPECT_TRUE(framing_of(raw, data).behind.empty()) << raw;
  }
  EXPECT_TRUE(framing_of("data: " + line + "\n\n", line).behind.empty()) << "the data lies elsewhere";
}

TEST(ChunkShape, AnIntegerMayGrow) {
  ChunkShape shape;
  const auto delta = [](std::string_view number) {
    return R"({"type":"response.output_text.delta","sequence_number":)" + std::string(number) +
           R"(,"delta":"a","output_index":1})";
  };
  const std::string first = delta("9");
  shape.learn_delta(first, {}, ChunkShape::HoleKind::Prose);
  for (const char* number : {"9", "8", "10", "11", "0", "12345678901234567890123"}) {
    EXPECT_TRUE(matched(shape, delta(number))) << number;
  }
  for (const char* number : {"", "01", "-1", "1.5", "1e3", "\"9\"", "9 "}) {
    EXPECT_FALSE(matched(shape, delta(number))) << number;
  }
}

// Where the value stands in the event.
std::optional<std::size_t> place_of(wire::JsonValue value, std::string_view data) {
  if (value.text().empty()) return std::nullopt;
  return static_cast<std::size_t>(value.text().data() - data.data());
}

void expect_same(const EventFacts& facts, std::string_view data, const EventFacts& in_full,
                 std::string_view full_data, model::Endpoint endpoint) {
  // Whole items count only while nothing came before: there the two judges rightly differ.
  const bool is_delta =
      endpoint != model::Endpoint::Responses || data.find(".delta\"") != std::string_view::npos;
  if (is_delta) {
    ASSERT_EQ(facts.content, in_full.content);
  }
  ASSERT_EQ(data, full_data);
  ASSERT_EQ(facts.done_marker, in_full.done_marker);
  ASSERT_EQ(facts.terminal, in_full.terminal);
  ASSERT_EQ(facts.usage_only, in_full.usage_only);
  ASSERT_EQ(facts.keep_alive, in_full.keep_alive);
  // A delta has no model of its own; a whole response has.
  ASSERT_EQ(facts.model_value.text(), in_full.model_value.text());
  ASSERT_EQ(place_of(facts.model_value, data), place_of(in_full.model_value, full_data));
  ASSERT_EQ(place_of(facts.usage_null_value, data), place_of(in_full.usage_null_value, full_data));
}

// The shape must never say anything else than a full reading: every event of every stream at hand, by a judge
// that remembers shapes, by one that passes over what it knows undecoded, and by a new one for each event.
void expect_same_facts(std::string_view body, model::Endpoint endpoint, const std::string& name) {
  const model::Target target;
  StreamJudge judge(endpoint, target);
  StreamJudge passing(endpoint, target);
  wire::SseDecoder decoder;
  wire::SseDecoder passing_decoder;
  std::size_t consumed = 0;
  std::size_t passed = 0;
  for (wire::SseEvent event; decoder.next(body, consumed, event);) {
    SCOPED_TRACE(name + ": " + std::string(event.data));
    StreamJudge fresh(endpoint, target);
    const EventFacts in_full = fresh.judge(event);
    expect_same(judge.judge(event), event.data, in_full, event.data, endpoint);

    wire::SseEvent same;
    EventFacts facts;
    const std::size_t begin = passed;
    const std::size_t size = body.size() <= passing_decoder.may_pass()
                                 ? passing.judge_alike(body.substr(begin), same.data, facts)
                                 : 0;
    if (size > 0) {
      passed += size;
    } else {
      ASSERT_TRUE(passing_decoder.next(body, passed, same));
      facts = passing.judge(same, body.substr(begin, same.end - begin));
    }
    ASSERT_EQ(passed, consumed);
    expect_same(facts, same.data, in_full, event.data, endpoint);
  }
  EXPECT_EQ(passing.content_seen(), judge.content_seen());
  EXPECT_EQ(passing.ended(), judge.ended());
  EXPECT_EQ(passing.usage(), judge.usage());
  EXPECT_EQ(passing.finish_reason(), judge.finish_reason());
}

// One byte changed, added or taken out, anywhere. `bytes`: what may come in.
std::string with_one_byte_off(std::string text, std::string_view bytes, Random& random) {
  const std::size_t at = random.below(text.size());
  const char byte = bytes[random.below(bytes.size())];
  switch (random.below(3)) {
    case 0: text[at] = byte; break;
    case 1: text.insert(at, 1, byte); break;
    default: text.erase(at, 1); break;
  }
  return text;
}

TEST(ChunkShape, NeverMatchesWhatAFullReadingSeesOtherwise) {
  const std::vector<std::string> seeds = {
      chunk(R"({"content":"Hi \"鹊\u6865\""})", R"(,"obfuscation":"xy")"),
      chunk(R"({"role":"assistant","content":"","reasoning_content":"Hm"})"),
      chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]})"),
  };
  constexpr std::string_view kBytes = "\"\\{}[],: 019aeu\n\x01\xff\xe9";
  const model::Target target;
  Random random(7);
  int matches = 0;
  for (int round = 0; round < 60'000; ++round) {
    const std::string& seed = seeds[random.below(seeds.size())];
    const std::string mutated = with_one_byte_off(seed, kBytes, random);
    ChunkShape shape;
    shape.learn_chunk(seed, {}, false, facts_of(seed));
    const auto match = matched(shape, mutated);
    if (!match) continue;
    ++matches;
    ASSERT_FALSE(wire::check_json(mutated)) << mutated;
    StreamJudge fresh(model::Endpoint::ChatCompletions, target);
    wire::SseEvent event;
    event.data = mutated;
    event.has_data = true;
    const EventFacts in_full = fresh.judge(event);
    ASSERT_EQ(match->content, in_full.content) << mutated;
    ASSERT_EQ(match->model_value.text().data(), in_full.model_value.text().data()) << mutated;
    ASSERT_EQ(match->usage_null_value.text().data(), in_full.usage_null_value.text().data()) << mutated;
    ASSERT_FALSE(in_full.terminal || in_full.error || in_full.usage_only || in_full.keep_alive) << mutated;
  }
  EXPECT_GT(matches, 1000) << "or nothing was tried";
}

// The same of the bytes on the wire, against the decoder.
TEST(ChunkShape, NeverPassesOverWhatTheDecoderReadsOtherwise) {
  constexpr std::string_view kBytes = "\"\\{}[],: 019adev\n\r\x01\xff";
  const std::vector<std::string> seeds = {
      "data: " + chunk(R"({"content":"Hi \"\u6865\""})", R"(,"obfuscation":"xy")") + "\n\n",
      "event: x\r\ndata:" + chunk(R"({"content":"Hi"})") + "\r\n\r\n",
  };
  Random random(11);
  int matches = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string& seed = seeds[random.below(seeds.size())];
    const std::string_view learned =
        std::string_view(seed).substr(seed.find('{'), seed.rfind('}') + 1 - seed.find('{'));
    ChunkShape shape;
    shape.learn_chunk(learned, framing_of(seed, learned), false, facts_of(learned));
    const std::string mutated = with_one_byte_off(seed + "data: b\n\n", kBytes, random);
    std::string_view data;
    DeltaFacts found;
    const std::size_t size = shape.match_framed(mutated, data, found);
    if (size == 0) continue;
    ++matches;
    wire::SseDecoder decoder;
    wire::SseEvent event;
    std::size_t consumed = 0;
    ASSERT_FALSE(decoder.next(": begun\n\n", consumed, event));
    ASSERT_GT(decoder.may_pass(), mutated.size());
    consumed = 0;
    ASSERT_TRUE(decoder.next(mutated, consumed, event)) << mutated;
    ASSERT_EQ(consumed, size) << mutated;
    ASSERT_EQ(event.data, data) << mutated;
    ASSERT_FALSE(wire::check_json(data)) << mutated;
    ASSERT_TRUE(decoder.at_border());
  }
  EXPECT_GT(matches, 1000) << "or nothing was tried";
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
