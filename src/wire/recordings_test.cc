// Real provider traffic, where it is at hand: the folder that QQ_SHARED_DIR names, or `../shared` beside
// the checkout. Every recorded file and body is JSON to our reader, and every recorded stream gives the
// same events however it is cut.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "wire/json.h"
#include "wire/sse.h"

namespace qq::wire {
namespace {

namespace fs = std::filesystem;

class Recordings : public testing::Test {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("QQ_SHARED_DIR");
    const fs::path shared = named != nullptr ? fs::path(named) : fs::path(QQ_SOURCE_DIR) / "../shared";
    if (!fs::is_directory(shared / "recordings")) {
      GTEST_SKIP() << "no recordings: set QQ_SHARED_DIR or put `shared` beside the checkout";
    }
    for (const auto& entry : fs::recursive_directory_iterator(shared / "recordings")) {
      if (entry.path().extension() != ".json") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      files_.emplace(entry.path().filename().string(), text.str());
    }
    ASSERT_GT(files_.size(), 0U);
  }

  std::map<std::string, std::string> files_;
};

struct RecordedEvent {
  std::string name;
  std::string data;
  bool operator==(const RecordedEvent&) const = default;
};

std::vector<RecordedEvent> events_of(std::string_view stream, std::size_t piece) {
  std::vector<RecordedEvent> events;
  SseDecoder decoder;
  SseEvent event;
  const auto keep = [&] {
    if (event.has_data) events.push_back({std::string(event.name), std::string(event.data)});
  };
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    std::size_t consumed = 0;
    const std::string_view bytes = stream.substr(at, piece);
    while (decoder.next(bytes, consumed, event)) keep();
  }
  if (decoder.finish(event)) keep();
  return events;
}

TEST_F(Recordings, AreJsonWithABody) {
  for (const auto& [name, text] : files_) {
    const auto error = check_json(text);
    ASSERT_EQ(error, std::nullopt) << name << " " << error->offset << " " << error->reason;
    EXPECT_TRUE(JsonValue(text).at("response", "status")->integer()) << name;
    EXPECT_TRUE(JsonValue(text).at("response", "body")) << name;
  }
}

TEST_F(Recordings, StreamsGiveTheSameEventsHoweverCut) {
  std::size_t streams = 0;
  std::size_t events = 0;
  for (const auto& [name, text] : files_) {
    const JsonValue recording(text);
    const auto type = recording.at("response", "headers", "content-type");
    const auto body = recording.at("response", "body");
    if (!body->is_string() || !type || !type->string().starts_with("text/event-stream")) continue;
    ++streams;
    const std::string stream = body->string();
    const auto whole = events_of(stream, stream.size());
    events += whole.size();
    for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{1000}}) {
      EXPECT_EQ(events_of(stream, piece), whole) << name << " in pieces of " << piece;
    }
    for (const RecordedEvent& event : whole) {
      if (event.data == "[DONE]") continue;
      EXPECT_EQ(check_json(event.data), std::nullopt) << name << ": " << event.data;
    }
  }
  EXPECT_GT(streams, 50U);
  EXPECT_GT(events, 20 * streams / 10);
}

}  // namespace
}  // namespace qq::wire
