// Every fault as bytes. The table has one row per fault; a test checks that none is missing.
#include "simulator/provider/compose.h"

#include <gmock/gmock.h>

#include <set>

#include "simulator/provider/test_support.h"
#include "wire/content_decoder.h"

namespace qq::simulator {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kText = "Hello! I am a simulated model. You said: \"Say hello.\".";

std::size_t count(std::string_view text, std::string_view needle) {
  std::size_t found = 0;
  for (std::size_t at = text.find(needle); at != std::string_view::npos; at = text.find(needle, at + 1))
    ++found;
  return found;
}

std::string decoded(std::string_view coding, std::string_view bytes) {
  auto decoder = wire::ContentDecoder::make(coding, std::size_t{1} << 30U);
  std::string out;
  if (!decoder || !(*decoder)->feed(bytes, out) || !(*decoder)->finish()) return "(broken)";
  return out;
}

struct Got {
  const Play& play;
  const std::string& bytes;
  const ReadReply& reply;
};

struct Case {
  Fault fault;
  bool stream;
  std::string directives;  // beside the fault
  void (*check)(const Got& got);
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {Fault::CloseBeforeHead, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.bytes, "");
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::ResetBeforeHead, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.bytes, "");
         EXPECT_EQ(got.play.end, PlayEnd::Reset);
       }},
      {Fault::StallBeforeHead, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.bytes, "");
         EXPECT_EQ(got.play.end, PlayEnd::Stall);
       }},
      {Fault::StallInHead, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, StartsWith("HTTP/1.1 200 OK\r\n"));
         EXPECT_STREQ(got.reply.error, "incomplete head");
         EXPECT_EQ(got.play.end, PlayEnd::Stall);
       }},
      {Fault::StallAfterHead, kStream, "",
       [](const Got& got) {
         EXPECT_TRUE(got.bytes.ends_with("\r\n\r\n"));
         EXPECT_EQ(got.reply.body, "");
         EXPECT_EQ(got.play.end, PlayEnd::Stall);
       }},
      {Fault::StallAfterContent, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(text_of(events_of(got.reply.body)), "Hello");
         EXPECT_EQ(got.play.end, PlayEnd::Stall);
       }},
      {Fault::CloseMidBody, kStream, "+at=3",
       [](const Got& got) {
         EXPECT_EQ(events_of(got.reply.body).size(), 3U);
         EXPECT_FALSE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
         EXPECT_FALSE(got.play.complete);
       }},
      {Fault::ResetMidBody, kPlain, "+at=10",
       [](const Got& got) {
         EXPECT_EQ(got.reply.body.size(), 10U);
         EXPECT_FALSE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::Reset);
       }},
      {Fault::StallMidBody, kStream, "+at_byte=7",
       [](const Got& got) {
         EXPECT_EQ(got.reply.body, "data: {");
         EXPECT_EQ(got.play.end, PlayEnd::Stall);
       }},
      {Fault::KeepAliveLie, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("connection"), "keep-alive");
         EXPECT_TRUE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::CloseOnReuse, kPlain, "",
       [](const Got& got) {
         EXPECT_TRUE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::CloseOnReuse);
       }},
      // What is early about it is the connection's business; see provider_simulator_test.cc.
      {Fault::EarlyReply, kPlain, "+status=413",
       [](const Got& got) { EXPECT_EQ(got.reply.head.status, 413); }},
      {Fault::Http10, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, StartsWith("HTTP/1.0 200 OK\r\n"));
         EXPECT_EQ(got.reply.head.framing.kind, wire::Framing::Kind::UntilClose);
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::Junk, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, StartsWith("SSH-2.0"));
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::HugeHead, kPlain, "", [](const Got& got) { EXPECT_GT(got.bytes.size(), 1024U * 1024); }},
      {Fault::Continue100, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
       }},
      {Fault::EarlyHints103, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, StartsWith("HTTP/1.1 103 Early Hints\r\nlink: "));
         EXPECT_THAT(got.bytes, HasSubstr("\r\n\r\nHTTP/1.1 200 OK\r\n"));
       }},
      {Fault::InsufficientQuota, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 429);
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("error", "code")->string(), "insufficient_quota");
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("error", "type")->string(), "insufficient_quota");
       }},
      {Fault::ContextLength, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 400);
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("error", "code")->string(), "context_length_exceeded");
       }},
      {Fault::ContentFilter, kPlain, "+vendor=azure",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 400);
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("error", "code")->string(), "content_filter");
       }},
      {Fault::EmptyRoleOnly, kPlain, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, HasSubstr(R"("message":{"role":"assistant"})")); }},
      {Fault::EmptyNull, kPlain, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, HasSubstr(R"("content":null)")); }},
      {Fault::EmptyBlank, kStream, "",
       [](const Got& got) {
         const std::string text = text_of(events_of(got.reply.body));
         EXPECT_FALSE(text.empty());
         EXPECT_EQ(text.find_first_not_of(" \n\t"), std::string::npos);
       }},
      {Fault::EmptyReasoningOnly, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, HasSubstr(R"("content":"","reasoning_content":"Thinking)"));
       }},
      {Fault::EmptyNoChoices, kPlain, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, HasSubstr(R"("choices":[])")); }},
      {Fault::EmptyBody, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 200);
         EXPECT_EQ(got.reply.head.fields.find("content-length"), "0");
         EXPECT_EQ(got.reply.body, "");
       }},
      {Fault::Html, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 200);
         EXPECT_EQ(got.reply.head.fields.find("content-type"), "text/html; charset=UTF-8");
         EXPECT_THAT(got.reply.body, StartsWith("<!DOCTYPE html>"));
       }},
      {Fault::WrongType, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-type"), "text/plain");
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::NoContent, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 204);
         EXPECT_TRUE(got.bytes.ends_with("\r\n\r\n"));
         EXPECT_FALSE(got.reply.head.fields.find("content-length"));
       }},
      {Fault::Redirect, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 302);
         EXPECT_TRUE(got.reply.head.fields.find("location"));
       }},
      {Fault::Error200, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.status, 200);
         EXPECT_THAT(got.reply.body, StartsWith(R"({"error":{)"));
       }},
      {Fault::ErrorFirst, kStream, "",
       [](const Got& got) {
         const auto events = events_of(got.reply.body);
         ASSERT_EQ(events.size(), 1U);
         EXPECT_THAT(events[0].data, StartsWith(R"({"error":{)"));
         EXPECT_TRUE(got.reply.framed);
       }},
      {Fault::ErrorMiddle, kStream, "+at=4",
       [](const Got& got) {
         const auto events = events_of(got.reply.body);
         ASSERT_EQ(events.size(), 5U);
         EXPECT_EQ(text_of(events), "Hello! I");
         EXPECT_THAT(events[4].data, StartsWith(R"({"error":{)"));
       }},
      {Fault::ErrorLast, kStream, "+vendor=openrouter",
       [](const Got& got) {
         const auto events = events_of(got.reply.body);
         EXPECT_EQ(text_of(events), kText);
         ASSERT_GT(events.size(), 3U);
         EXPECT_THAT(events[events.size() - 3].data, HasSubstr(R"("finish_reason":"stop")"));
         EXPECT_THAT(events[events.size() - 2].data, HasSubstr(R"("error":{"code":500)"));
         EXPECT_EQ(events.back().data, "[DONE]");
       }},
      {Fault::TruncatedJson, kPlain, "",
       [](const Got& got) {
         EXPECT_TRUE(got.reply.framed) << "the frame is whole, only the JSON is not";
         EXPECT_TRUE(wire::check_json(got.reply.body));
       }},
      {Fault::LengthTooLong, kPlain, "",
       [](const Got& got) {
         EXPECT_FALSE(wire::check_json(got.reply.body)) << "the whole answer is there";
         EXPECT_FALSE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::LengthTooShort, kPlain, "",
       [](const Got& got) {
         EXPECT_TRUE(wire::check_json(got.reply.body));
         EXPECT_FALSE(wire::check_json(got.reply.body + got.reply.rest));
         EXPECT_EQ(got.play.end, PlayEnd::KeepAlive);
       }},
      {Fault::LengthAndChunked, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, HasSubstr("content-length: "));
         EXPECT_THAT(got.bytes, HasSubstr("transfer-encoding: chunked"));
         EXPECT_NE(got.reply.error, nullptr) << "a strict reader refuses both";
       }},
      {Fault::BadChunk, kStream, "+at=2",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, HasSubstr("\r\nzz\r\ndata: "));
         EXPECT_NE(got.reply.error, nullptr);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::NoLastChunk, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(events_of(got.reply.body).back().data, "[DONE]");
         EXPECT_FALSE(got.reply.framed);
         EXPECT_EQ(got.play.end, PlayEnd::Close);
       }},
      {Fault::ChunkExtensions, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.bytes, HasSubstr(";sim=\"a;b\";last\r\n"));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
         EXPECT_TRUE(got.reply.framed);
       }},
      {Fault::NoDone, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, Not(HasSubstr("[DONE]")));
         EXPECT_THAT(got.reply.body, HasSubstr(R"("finish_reason":"stop")"));
         EXPECT_TRUE(got.reply.framed);
       }},
      {Fault::NoFinish, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
         EXPECT_THAT(got.reply.body, Not(HasSubstr(R"("finish_reason":"stop")")));
         EXPECT_THAT(got.reply.body, Not(HasSubstr("[DONE]")));
         EXPECT_TRUE(got.reply.framed);
       }},
      {Fault::DoubleDone, kStream, "",
       [](const Got& got) { EXPECT_EQ(count(got.reply.body, "data: [DONE]\n\n"), 2U); }},
      {Fault::AfterDone, kStream, "",
       [](const Got& got) {
         const auto events = events_of(got.reply.body);
         EXPECT_EQ(events[events.size() - 2].data, "[DONE]");
         EXPECT_EQ(text_of(events), fmt::format("{}Hello", kText));
       }},
      {Fault::UsageRepeated, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(count(got.reply.body, R"("usage":{)"), events_of(got.reply.body).size() - 1);
       }},
      {Fault::UsageMissing, kStream, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, Not(HasSubstr("\"usage\""))); }},
      {Fault::UsageNegative, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("usage", "prompt_tokens")->integer(), -5);
       }},
      {Fault::UsageAbsurd, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(wire::JsonValue(got.reply.body).at("usage", "prompt_tokens")->integer(),
                   1'000'000'000'000);
       }},
      {Fault::BigEvent, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(text_of(events_of(got.reply.body)).size(), kText.size() + 8U * 1024 * 1024);
       }},
      {Fault::TinyEvents, kStream, "+count=5000",
       [](const Got& got) {
         EXPECT_EQ(text_of(events_of(got.reply.body)), fmt::format("{}{:x<5000}", kText, ""));
         EXPECT_TRUE(got.reply.framed);
       }},
      {Fault::CrOnly, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, Not(HasSubstr("\n")));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::Crlf, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(count(got.reply.body, "\n"), count(got.reply.body, "\r\n"));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::Bom, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith("\xef\xbb\xbf"
                                                "data: "));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::Comments, kStream, "+count=5",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith(": keep-alive\n\n"));
         EXPECT_EQ(count(got.reply.body, ": keep-alive\n\n"), 5U);
       }},
      {Fault::BlankLines, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith("\n         \n\n{"));
         EXPECT_FALSE(wire::check_json(got.reply.body));
       }},
      {Fault::LeadingSpace, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith(" data: {"));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::NoSpace, kStream, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith("data:{"));
         EXPECT_EQ(text_of(events_of(got.reply.body)), kText);
       }},
      {Fault::InvalidUtf8, kStream, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, HasSubstr("caf\xe9 \xff\xfe\"")); }},
      {Fault::LoneSurrogate, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, HasSubstr("\\ud83d\""));
         EXPECT_FALSE(wire::check_json(got.reply.body));
       }},
      {Fault::Nul, kPlain, "",
       [](const Got& got) { EXPECT_THAT(got.reply.body, HasSubstr("nul\\u0000here")); }},
      {Fault::Gzip, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-encoding"), "gzip");
         EXPECT_EQ(text_of(events_of(decoded("gzip", got.reply.body))), kText);
       }},
      {Fault::Deflate, kPlain, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-encoding"), "deflate");
         EXPECT_FALSE(wire::check_json(decoded("deflate", got.reply.body)));
       }},
      {Fault::Br, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-encoding"), "br");
         EXPECT_EQ(text_of(events_of(decoded("br", got.reply.body))), kText);
       }},
      {Fault::Zstd, kStream, "",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-encoding"), "zstd");
         EXPECT_EQ(text_of(events_of(decoded("zstd", got.reply.body))), kText);
       }},
      {Fault::BrokenGzip, kPlain, "",
       [](const Got& got) {
         EXPECT_THAT(got.reply.body, StartsWith("\x1f\x8b"));
         EXPECT_EQ(decoded("gzip", got.reply.body), "(broken)");
       }},
      {Fault::Bomb, kPlain, "+size=52428800",
       [](const Got& got) {
         EXPECT_EQ(got.reply.head.fields.find("content-encoding"), "gzip");
         EXPECT_LT(got.reply.body.size(), 100'000U);
         EXPECT_EQ(decoded("gzip", got.reply.body), "(broken)") << "refused by its ratio";
       }},
  };
  return all;
}

