#include "wire/sse.h"

namespace qq::wire {
namespace {

using namespace std::string_literals;

struct Event {
  std::string name;
  std::string data;
  bool has_data = true;
  bool operator==(const Event&) const = default;
};
void PrintTo(const Event& event, std::ostream* out) {
  *out << "{" << event.name << ": " << testing::PrintToString(event.data)
       << (event.has_data ? "}" : " none}");
}

using Events = std::vector<Event>;

Event copy(const SseEvent& event) {
  return {std::string(event.name), std::string(event.data), event.has_data};
}

// Decodes `stream` fed in the pieces given, the unfinished event at its end included.
Events read_events(const std::vector<std::string>& pieces) {
  SseDecoder decoder;
  SseEvent event;
  Events events;
  for (const std::string& piece : pieces) {
    // An exact copy on the heap, so that a sanitizer sees a read or view beyond it.
    const std::vector<char> bytes(piece.begin(), piece.end());
    const std::string_view view(bytes.data(), bytes.size());
    std::size_t consumed = 0;
    while (decoder.next(view, consumed, event)) {
      EXPECT_EQ(event.end, consumed);
      events.push_back(copy(event));
    }
    EXPECT_EQ(consumed, view.size());
  }
  if (decoder.finish(event)) events.push_back(copy(event));
  EXPECT_EQ(decoder.verdict(), SseDecoder::Verdict::Ok);
  return events;
}

std::string repeated(std::string_view line, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += line;
  return out;
}

struct Case {
  const char* name;
  std::string stream;
  Events events;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"empty", "", {}},
      {"blank lines only", "\n\n\r\n\r\r\n", {}},
      {"one event", "data: a\n\n", {{"", "a"}}},
      {"two events", "data: a\n\ndata: b\n\n", {{"", "a"}, {"", "b"}}},
      {"no space", "data:a\n\n", {{"", "a"}}},
      {"only one space is removed", "data:  a\n\n", {{"", " a"}}},
      {"a tab is kept", "data:\ta\n\n", {{"", "\ta"}}},
      {"trailing space is kept", "data: a \n\n", {{"", "a "}}},
      {"name", "event: ping\ndata: a\n\n", {{"ping", "a"}}},
      {"name without space", "event:ping\ndata:{}\n\n", {{"ping", "{}"}}},
      {"name behind data", "data: a\nevent: ping\n\n", {{"ping", "a"}}},
      {"last name wins", "event: a\nevent: b\ndata: c\n\n", {{"b", "c"}}},
      {"empty name resets", "event: a\nevent\ndata: c\n\n", {{"", "c"}}},
      {"name does not leak", "event: a\ndata: 1\n\ndata: 2\n\n", {{"a", "1"}, {"", "2"}}},
      {"name without data", "event: a\n\ndata: 2\n\n", {{"a", "", false}, {"", "2"}}},
      {"CRLF", "event: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", {{"a", "b"}, {"", "c"}}},
      {"CR", "event: a\rdata: b\r\rdata: c\r\r", {{"a", "b"}, {"", "c"}}},
      {"mixed line ends", "data: a\r\ndata: b\rdata: c\n\r\n", {{"", "a\nb\nc"}}},
      {"LF CR is two line ends", "data: a\n\rdata: b\n\n", {{"", "a"}, {"", "b"}}},
      {"CR CRLF is two line ends", "data: a\r\r\ndata: b\n\n", {{"", "a"}, {"", "b"}}},
      {"multi-line", "data: a\ndata: b\n\n", {{"", "a\nb"}}},
      {"data without colon", "data\n\n", {{"", ""}}},
      {"two data without colon", "data\ndata\n\n", {{"", "\n"}}},
      {"data colon only", "data:\n\n", {{"", ""}}},
      {"empty lines inside", "data: a\ndata:\ndata: b\n\n", {{"", "a\n\nb"}}},
      {"empty first line", "data:\ndata: b\n\n", {{"", "\nb"}}},
      {"comment", ": hello\n\ndata: a\n\n", {{"", "a"}}},
      {"comment without space", ":\n:x\ndata: a\n\n", {{"", "a"}}},
      {"comment inside", "data: a\n: x\ndata: b\n\n", {{"", "a\nb"}}},
      {"comments of OpenRouter",
       ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n",
       {{"", "a"}}},
      {"colon in value", "data: a: b:c\n\n", {{"", "a: b:c"}}},
      {"field names are case-sensitive", "Data: a\nDATA: b\ndata: c\n\n", {{"", "c"}}},
      {"other fields", "datas: x\ndat: x\nfoo: y\ndata: a\n\n", {{"", "a"}}},
      {"space before the colon", "data : a\n\n", {{"", "", false}}},
      {"id and retry", "id: 1\nretry: 10\ndata: a\n\n", {{"", "a"}}},
      {"id alone", "id: 1\n\n", {{"", "", false}}},
      {"id with NUL", "id: a\0b\ndata: a\n\n"s, {{"", "a"}}},
      {"retry junk", "retry: 3000x\nretry\nretry: -1\ndata: a\n\n", {{"", "a"}}},
      {"status line of DashScope", "id:1\nevent:result\n:HTTP_STATUS/200\ndata:{}\n\n", {{"result", "{}"}}},
      {"NUL in data", "data: a\0b\n\n"s, {{"", "a\0b"s}}},
      {"BOM",
       "\xef\xbb\xbf"
       "data: a\n\n",
       {{"", "a"}}},
      {"BOM and blank line", "\xef\xbb\xbf\n\ndata: a\n\n", {{"", "a"}}},
      {"BOM before a comment", "\xef\xbb\xbf: x\ndata: a\n\n", {{"", "a"}}},
      {"two BOM",
       "\xef\xbb\xbf\xef\xbb\xbf"
       "data: a\n\n",
       {{"", "", false}}},
      {"BOM behind the start",
       "data: a\n\n\xef\xbb\xbf"
       "data: b\n\n",
       {{"", "a"}, {"", "", false}}},
      {"BOM behind a blank line",
       "\n\xef\xbb\xbf"
       "data: b\n\n",
       {{"", "", false}}},
      {"half a BOM",
       "\xef\xbb"
       "data: b\n\ndata: c\n\n",
       {{"", "", false}, {"", "c"}}},
      {"BOM alone", "\xef\xbb\xbf", {}},
      {"UTF-8", "data: 鹊桥\n\n", {{"", "鹊桥"}}},
      {"other line separators are text",
       "data: a\xe2\x80\xa8"
       "b\v\f\xc2\x85"
       "c\n\n",
       {{"",
         "a\xe2\x80\xa8"
         "b\v\f\xc2\x85"
         "c"}}},
      {"leading white space", " data: a\n\n\t data: b\n\n", {{"", "a"}, {"", "b"}}},
      {"leading white space before a comment", "  : x\ndata: a\n\n", {{"", "a"}}},
      {"line of blanks is no end", "data: a\n  \ndata: b\n\n", {{"", "a\nb"}}},
      {"blank blocks before the first event", "\n         \n\ndata: a\n\n", {{"", "a"}}},
      {"unterminated tail", "data: a\n\ndata: b", {{"", "a"}, {"", "b"}}},
      {"unclosed event", "data: a\n\ndata: b\n", {{"", "a"}, {"", "b"}}},
      {"unclosed event ended by CR", "data: a\r\rdata: b\r", {{"", "a"}, {"", "b"}}},
      {"tail joins its event", "event: x\ndata: a\ndata: b", {{"x", "a\nb"}}},
      {"unfinished comment", "data: a\n\n: b", {{"", "a"}}},
      {"unfinished field name", "data: a\n\ndat", {{"", "a"}, {"", "", false}}},
      {"bare JSON between events",
       "data: a\n\n{\n \"error\": {}\n}\n\ndata: b\n\n",
       {{"", "a"}, {"", "", false}, {"", "b"}}},
      {"done", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", {{"", "{\"choices\":[]}"}, {"", "[DONE]"}}},
      {"long lines",
       "data: " + std::string(5000, 'x') + "\ndata: " + std::string(5000, 'y') + "\n\ndata: z\n\n",
       {{"", std::string(5000, 'x') + "\n" + std::string(5000, 'y')}, {"", "z"}}},
  };
  return table;
}

