#include "load/message_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace qq::bench {
namespace {

using Kind = MessageReader::Kind;
using State = MessageReader::State;

// Feeds `bytes` in pieces of `step`, and gives back the body.
std::string read(MessageReader& reader, std::string_view bytes, std::size_t step) {
  std::string body;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      const std::size_t used = reader.feed(piece, [&](std::string_view part) { body += part; });
      if (used == 0) return body;
      piece.remove_prefix(used);
    }
  }
  return body;
}

class InPieces : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, InPieces, testing::Values(1, 2, 3, 7, 1000));

TEST_P(InPieces, ReadsARequestWithALength) {
  MessageReader reader(Kind::Request);
  EXPECT_EQ(read(reader, "POST / HTTP/1.1\r\nHost: x\r\ncontent-length: 5\r\n\r\nhello", GetParam()),
            "hello");
  EXPECT_EQ(reader.state(), State::Done);
  EXPECT_TRUE(reader.keep_alive());
}

TEST_P(InPieces, ReadsAChunkedAnswerWithATrailer) {
  MessageReader reader(Kind::Answer);
  const std::string_view answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nx: y\r\n\r\n";
  EXPECT_EQ(read(reader, answer, GetParam()), "hello!");
  EXPECT_EQ(reader.state(), State::Done);
  EXPECT_EQ(reader.status(), 200);
}

TEST_P(InPieces, AnswerWithoutALengthEndsWithTheConnection) {
  MessageReader reader(Kind::Answer);
  EXPECT_EQ(read(reader, "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\noops", GetParam()), "oops");
  EXPECT_EQ(reader.state(), State::Body);
  reader.end_of_stream();
  EXPECT_EQ(reader.state(), State::Done);
  EXPECT_EQ(reader.status(), 502);
  EXPECT_FALSE(reader.keep_alive());
}

TEST_P(InPieces, StopsAtTheBorderOfAMessage) {
  MessageReader reader(Kind::Request);
  EXPECT_EQ(read(reader, "GET / HTTP/1.1\r\n\r\nGET", GetParam()), "");
  EXPECT_EQ(reader.state(), State::Done);
}

TEST(MessageReader, CutAnswerIsBroken) {
  MessageReader reader(Kind::Answer);
  read(reader, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal", 1000);
  reader.end_of_stream();
  EXPECT_EQ(reader.state(), State::Broken);
}

TEST(MessageReader, WhatIsNoAnswerIsBroken) {
  MessageReader reader(Kind::Answer);
  read(reader, "SSH-2.0-OpenSSH\r\n\r\n", 1000);
  EXPECT_EQ(reader.state(), State::Broken);
}

TEST(MessageReader, BadChunkSizeIsBroken) {
  MessageReader reader(Kind::Answer);
  read(reader, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 1000);
  EXPECT_EQ(reader.state(), State::Broken);
}

}  // namespace
}  // namespace qq::bench