TEST(Faults, EachIsInTheTable) {
  std::set<Fault> seen;
  for (const Case& row : cases()) seen.insert(row.fault);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Fault::Count_));
}

TEST(Faults, EachIsWhatItSaysByteForByte) {
  for (const Case& row : cases()) {
    SCOPED_TRACE(to_string(row.fault));
    const Play play = chat_play(std::string(to_string(row.fault)) + row.directives, row.stream);
    const std::string bytes = bytes_of(play);
    const auto reply = read_reply(bytes);
    const Got got{play, bytes, *reply};
    row.check(got);
  }
}

TEST(Faults, WithoutAnyTheReplyIsWellFramedAndTheConnectionStays) {
  for (const bool stream : {kStream, kPlain}) {
    const Play play = chat_play("none", stream);
    const auto reply = read_reply(bytes_of(play));
    EXPECT_EQ(reply->error, nullptr);
    EXPECT_TRUE(reply->framed);
    EXPECT_EQ(reply->rest, "");
    EXPECT_EQ(play.end, PlayEnd::KeepAlive);
    EXPECT_EQ(play.steps.size(), 1U) << "unpaced answers are one write";
  }
}

TEST(Faults, OfDifferentLayersCombine) {
  const Play play = chat_play("crlf+gzip+no_done+http10", kStream);
  const auto reply = read_reply(bytes_of(play));
  const std::string body = decoded("gzip", reply->body);
  EXPECT_EQ(text_of(events_of(body)), kText);
  EXPECT_THAT(body, Not(HasSubstr("[DONE]")));
  EXPECT_THAT(body, HasSubstr("\r\n\r\n"));
  EXPECT_EQ(reply->head.minor_version, 0);
}

TEST(Faults, ACutAtEveryEventLeavesAnExactPrefix) {
  const auto whole = events_of(read_reply(bytes_of(chat_play("none", kStream)))->body);
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    const Play play = chat_play(fmt::format("reset_mid_body+at={}", at), kStream);
    const auto events = events_of(read_reply(bytes_of(play))->body);
    ASSERT_EQ(events.size(), at);
    for (std::size_t i = 0; i < at; ++i) EXPECT_EQ(events[i].data, whole[i].data);
    EXPECT_EQ(play.end, PlayEnd::Reset);
  }
}

}  // namespace
}  // namespace qq::simulator