TEST(SseDecoder, ReadsEveryCaseWhole) {
  for (const Case& c : cases()) EXPECT_EQ(read_events({c.stream}), c.events) << c.name;
}

TEST(SseDecoder, ReadsEveryCaseByteByByte) {
  for (const Case& c : cases()) {
    std::vector<std::string> pieces;
    for (const char byte : c.stream) pieces.emplace_back(1, byte);
    EXPECT_EQ(read_events(pieces), c.events) << c.name;
  }
}

TEST(SseDecoder, ReadsEveryCaseSplitAnywhere) {
  for (const Case& c : cases()) {
    for (std::size_t at = 0; at <= std::min<std::size_t>(c.stream.size(), 300); ++at) {
      EXPECT_EQ(read_events({c.stream.substr(0, at), c.stream.substr(at)}), c.events)
          << c.name << " split at " << at;
    }
  }
}

TEST(SseDecoder, GivesViewsIntoTheBytesForASingleDataLine) {
  const std::string_view bytes = ": hi\nevent: e\ndata: abc\n\ndata: def\n\n";
  SseDecoder decoder;
  SseEvent event;
  std::size_t consumed = 0;
  ASSERT_TRUE(decoder.next(bytes, consumed, event));
  EXPECT_EQ(event.name.data(), bytes.data() + 12);
  EXPECT_EQ(event.data.data(), bytes.data() + 20);
  EXPECT_EQ(event.end, 25U);
  ASSERT_TRUE(decoder.next(bytes, consumed, event));
  EXPECT_EQ(event.data, "def");
  EXPECT_EQ(event.end, bytes.size());
}

