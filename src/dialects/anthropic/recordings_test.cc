// Recorded exchanges of Anthropic and of Claude inside Bedrock invoke: requests mean the same after another
// round, answers and streams decode the same however they are split, and all of them to what
// tests/golden/anthropic.summary says (hashes only: the traffic is other people's). QQ_GOLDEN_UPDATE=1 writes
// it anew; QQ_SHOW=1 prints what is hashed.
#include <fakes/anthropic.h>
#include <fmt/format.h>
#include <recordings/recordings.h>

namespace qq::dialects::anthropic {
namespace {

using recordings::Recording;

#ifdef QQ_SANITIZED
constexpr std::size_t kStridePlaces = 61;
#else
constexpr std::size_t kStridePlaces = 31;  // every place is tried on the fixtures of stream_decode_test.cc
#endif

class AnthropicRecordings : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = recordings::folder();
    if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    for (Recording& recording : recordings::load_all(*folder, {"anthropic", "bedrock"})) {
      // Amazon's own models speak other bodies; one stream is in OpenAI's dialect.
      const bool claude =
          recording.path.find("anthropic.") != std::string::npos && recording.kind == "invoke";
      const bool messages =
          recording.provider == "anthropic" && recording.body.find("chat.completion") == std::string::npos;
      if (claude || messages) all_.push_back(std::move(recording));
    }
    ASSERT_EQ(all_.size(), 33U);
  }
  std::vector<Recording> all_;
};

model::Target target_for(const Recording& recording) {
  return testing::target_of("claude-x", recording.provider == "bedrock" ? model::MessagesForm::BedrockInvoke
                                                                        : model::MessagesForm::Direct);
}

bool is_events(const Recording& recording) {
  return recording.stream && recording.status < 400;
}

// As our clients would write it: Bedrock has the model in its URL.
std::string request_of(const Recording& recording) {
  if (recording.provider != "bedrock") return recording.request;
  return R"({"model":"claude-x",)" + recording.request.substr(1);
}

Result<model::ChatRequest> decoded_request(const Recording& recording) {
  if (recording.kind == "count_tokens") return decode_count_request(request_of(recording), {});
  return client_side().decode_request(request_of(recording), {});
}

std::string summary_of(const Recording& recording) {
  std::string text;
  if (!recording.request.empty() && recording.request != "null") {
    const auto request = decoded_request(recording);
    text += request ? qq::testing::describe(*request) : "refused: " + request.error().message + "\n";
  }
  if (is_events(recording)) {
    const auto stream =
        qq::testing::decode_however_split(provider_side(), model::Dialect::Anthropic, target_for(recording),
                                          recording.body, 4096, kStridePlaces);
    text += stream.events + qq::testing::describe(stream.answer);
  } else if (recording.kind != "count_tokens") {
    const auto answer = provider_side().decode_answer(recording.body, target_for(recording), "seed");
    text += answer ? qq::testing::describe(*answer)
                   : std::string(to_string(answer.error().kind)) + " " + answer.error().type + " " +
                         answer.error().message + "\n";
  }
  return text;
}

TEST_F(AnthropicRecordings, DecodeToWhatTheSummarySays) {
  const std::string path = QQ_SOURCE_DIR "/tests/golden/anthropic.summary";
  std::string summary = "# Recorded exchanges by hash of their name, and the hash of what they decode to.\n";
  std::map<std::string, std::string> names;
  for (const Recording& recording : all_) {
    const std::string text = summary_of(recording);
    if (std::getenv("QQ_SHOW") != nullptr) fmt::print("==== {}\n{}", recording.name, text);
    const std::string key = recordings::hash(recording.name);
    names[key] = recording.name;
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

TEST_F(AnthropicRecordings, RequestsMeanTheSameAfterAnotherRound) {
  std::size_t count = 0;
  for (const Recording& recording : all_) {
    if (recording.request.empty() || recording.request == "null" || recording.kind == "count_tokens")
      continue;
    auto request = decoded_request(recording);
    if (recording.status == 400) {
      EXPECT_FALSE(request) << recording.name << ": refused by its provider too";
      continue;
    }
    ASSERT_TRUE(request) << recording.name << ": " << request.error().message;
    ++count;
    const testing::Sent out = testing::sent(*request, testing::target_of(request->model));
    EXPECT_EQ(out.lost(), "") << recording.name;
    auto again = client_side().decode_request(out.body, {});
    ASSERT_TRUE(again) << recording.name << ": " << again.error().message;
    if (recording.provider == "bedrock") continue;  // its last two user turns are joined
    EXPECT_EQ(qq::testing::describe(*again), qq::testing::describe(*request)) << recording.name;
  }
  EXPECT_GT(count, 20U);
}

TEST_F(AnthropicRecordings, AnswersComeOutAsTheyWentIn) {
  for (const Recording& recording : all_) {
    if (recording.status >= 400 || recording.stream || recording.kind == "count_tokens") continue;
    auto answer = provider_side().decode_answer(recording.body, {}, "seed");
    ASSERT_TRUE(answer) << recording.name << ": " << answer.error().message;
    EXPECT_EQ(answer->usage.source, model::UsageSource::Provider) << recording.name;
    Losses losses;
    const std::string written =
        client_side().encode_answer(*answer, {}, {.model = answer->model, .request_id = "r"}, losses);
    EXPECT_TRUE(losses.empty()) << recording.name;
    auto again = provider_side().decode_answer(written, {}, "seed");
    ASSERT_TRUE(again) << recording.name;
    for (auto* each : {&*again, &*answer}) std::ranges::sort(each->extra, {}, &model::ExtraField::key);
    EXPECT_EQ(qq::testing::describe(*again), qq::testing::describe(*answer)) << recording.name;
  }
}

class Reencoding final : public EventSink {
 public:
  explicit Reencoding(StreamEncoder& encoder) : encoder_(encoder) {}
  void on_event(const model::StreamEvent& event) override { encoder_.encode(event, out_); }
  [[nodiscard]] const std::string& out() const { return out_; }

 private:
  StreamEncoder& encoder_;
  std::string out_;
};

TEST_F(AnthropicRecordings, StreamsComeOutAsTheyWentIn) {
  for (const Recording& recording : all_) {
    if (!is_events(recording) || recording.name.find("spliced") != std::string::npos) continue;
    const model::Target target = target_for(recording);
    auto expected =
        qq::testing::decode_stream(provider_side(), model::Dialect::Anthropic, target, recording.body);
    EXPECT_TRUE(expected.ended) << recording.name;
    const model::ChatRequest request;
    const auto encoder =
        client_side().stream_encoder(request, {.model = expected.answer.model, .request_id = "r"});
    Reencoding sink(*encoder);
    const auto decoder = provider_side().stream_decoder(target, "seed");
    decoder->feed(recording.body, sink);
    decoder->finish(sink);
    const auto again = qq::testing::decode_stream(provider_side(), model::Dialect::Anthropic,
                                                  testing::target_of("claude-x"), sink.out());
    EXPECT_EQ(again.grammar, "") << recording.name;
    EXPECT_EQ(qq::testing::describe(again.answer), qq::testing::describe(expected.answer)) << recording.name;
  }
}

}  // namespace
}  // namespace qq::dialects::anthropic
