#include "wire/body_reader.h"

namespace qq::wire {
namespace {

using Kind = Framing::Kind;

struct Read {
  std::string payload;
  std::string rest;
  std::string error;
  bool done = false;
};

Read read(Framing framing, std::string_view bytes, std::size_t piece) {
  Read result;
  BodyReader reader(framing);
  std::size_t at = 0;
  while (!reader.done() && at < bytes.size()) {
    const auto step = reader.feed(bytes.substr(at, piece));
    at += step.consumed;
    result.payload += step.payload;
    if (step.error != nullptr) {
      result.error = step.error;
      break;
    }
  }
  EXPECT_EQ(reader.payload_bytes(), result.payload.size());
  result.rest = bytes.substr(at);
  result.done = reader.done();
  return result;
}

TEST(BodyReader, WithoutBodyOrWithLengthZeroIsDoneAtOnce) {
  EXPECT_TRUE(BodyReader().done());
  EXPECT_TRUE(BodyReader({Kind::Length, 0}).done());
  BodyReader reader;
  EXPECT_EQ(reader.feed("next").consumed, 0U);
  EXPECT_TRUE(reader.finish());
}

TEST(BodyReader, TakesExactlyItsLengthAsViews) {
  const std::string_view bytes = "abcdeGET";
  BodyReader reader({Kind::Length, 5});
  const auto step = reader.feed(bytes);
  EXPECT_EQ(step.payload.data(), bytes.data());
  EXPECT_EQ(step.payload, "abcde");
  EXPECT_EQ(step.consumed, 5U);
  EXPECT_TRUE(reader.done());
}

TEST(BodyReader, OneCallTakesAWholeSmallChunkAndTheEnd) {
  BodyReader reader({Kind::Chunked});
  const auto step = reader.feed("3\r\nabc\r\n0\r\n\r\nGET");
  EXPECT_EQ(step.payload, "abc");
  EXPECT_EQ(step.consumed, 13U);
  EXPECT_TRUE(reader.done());
}

TEST(BodyReader, GivesOneChunkAPieceAndTheSameBytesHoweverSplit) {
  const std::string_view bytes =
      "1\r\na\r\n10;x=\"\\\"\"\r\n0123456789abcdef\r\n2\r\nbc\r\n0\r\nT: v\r\n\r\nrest";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const auto result = read({Kind::Chunked}, bytes, piece);
    EXPECT_EQ(result.payload, "a0123456789abcdefbc") << piece;
    EXPECT_EQ(result.rest, "rest") << piece;
    EXPECT_TRUE(result.done) << piece;
  }
}

TEST(BodyReader, GivesThePayloadBeforeABadByteAndThenTheError) {
  BodyReader reader({Kind::Chunked});
  const std::string_view bytes = "3\r\nabcX";
  const auto step = reader.feed(bytes);
  EXPECT_EQ(step.payload, "abc");
  EXPECT_EQ(step.error, nullptr);
  const auto next = reader.feed(bytes.substr(step.consumed));
  EXPECT_STREQ(next.error, "chunk not followed by CRLF");
  EXPECT_TRUE(next.payload.empty());
  EXPECT_NE(reader.feed("\r\n").error, nullptr) << "dead from then on";
}

TEST(BodyReader, MillionOneByteChunksWithoutExtensionsAreFine) {
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += "1\r\nx\r\n";
  bytes += kLastChunk;
  const auto result = read({Kind::Chunked}, bytes, bytes.size());
  EXPECT_TRUE(result.done);
  EXPECT_EQ(result.payload.size(), 1'000'000U);
}

TEST(BodyReader, ExtensionsAltogetherStayBelowSixteenKibibytes) {
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += "1;a\r\nx\r\n";
  const auto result = read({Kind::Chunked}, bytes, bytes.size());
  EXPECT_EQ(result.error, "chunk extensions too large");
  EXPECT_EQ(result.payload.size(), 16U * 1024 / 2);
}

TEST(BodyReader, EndOfConnectionEndsOnlyABodyThatLastsUntilClose) {
  BodyReader until_close({Kind::UntilClose});
  EXPECT_EQ(until_close.feed("abc").payload, "abc");
  EXPECT_FALSE(until_close.done());
  EXPECT_TRUE(until_close.finish());
  EXPECT_TRUE(until_close.done());

  BodyReader length({Kind::Length, 4});
  length.feed("abc");
  EXPECT_FALSE(length.finish());
  EXPECT_FALSE(length.done());

  BodyReader chunked({Kind::Chunked});
  chunked.feed("3\r\nabc\r\n0\r\n");
  EXPECT_FALSE(chunked.finish());
}

TEST(BodyReader, OneWholeChunkIsTakenAtOnceAndNothingElseIs) {
  BodyReader reader({Kind::Chunked});
  EXPECT_EQ(reader.take_whole_chunk("3\r\nabc\r\n"), "abc");
  EXPECT_EQ(reader.take_whole_chunk("00A\r\n0123456789\r\n"), "0123456789");
  EXPECT_EQ(reader.payload_bytes(), 13U);
  for (const std::string_view other :
       {"", "3", "3\r", "3\r\n", "3\r\nabc", "3\r\nabc\r", "3\r\nabc\n\n", "3\r\nabcd\r\n", "3\r\nabc\r\n1",
        "3\nabc\r\n", "3;x\r\nabc\r\n", "x\r\nabc\r\n", "\r\nabc\r\n", "0\r\n\r\n", "00000003\r\nabc\r\n",
        "fffffff\r\nabc\r\n", "3\r\nabc\r\n0\r\n\r\n", "\r\n3\r\nabc\r\n"}) {
    EXPECT_TRUE(reader.take_whole_chunk(other).empty()) << other;
  }
  EXPECT_EQ(reader.payload_bytes(), 13U) << "what was not taken changed nothing";
  EXPECT_EQ(reader.feed("1").consumed, 1U);
  EXPECT_TRUE(reader.take_whole_chunk("3\r\nabc\r\n").empty()) << "in the middle of a size";
  EXPECT_EQ(reader.feed("\r\nx\r\n0\r\n\r\n").payload, "x");
  EXPECT_TRUE(reader.done());
  EXPECT_TRUE(reader.take_whole_chunk("3\r\nabc\r\n").empty());
  EXPECT_TRUE(BodyReader({Kind::Length, 20}).take_whole_chunk("3\r\nabc\r\n").empty());
}

TEST(ChunkHeader, IsReadBackByTheReader) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{4095}, std::size_t{65536}}) {
    char buffer[18];
    std::string bytes(chunk_header(size, buffer));
    bytes += std::string(size, 'x');
    bytes += kChunkEnd;
    bytes += kLastChunk;
    const auto result = read({Kind::Chunked}, bytes, 1000);
    EXPECT_TRUE(result.done) << size;
    EXPECT_EQ(result.payload.size(), size);
  }
  char buffer[18];
  EXPECT_EQ(chunk_header(0xabc, buffer), "abc\r\n");
  EXPECT_EQ(chunk_header(~std::size_t{0}, buffer), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace qq::wire
