// What tests of a dialect's recordings have in common: the exchanges of some providers, or a skip where they
// are not at hand; replies read in every way; what they mean as hashes, for the traffic is other people's;
// and the requests that applications sent, for tests of encoders.
//
// QQ_GOLDEN_UPDATE=1 writes the hashes anew, QQ_SHOW=part-of-a-name prints what is hashed.
#pragma once
#include <fakes/neutral.h>
#include <fmt/format.h>
#include <recordings/recordings.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

namespace qq::recordings {

#ifdef QQ_SANITIZED
inline constexpr std::size_t kSplitStride = 61;
#else
inline constexpr std::size_t kSplitStride = 7;  // a prime, so that all places in a line get their turn
#endif

class RecordedDialect : public ::testing::Test {
 protected:
  // Those of `providers` that `wanted` takes; whoever calls it returns if the test IsSkipped().
  void load(const std::vector<std::string_view>& providers,
            const std::function<bool(const Recording&)>& wanted) {
    const auto from = folder();
    if (!from) GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    all_ = load_all(*from, providers);
    std::erase_if(all_, [&](const Recording& recording) { return !wanted(recording); });
  }
  std::vector<Recording> all_;
};

// A reply in words. Streams are read whole, byte by byte and split at many places, and must come to their
// end.
inline std::string read_reply(const dialects::ProviderDialect& provider, model::Dialect dialect,
                              const model::Target& target, const Recording& recording) {
  if (recording.stream && recording.status < 400) {
    const auto stream = testing::decode_however_split(provider, dialect, target, recording.body,
                                                      recording.body.size(), kSplitStride);
    EXPECT_TRUE(stream.ended || stream.error) << recording.name;
    return stream.events + testing::describe(stream.answer);
  }
  const auto answer = provider.decode_answer(recording.body, target, "seed");
  if (answer) return testing::describe(*answer);
  const Error& error = answer.error();
  return fmt::format("{} {} {}\n", to_string(error.kind), error.type, error.message);
}

// Compares what each recording was read as with tests/golden/<name>.summary.
inline void expect_summary(std::string_view name, const std::vector<Recording>& recordings,
                           const std::function<std::string(const Recording&)>& read) {
  const std::string path = fmt::format("{}/tests/golden/{}.summary", QQ_SOURCE_DIR, name);
  std::string summary = "# Recorded exchanges by hash of their name, and the hash of what they decode to.\n";
  std::map<std::string, std::string> texts;
  const char* const show = std::getenv("QQ_SHOW");
  for (const Recording& recording : recordings) {
    SCOPED_TRACE(recording.name);
    const std::string text = read(recording);
    if (show != nullptr && recording.name.find(show) != std::string::npos)
      fmt::print("==== {}\n{}", recording.name, text);
    const std::string key = hash(recording.name);
    texts[key] = recording.name + "\n" + text;
    summary += key + " " + hash(text) + "\n";
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
    EXPECT_EQ(now_line, then_line) << texts[now_line.substr(0, now_line.find(' '))];
  }
}

// Every recorded request of clients of OpenAI's chat and responses, Anthropic and Gemini that our decoders
// take.
struct AskedRequest {
  std::string name;  // of the recording
  model::ChatRequest request;
};
inline std::vector<AskedRequest> asked_requests() {
  std::vector<AskedRequest> out;
  const auto from = folder();
  if (!from) return out;
  for (const Recording& recording : load_all(*from)) {
    auto dialect = model::Dialect::OpenAiChat;
    if (recording.kind == "responses") dialect = model::Dialect::OpenAiResponses;
    if (recording.kind == "messages") dialect = model::Dialect::Anthropic;
    if (recording.kind == "generate") dialect = model::Dialect::Gemini;
    const bool asks = recording.kind == "chat" || dialect != model::Dialect::OpenAiChat;
    if (!asks || recording.provider == "cohere" || recording.path.starts_with("/api/")) continue;
    auto request = dialects::client_dialect(dialect)->decode_request(recording.request, {.path_model = "m"});
    if (request) out.push_back({recording.name, std::move(*request)});
  }
  return out;
}

}  // namespace qq::recordings
