// Every recorded exchange of each dialect (tests/recordings/dialects.h): requests mean the same after another
// round, answers and streams decode the same however they are split, keep the grammar, come out as they went
// in, and are what tests/golden/<dialect>.summary says.
#include <fakes/canonical_json.h>
#include <fakes/neutral.h>
#include <recordings/dialects.h>
#include <recordings/fixture.h>
#include <recordings/summary.h>

#include "dialects/gemini/answer_encode.h"
#include "dialects/gemini/schema.h"

namespace qq::dialects {
namespace recorded_dialects {

using model::Dialect;
using recordings::Recording;

class DialectRecordings : public recordings::RecordingsTest,
                          public ::testing::WithParamInterface<recordings::Recorded> {
 protected:
  void SetUp() override { load(GetParam().exchanges, GetParam().speaks); }
  [[nodiscard]] static Dialect dialect() { return GetParam().dialect; }
  [[nodiscard]] static const ProviderDialect& provider() { return *provider_dialect(dialect()); }
  [[nodiscard]] static const ClientDialect* client() { return client_dialect(dialect()); }
  [[nodiscard]] static testing::DecodedStream decode(const Recording& recording, std::string_view body) {
    return testing::decode_stream(provider(), dialect(), GetParam().target(recording), body);
  }
};

INSTANTIATE_TEST_SUITE_P(All, DialectRecordings, ::testing::ValuesIn(recordings::kRecorded),
                         [](const auto& info) { return std::string(to_string(info.param.dialect)); });

TEST_P(DialectRecordings, DecodeAsTheSummarySaysHoweverSplit) {
  recordings::Summary summary(QQ_SOURCE_DIR "/tests/golden/" + std::string(to_string(dialect())) + ".summary",
                              "Recorded exchanges by hash of their name: the hash of what they decode to. "
                              "See dialects/recordings_test.cc.");
  for (const Recording& recording : all_) {
    SCOPED_TRACE(recording.name);
    const model::Target target = GetParam().target(recording);
    std::string text;
    if (client() != nullptr && recordings::has_request(recording)) {
      const auto request = recordings::decode_request(dialect(), recording);
      text += request ? testing::describe(*request) : "refused: " + request.error().message + "\n";
    }
    if (recordings::is_stream(recording)) {
      const auto stream = testing::decode_however_split(provider(), dialect(), target, recording.body, 4096,
                                                        recordings::kSplitStride);
      EXPECT_TRUE(stream.ended || stream.error);
      text += stream.events + testing::describe(stream.answer);
    } else if (recording.kind != "count_tokens") {
      const auto answer = provider().decode_answer(recording.body, target, "seed");
      text += answer ? testing::describe(*answer)
                     : std::string(to_string(answer.error().kind)) + " " + answer.error().message + "\n";
    }
    summary.add_hash(recording, text);
  }
  summary.compare();
}

// A target that takes everything the dialect can say.
model::Target generous(Dialect dialect, const Recording& recording, const std::string& model) {
  model::Target target;
  using Chat = model::ChatQuirks;
  target.quirks.force_include_usage = false;
  target.quirks.chat.thinking = Chat::Thinking::Object;
  target.quirks.chat.thoughts = Chat::Thoughts::Details;
  target.quirks.chat.openai_words = true;
  target.quirks.chat.takes_top_k = true;
  target.quirks.chat.takes_cache_control = true;
  target.kind = recording.provider;
  target.upstream_model = model;
  if (dialect == Dialect::Gemini)
    target.upstream_model = recordings::recorded::gemini_target(recording).upstream_model;
  return target;
}

// What may differ although it means the same: Gemini's neighbours of one role become one content and words of
// its schemas move; Bedrock's last two user turns are joined; items of responses lose their ids.
std::string meaning(Dialect dialect, model::ChatRequest request) {
  if (dialect == Dialect::Gemini || dialect == Dialect::Anthropic) {
    std::vector<model::Turn> turns;
    for (model::Turn& turn : request.turns) {
      if (turns.empty() || turns.back().role != turn.role) {
        turns.push_back(std::move(turn));
      } else {
        std::ranges::move(turn.parts, std::back_inserter(turns.back().parts));
      }
    }
    request.turns = std::move(turns);
  }
  if (dialect == Dialect::Gemini) {
    for (model::Tool& tool : request.tools) {
      if (!tool.schema.empty() && gemini::takes_nothing(wire::JsonValue(tool.schema))) tool.schema.clear();
      tool.schema = testing::canonical_json(wire::JsonValue(tool.schema));
    }
    if (request.output)
      request.output->schema = testing::canonical_json(wire::JsonValue(request.output->schema));
  }
  std::string described = testing::describe(request);
  if (dialect == Dialect::OpenAiResponses) return testing::without_item_ids(std::move(described));
  return described;
}

TEST_P(DialectRecordings, RequestsMeanTheSameAfterAnotherRound) {
  if (client() == nullptr) GTEST_SKIP() << "no client speaks it";
  std::size_t count = 0;
  for (const Recording& recording : all_) {
    if (!recordings::has_request(recording) || recording.kind == "count_tokens") continue;
    SCOPED_TRACE(recording.name);
    const auto request = recordings::decode_request(dialect(), recording);
    if (!request && recording.status == 400) continue;  // its provider refused it as well
    ASSERT_TRUE(request) << request.error().param << ": " << request.error().message;
    ++count;
    Losses losses;
    const auto encoded =
        provider().encode_request(*request, generous(dialect(), recording, request->model), losses);
    ASSERT_TRUE(encoded) << encoded.error().message;
    EXPECT_TRUE(losses.empty()) << losses.front().field;
    ASSERT_FALSE(wire::check_json(encoded->body)) << encoded->body;
    const auto again = client()->decode_request(encoded->body, {.path_model = "asked"});
    ASSERT_TRUE(again) << again.error().message << "\n" << encoded->body;
    EXPECT_EQ(meaning(dialect(), *again), meaning(dialect(), *request)) << encoded->body;
  }
  EXPECT_GT(count, 20U);
}

// What a client of the same dialect is not told: when an answer was made (Gemini), and which id and model it
// has. Chat has many words for one thing; what its answers mean is compared by tests/translation.
std::string told(Dialect dialect, model::ChatAnswer answer) {
  answer.id = answer.model = {};
  answer.created = 0;
  answer.service_tier.clear();
  std::ranges::sort(answer.extra, {}, &model::ExtraField::key);
  if (dialect == Dialect::OpenAiResponses) {
    answer.extra.clear();
    // One imitator says "complete" where OpenAI says "completed".
    for (model::Choice& choice : answer.choices) {
      if (choice.finish_word == "complete") choice.finish_word = "completed";
    }
  }
  return testing::describe(answer);
}

// Who hears thoughts as they are: Gemini's clients have to ask for them, and those of OpenAI's responses that
// ask get them as a summary.
model::ChatRequest who_asked(Dialect dialect) {
  model::ChatRequest asked;
  asked.dialect = dialect;
  asked.reasoning.emplace().show = dialect != Dialect::OpenAiResponses;
  return asked;
}

TEST_P(DialectRecordings, AnswersComeOutAsTheyWentIn) {
  if (client() == nullptr || dialect() == Dialect::OpenAiChat) GTEST_SKIP() << "see tests/translation";
  const model::ChatRequest asked = who_asked(dialect());
  for (const Recording& recording : all_) {
    if (!recordings::is_answer(recording)) continue;
    SCOPED_TRACE(recording.name);
    const model::Target target = GetParam().target(recording);
    const auto answer = provider().decode_answer(recording.body, target, "seed");
    if (!answer) continue;
    Losses losses;
    const std::string body = client()->encode_answer(
        *answer, asked, {.model = answer->model, .request_id = "r", .now = 5}, losses);
    EXPECT_TRUE(losses.empty()) << losses.front().field;
    const auto again = provider().decode_answer(body, target, "seed");
    ASSERT_TRUE(again) << again.error().message << "\n" << body;
    EXPECT_EQ(told(dialect(), *again), told(dialect(), *answer)) << body;
  }
}

TEST_P(DialectRecordings, StreamsComeOutAsTheyWentIn) {
  if (client() == nullptr || dialect() == Dialect::OpenAiChat) GTEST_SKIP() << "see tests/translation";
  const model::ChatRequest asked = who_asked(dialect());
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    SCOPED_TRACE(recording.name);
    const model::Target target = GetParam().target(recording);
    const auto direct = decode(recording, recording.body);
    struct Sink final : EventSink {
      std::unique_ptr<StreamEncoder> encoder;
      std::string out;
      void on_event(const model::StreamEvent& event) override { encoder->encode(event, out); }
    } sink;
    sink.encoder = client()->stream_encoder(asked, {.model = "m", .request_id = "r", .now = 5});
    const auto decoder = provider().stream_decoder(target, "seed");
    decoder->feed(recording.body, sink);
    decoder->finish(sink);
    // Clients of ours get events, also of what comes in frames.
    const auto again = testing::decode_stream(provider(), dialect(), {}, sink.out);
    EXPECT_EQ(again.grammar, "");
    EXPECT_EQ(again.error.has_value(), direct.error.has_value());
    if (direct.error) continue;
    EXPECT_EQ(told(dialect(), again.answer), told(dialect(), direct.answer)) << sink.out;
  }
}

}  // namespace recorded_dialects
}  // namespace qq::dialects