TEST(SseDecoder, TellsFieldsThatOthersDoNotSee) {
  const std::vector<std::pair<std::string, bool>> events = {
      {"data: a\n", false},        {" data: a\n", true},        {"data: a\n\tdata: b\n", true},
      {" event: a\ndata\n", true}, {"  : x\ndata: a\n", false}, {"  \n id: 1\ndata:  a\n", false},
  };
  std::string stream;
  for (const auto& [lines, indented] : events) stream += lines + "\n";
  for (const std::size_t piece : {std::size_t{1}, stream.size()}) {
    SseDecoder decoder;
    SseEvent event;
    auto expected = events.begin();
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const std::string bytes = stream.substr(at, piece);
      for (std::size_t consumed = 0; decoder.next(bytes, consumed, event); ++expected)
        EXPECT_EQ(event.indented, expected->second) << expected->first;
    }
    EXPECT_EQ(expected, events.end());
  }
}

TEST(SseDecoder, KeepsAReportedEventValidUntilTheNextCall) {
  SseDecoder decoder;
  SseEvent event;
  std::size_t consumed = 0;
  ASSERT_FALSE(decoder.next("event: name\ndata: on", consumed, event));
  consumed = 0;
  ASSERT_TRUE(decoder.next("e\n\ndata: x", consumed, event));
  EXPECT_EQ(consumed, 3U);
  EXPECT_EQ(event.name, "name");
  EXPECT_EQ(event.data, "one");
}

TEST(SseDecoder, IsAtABorderOnlyBetweenEvents) {
  SseDecoder decoder;
  SseEvent event;
  const auto border_after = [&](std::string_view bytes) {
    std::size_t consumed = 0;
    while (decoder.next(bytes, consumed, event)) {
    }
    return decoder.at_border();
  };
  EXPECT_TRUE(decoder.at_border());
  EXPECT_FALSE(border_after("d"));
  EXPECT_FALSE(border_after("ata: x"));
  EXPECT_FALSE(border_after("\n"));
  EXPECT_TRUE(border_after("\n"));
  EXPECT_FALSE(border_after(": com"));
  EXPECT_TRUE(border_after("ment\n"));
  EXPECT_TRUE(border_after("\n"));
  EXPECT_FALSE(border_after("data: a\n\ndata: b\n: comment inside an event\n"));
  EXPECT_FALSE(border_after("id: 1\n"));
  EXPECT_TRUE(border_after("\r"));
  EXPECT_TRUE(border_after("\n"));
}

