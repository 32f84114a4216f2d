// Real provider traffic, where it is at hand: the folder that QQ_SHARED_DIR names, or `../shared` beside
// the checkout. Every recorded file and body is JSON to our reader, and every recorded stream gives the
// same events however it is cut.
#include <recordings/fixture.h>

#include <algorithm>

#include "wire/json.h"
#include "wire/sse.h"

namespace qq::wire {
namespace {

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

class Recordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    load(recordings::kRecordings, [](const auto& /*recording*/) { return true; });
  }
};

TEST_F(Recordings, HaveBodiesThatAreJsonWhereTheySaySo) {
  std::size_t bodies = 0;
  for (const recordings::Recording& recording : all_) {
    if (!recording.request.starts_with('{')) continue;
    ++bodies;
    const auto error = check_json(recording.request);
    EXPECT_EQ(error, std::nullopt) << recording.name << " " << error->offset << " " << error->reason;
  }
  EXPECT_GT(bodies, 100U);
}

TEST_F(Recordings, StreamsGiveTheSameEventsHoweverCut) {
  std::size_t streams = 0;
  std::size_t events = 0;
  for (const recordings::Recording& recording : all_) {
    const auto type =
        std::ranges::find(recording.headers, "content-type", &std::pair<std::string, std::string>::first);
    if (type == recording.headers.end() || !type->second.starts_with("text/event-stream")) continue;
    ++streams;
    const std::string& stream = recording.body;
    const auto whole = events_of(stream, stream.size());
    events += whole.size();
    for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{1000}}) {
      EXPECT_EQ(events_of(stream, piece), whole) << recording.name << " in pieces of " << piece;
    }
    for (const RecordedEvent& event : whole) {
      if (event.data == "[DONE]") continue;
      EXPECT_EQ(check_json(event.data), std::nullopt) << recording.name << ": " << event.data;
    }
  }
  EXPECT_GT(streams, 50U);
  EXPECT_GT(events, 20 * streams / 10);
}

}  // namespace
}  // namespace qq::wire
