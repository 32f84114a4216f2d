#include "load/mock_answers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "load/event_scanner.h"
#include "load/message_reader.h"

namespace qq::bench {
namespace {

std::string body_of(const std::string& answer) {
  MessageReader reader(MessageReader::Kind::Answer);
  std::string body;
  reader.feed(answer, [&](std::string_view part) { body += part; });
  EXPECT_EQ(reader.state(), MessageReader::State::Done);
  return body;
}

TEST(MockAnswers, CompletionIsAsLongAsTheBenchSays) {
  const std::string body = body_of(completion_answer());
  EXPECT_EQ(body.size(), 593U);
  EXPECT_EQ(body.front(), '{');
  EXPECT_EQ(body.back(), '}');
}

TEST(MockAnswers, ScannerFindsEveryEventAndStampHoweverTheStreamIsCut) {
  std::string answer = stream_head();
  append_delta_event(answer, 1'234'567'890'123);
  append_delta_event(answer, 987);
  const std::string body = body_of(answer + stream_end());
  for (std::size_t step = 1; step < body.size(); step += 13) {
    EventScanner scanner;
    std::vector<std::int64_t> stamps;
    std::string last;
    for (std::size_t at = 0; at < body.size(); at += step) {
      scanner.feed(std::string_view(body).substr(at, step), [&](std::string_view data) {
        stamps.push_back(EventScanner::stamp_in(data));
        last = data;
      });
    }
    EXPECT_EQ(stamps, (std::vector<std::int64_t>{1'234'567'890'123, 987, 0, 0, 0})) << "pieces of " << step;
    EXPECT_EQ(last, " [DONE]");
  }
}

TEST(MockAnswers, StampIsFoundWhereAProxyHasMovedIt) {
  EXPECT_EQ(EventScanner::stamp_in(R"({"choices":[{"delta":{"content":"t=0000000000000000042 x"}}]})"), 42);
  EXPECT_EQ(EventScanner::stamp_in(R"({"content":"t=0000000000000000043"})"), 43);
  EXPECT_EQ(EventScanner::stamp_in(R"({"content":"tea"})"), 0);
}

}  // namespace
}  // namespace qq::bench