TEST(SseDecoder, AnEventOverTheLimitIsAVerdictHoweverItIsSplit) {
  const std::vector<std::string> streams = {
      "data: " + std::string(100, 'x') + "\n\n",
      "data: " + std::string(60, 'x') + "\ndata: " + std::string(60, 'x') + "\n\n",
      std::string(101, 'x'),
      repeated("id: 1\n", 20),
      "data: a\r\n" + repeated(": comment\r\n", 20),
      repeated("data:\r", 20),
      repeated("x\n", 51),
      "event: a\n" + repeated(" \n", 50),
  };
  for (const std::string& stream : streams) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
      SseDecoder decoder(100);
      SseEvent event;
      bool any = false;
      for (std::size_t at = 0; at < stream.size(); at += piece) {
        const std::string bytes = stream.substr(at, piece);
        std::size_t consumed = 0;
        while (decoder.next(bytes, consumed, event)) any = true;
        EXPECT_EQ(consumed, bytes.size());
      }
      EXPECT_EQ(decoder.verdict(), SseDecoder::Verdict::EventTooBig) << stream << piece;
      EXPECT_FALSE(any);
      EXPECT_FALSE(decoder.finish(event));
      EXPECT_FALSE(decoder.at_border());
    }
  }
}

TEST(SseDecoder, AnEventAtTheLimitPasses) {
  for (const std::string& lines :
       {"data: " + std::string(94, 'x') + "\n", repeated("data: a\r\n", 10) + "0123456789\n"}) {
    SseDecoder decoder(100);
    SseEvent event;
    std::size_t consumed = 0;
    ASSERT_TRUE(decoder.next(repeated(": comment\n", 30) + lines + "\n", consumed, event)) << lines;
    EXPECT_EQ(decoder.verdict(), SseDecoder::Verdict::Ok);
  }
}

TEST(SseDecoder, KnowsHowManyBytesAreOfWhatIsNotComplete) {
  SseDecoder decoder;
  SseEvent event;
  const auto unfinished_after = [&](std::string_view bytes) {
    for (std::size_t consumed = 0; decoder.next(bytes, consumed, event);) continue;
    return decoder.unfinished();
  };
  EXPECT_EQ(unfinished_after(": comment\nda"), 2U);
  EXPECT_EQ(unfinished_after("ta: x\r"), 8U);
  EXPECT_EQ(unfinished_after("\n: inside\n"), 18U);
  EXPECT_EQ(unfinished_after("\r"), 0U);
  EXPECT_EQ(unfinished_after("\n: c"), 3U) << "the line feed is the event's";
  EXPECT_EQ(unfinished_after("\ndata: a\n\n\n  \nid"), 2U);
}

TEST(SseDecoder, AnEventMayBePassedOverAtABorderOnly) {
  const auto may_pass_after = [](std::string_view bytes) {
    SseDecoder decoder(100);
    SseEvent event;
    for (std::size_t consumed = 0; decoder.next(bytes, consumed, event);) continue;
    return decoder.may_pass();
  };
  EXPECT_EQ(may_pass_after(""), 0U) << "a byte order mark may come";
  EXPECT_EQ(may_pass_after("data: a\n\n"), 100U) << "as large as any may be";
  EXPECT_EQ(may_pass_after(": comment\r\n"), 100U);
  EXPECT_EQ(may_pass_after("data: a\r\r"), 0U) << "a line feed may still belong to it";
  EXPECT_EQ(may_pass_after("data: a\n"), 0U);
  EXPECT_EQ(may_pass_after("data: a\n\nd"), 0U);
  EXPECT_EQ(may_pass_after("event: a\n"), 0U);
}

}  // namespace
}  // namespace qq::wire
