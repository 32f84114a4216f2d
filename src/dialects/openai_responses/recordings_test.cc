// Every recorded exchange of the dialect: requests, answers and streams are decoded, the same however they
// are split, and written down as hashes in tests/golden/openai_responses.summary. QQ_GOLDEN_UPDATE=1 writes
// it anew; QQ_SHOW=1 prints what was decoded, for a review by eye.
#include <fakes/neutral.h>
#include <fmt/format.h>
#include <recordings/recordings.h>

#include <cstdlib>

#include "dialects/openai_responses/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_responses {
namespace {

using recordings::Recording;

#ifdef QQ_SANITIZED
constexpr std::size_t kSplitStride = 61;
#else
constexpr std::size_t kSplitStride = 7;  // each split decodes the whole stream
#endif
constexpr std::size_t kExchanges = 38;

class OpenaiResponsesRecordings : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = recordings::folder();
    if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    for (Recording& recording : recordings::load_all(*folder)) {
      if (recording.kind == "responses") all_.push_back(std::move(recording));
    }
    ASSERT_EQ(all_.size(), kExchanges);
  }
  std::vector<Recording> all_;
};

// Where nothing is unusual, a target asks for no more than its name.
model::Target plain_target() {
  model::Target target;
  target.upstream_model = "upstream";
  return target;
}

std::string described(model::ChatRequest request) {
  request.model = "m";
  return testing::describe(request);
}

TEST_F(OpenaiResponsesRecordings, RequestsMeanTheSameWrittenAnew) {
  for (const Recording& recording : all_) {
    if (recording.request.empty() || recording.request.front() != '{') continue;
    const auto request = client_side().decode_request(recording.request, {});
    ASSERT_TRUE(request) << recording.name << ": " << request.error().param << ": "
                         << request.error().message;
    Losses losses;
    const auto encoded = provider_side().encode_request(*request, plain_target(), losses);
    ASSERT_TRUE(encoded) << recording.name << ": " << encoded.error().message;
    EXPECT_TRUE(losses.empty()) << recording.name << ": " << losses.front().field;
    ASSERT_FALSE(wire::check_json(encoded->body)) << encoded->body;
    const auto again = client_side().decode_request(encoded->body, {});
    ASSERT_TRUE(again) << recording.name << ": " << again.error().message;
    EXPECT_EQ(described(*again), described(*request)) << recording.name;
  }
}

// What a client gets of a stream, decoded again.
testing::DecodedStream through_the_client(const Recording& recording) {
  model::ChatRequest request;
  request.dialect = model::Dialect::OpenAiResponses;
  const AnswerHead head{.model = "asked", .request_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV", .now = 5};
  const auto encoder = client_side().stream_encoder(request, head);
  struct Sink final : EventSink {
    StreamEncoder* encoder = nullptr;
    std::string out;
    void on_event(const model::StreamEvent& event) override { encoder->encode(event, out); }
  } sink;
  sink.encoder = encoder.get();
  const auto decoder = provider_side().stream_decoder(plain_target(), "seed");
  decoder->feed(recording.body, sink);
  decoder->finish(sink);
  return testing::decode_stream(provider_side(), model::Dialect::OpenAiResponses, plain_target(), sink.out);
}

std::string without_head(std::string text) {
  return text.substr(text.find('\n'));
}

TEST_F(OpenaiResponsesRecordings, StreamsMeanTheSameWrittenAnew) {
  for (const Recording& recording : all_) {
    if (!recording.stream || recording.status >= 400) continue;
    const auto direct = testing::decode_stream(provider_side(), model::Dialect::OpenAiResponses,
                                               plain_target(), recording.body);
    const auto again = through_the_client(recording);
    EXPECT_EQ(again.grammar, "") << recording.name;
    EXPECT_EQ(again.error.has_value(), direct.error.has_value()) << recording.name;
    // The first line has the id, the model and the time.
    EXPECT_EQ(without_head(testing::describe(again.answer)), without_head(testing::describe(direct.answer)))
        << recording.name;
  }
}

TEST_F(OpenaiResponsesRecordings, DecodeAsTheSummarySays) {
  const std::string path = QQ_SOURCE_DIR "/tests/golden/openai_responses.summary";
  std::string summary = "# Recorded exchanges by hash of their name: hash of what they decode to.\n";
  for (const Recording& recording : all_) {
    std::string text;
    if (!recording.request.empty() && recording.request.front() == '{') {
      const auto request = client_side().decode_request(recording.request, {});
      text += request ? testing::describe(*request) : request.error().message;
    }
    if (recording.status < 400 && recording.stream) {
      const auto decoded = testing::decode_however_split(provider_side(), model::Dialect::OpenAiResponses,
                                                         plain_target(), recording.body, 4096, kSplitStride);
      text += decoded.events + testing::describe(decoded.answer);
    } else if (recording.status < 400) {
      const auto answer = provider_side().decode_answer(recording.body, plain_target(), "seed");
      ASSERT_TRUE(answer) << recording.name << ": " << answer.error().message;
      text += testing::describe(*answer);
    }
    if (std::getenv("QQ_SHOW") != nullptr) fmt::print("==== {}\n{}", recording.name, text);
    summary += recordings::hash(recording.name) + " " + recordings::hash(text) + "\n";
  }
  if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << summary;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path;
  std::ostringstream then;
  then << in.rdbuf();
  EXPECT_EQ(summary, then.str());
}

}  // namespace
}  // namespace qq::dialects::openai_responses
