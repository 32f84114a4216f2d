// Every recorded chat exchange: requests keep their meaning through decoder and encoder, answers and streams
// are the same however their bytes are split and keep the grammar, and all of them read as
// tests/golden/openai_chat.summary says (hash of the name, hash of what was read). QQ_GOLDEN_UPDATE=1 writes
// the summary anew, QQ_SHOW=part-of-a-name prints.
#include <fakes/neutral.h>
#include <fmt/format.h>
#include <recordings/recordings.h>

#include <map>

#include "dialects/openai_chat/dialect.h"

namespace qq::dialects::openai_chat {
namespace recordings_test {

using recordings::Recording;

// Primes, so that all places in a line get their turn.
#ifdef QQ_SANITIZED
constexpr std::size_t kStride = 61;
#else
constexpr std::size_t kStride = 7;
#endif

bool speaks_chat(const Recording& recording) {
  const auto endpoint = recordings::openai_endpoint(recording.provider, "POST", recording.path);
  return endpoint == model::Endpoint::ChatCompletions && recording.kind == "chat";
}

model::Target target_of(const Recording& recording) {
  model::Target target;
  target.upstream_model = "upstream";
  target.quirks.reasoning_excluded_from_output = recording.provider == "xai";
  return target;
}

// A target that takes everything the dialect can say.
model::Target generous(const std::string& model) {
  model::Target target;
  target.upstream_model = model;
  using Chat = model::ChatQuirks;
  target.quirks.force_include_usage = false;
  target.quirks.chat.thinking = Chat::Thinking::Object;
  target.quirks.chat.thoughts = Chat::Thoughts::Details;
  target.quirks.chat.openai_words = true;
  target.quirks.chat.takes_top_k = true;
  target.quirks.chat.takes_cache_control = true;
  return target;
}

class ChatRecordings : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = recordings::folder();
    if (!folder) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    all_ = recordings::load_all(*folder);
    std::erase_if(all_, [](const Recording& recording) { return !speaks_chat(recording); });
    ASSERT_EQ(all_.size(), 112U);
  }
  static void show(const Recording& recording, const std::string& what) {
    const char* const name = std::getenv("QQ_SHOW");
    if (name != nullptr && recording.name.find(name) != std::string::npos)
      fmt::print("{}\n{}\n", recording.name, what);
  }
  std::vector<Recording> all_;
};

TEST_F(ChatRecordings, RequestsKeepTheirMeaning) {
  std::size_t count = 0;
  for (const Recording& recording : all_) {
    if (!recording.request.starts_with('{')) continue;
    // Azure's older form has the model in the URL, which clients of ours have not.
    if (recording.request.find("\"model\"") == std::string::npos) continue;
    const auto request = client_side().decode_request(recording.request, {});
    if (!request && recording.status == 400) continue;  // its provider refused it as well
    ASSERT_TRUE(request) << recording.name << ": " << request.error().message;
    ++count;
    Losses losses;
    const auto encoded = provider_side().encode_request(*request, generous(request->model), losses);
    ASSERT_TRUE(encoded) << recording.name << ": " << encoded.error().message;
    EXPECT_TRUE(losses.empty()) << recording.name << ": " << losses.front().field;
    const auto again = client_side().decode_request(encoded->body, {});
    ASSERT_TRUE(again) << recording.name << ": " << again.error().message << "\n" << encoded->body;
    EXPECT_EQ(testing::describe(*again), testing::describe(*request)) << recording.name;
    show(recording, testing::describe(*request));
  }
  EXPECT_GT(count, 80U);
}

std::string read_stream(const Recording& recording) {
  const auto decoded =
      testing::decode_however_split(provider_side(), model::Dialect::OpenAiChat, target_of(recording),
                                    recording.body, recording.status >= 400 ? 1 : 4096, kStride);
  EXPECT_TRUE(decoded.ended || decoded.error) << recording.name;
  return decoded.events;
}

std::string read_answer(const Recording& recording) {
  const auto answer = provider_side().decode_answer(recording.body, target_of(recording), "seed");
  return answer ? testing::describe(*answer)
                : "error " + std::string(to_string(answer.error().kind)) + " " + answer.error().message;
}

TEST_F(ChatRecordings, ReadAsTheSummarySays) {
  std::string summary = "# Recorded chat exchanges by hash of their name: the hash of what they decode to.\n";
  std::map<std::string, std::string> names;
  for (const Recording& recording : all_) {
    if (recording.status >= 400) continue;
    SCOPED_TRACE(recording.name);
    const std::string text = recording.stream ? read_stream(recording) : read_answer(recording);
    show(recording, text);
    const std::string key = recordings::hash(recording.name);
    names[key] = recording.name;
    summary += key + " " + recordings::hash(text) + "\n";
  }
  const std::string path = QQ_SOURCE_DIR "/tests/golden/openai_chat.summary";
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

// What the encoder makes of a provider's answer reads the same again.
TEST_F(ChatRecordings, AnswersAndStreamsComeOutAsTheyWentIn) {
  model::ChatRequest request;
  request.usage_in_stream = true;
  for (const Recording& recording : all_) {
    if (recording.status >= 400) continue;
    const AnswerHead head{.model = "m", .request_id = "r", .now = 7};
    if (!recording.stream) {
      auto answer = provider_side().decode_answer(recording.body, target_of(recording), "seed");
      ASSERT_TRUE(answer) << recording.name;
      Losses losses;
      const std::string body = client_side().encode_answer(*answer, request, head, losses);
      const auto again = provider_side().decode_answer(body, target_of(recording), "seed");
      ASSERT_TRUE(again) << recording.name << ": " << again.error().message << "\n" << body;
      for (model::Choice& choice : answer->choices) EXPECT_EQ(again->choices[0].finish, choice.finish);
      EXPECT_EQ(testing::describe(again->usage), testing::describe(answer->usage)) << recording.name;
      continue;
    }
    const auto whole = testing::decode_stream(provider_side(), model::Dialect::OpenAiChat,
                                              target_of(recording), recording.body);
    if (!whole.ended) continue;
    std::string bytes;
    const auto encoder = client_side().stream_encoder(request, head);
    model::for_each_event(whole.answer,
                          [&](const model::StreamEvent& event) { encoder->encode(event, bytes); });
    const auto again =
        testing::decode_stream(provider_side(), model::Dialect::OpenAiChat, target_of(recording), bytes);
    EXPECT_EQ(again.grammar, "") << recording.name;
    ASSERT_TRUE(again.ended) << recording.name << bytes;
    EXPECT_EQ(testing::describe(again.answer.usage), testing::describe(whole.answer.usage)) << recording.name;
    EXPECT_EQ(again.answer.choices.size(), whole.answer.choices.size()) << recording.name;
  }
}

}  // namespace recordings_test
}  // namespace qq::dialects::openai_chat
