#include "wire/websocket_handshake.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace qq::wire {
namespace {

constexpr std::string_view kGood =
    "host: g\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// The head's views point into `bytes`.
class Handshake : public ::testing::Test {
 protected:
  const RequestHead& head(std::string_view fields,
                          std::string_view line = "GET /v1/chat/completions HTTP/1.1") {
    bytes_ = fmt::format("{}\r\n{}\r\n", line, fields);
    head_ = {};
    EXPECT_EQ(read_request_head(bytes_, {}, head_).kind, HeadVerdict::Kind::Complete) << bytes_;
    return head_;
  }
  int status(std::string_view fields, std::string_view line = "GET /v1/chat/completions HTTP/1.1") {
    return read_websocket_opening(head(fields, line)).status;
  }
  std::string without(std::string_view name) {
    std::string text(kGood);
    const std::size_t at = text.find(name);
    return text.erase(at, text.find("\r\n", at) + 2 - at);
  }
  std::string bytes_;
  RequestHead head_;
};

TEST_F(Handshake, TheKeyOfTheRfcIsAccepted) {
  EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_TRUE(asks_for_websocket(head(kGood)));
  const auto opening = read_websocket_opening(head_);
  EXPECT_EQ(opening.status, 101);
  EXPECT_EQ(opening.key, "dGhlIHNhbXBsZSBub25jZQ==");
}

TEST_F(Handshake, ListsAreSearchedWithoutRegardToCase) {
  EXPECT_TRUE(asks_for_websocket(head("host: g\r\nupgrade: h2c, WebSocket\r\n")));
  EXPECT_EQ(status(without("connection") + "Connection: keep-alive , UPGRADE\r\n"), 101);
  EXPECT_EQ(status(without("connection") + "Connection: keep-alive\r\nconnection: upgrade\r\n"), 101);
}

TEST_F(Handshake, OtherRequestsDoNotAskForIt) {
  EXPECT_FALSE(asks_for_websocket(head("host: g\r\n")));
  EXPECT_FALSE(asks_for_websocket(head("host: g\r\nupgrade: h2c\r\n")));
  EXPECT_FALSE(asks_for_websocket(head("host: g\r\nupgrade: websockets\r\n")));
  EXPECT_FALSE(asks_for_websocket(head(kGood, "POST /v1/chat/completions HTTP/1.1")));
}

TEST_F(Handshake, WhatIsMissingOrWrongIsRefused) {
  EXPECT_EQ(status(without("connection")), 400);
  EXPECT_EQ(status(without("sec-websocket-key")), 400);
  EXPECT_EQ(status(std::string(kGood) + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"), 400);
  EXPECT_EQ(status(without("sec-websocket-key") + "sec-websocket-key: short\r\n"), 400);
  EXPECT_EQ(status(without("sec-websocket-key") + "sec-websocket-key: YQ==\r\n"), 400) << "one byte";
  EXPECT_EQ(status(without("sec-websocket-version")), 426);
  EXPECT_EQ(status(without("sec-websocket-version") + "sec-websocket-version: 8\r\n"), 426);
  EXPECT_EQ(status(std::string(kGood) + "content-length: 1\r\n"), 400);
  EXPECT_EQ(status(kGood, "GET / HTTP/1.0"), 400);
}

TEST_F(Handshake, SubprotocolsAreFoundInAllTheirLists) {
  head(std::string(kGood) +
       "sec-websocket-protocol: chat-completions, key.one\r\nSec-WebSocket-Protocol:  key.two ,x\r\n");
  EXPECT_TRUE(offers_protocol(head_.fields, "chat-completions"));
  EXPECT_FALSE(offers_protocol(head_.fields, "chat"));
  EXPECT_TRUE(offers_protocol(head_.fields, "x"));
  const OfferedProtocols keys = offered_protocols(head_.fields, "key.");
  EXPECT_EQ(keys.count, 2U);
  EXPECT_EQ(keys.first, "key.one");
  EXPECT_EQ(offered_protocols(head_.fields, "none.").count, 0U);
}

// --- the client's half ---

// Null: nothing is wrong.
const char* wrong_in(std::string_view status, std::string_view fields) {
  const std::string bytes = fmt::format("HTTP/1.1 {} X\r\n{}\r\n", status, fields);
  ResponseHead answer;
  EXPECT_EQ(read_response_head(bytes, {}, answer).kind, HeadVerdict::Kind::Complete) << bytes;
  return check_websocket_reply(answer, "dGhlIHNhbXBsZSBub25jZQ==");
}

TEST(ClientHandshake, AsksWithItsKeyAndOffersNothing) {
  std::string lines;
  append_websocket_request(lines, "KEY");
  EXPECT_EQ(lines,
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
            "sec-websocket-key: KEY\r\n");
}

TEST(ClientHandshake, OnlyTheAnswerToItsKeyIsAnUpgrade) {
  const std::string good =
      "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
  EXPECT_EQ(wrong_in("101", good), nullptr);
  EXPECT_NE(wrong_in("200", good + "content-length: 0\r\n"), nullptr);
  EXPECT_NE(wrong_in("101", good + "sec-websocket-extensions: permessage-deflate\r\n"), nullptr);
  EXPECT_NE(wrong_in("101", good + "sec-websocket-protocol: realtime\r\n"), nullptr);
  for (const std::string_view line : {"Upgrade: W", "Connection: k", "Sec-WebSocket-Accept: s"}) {
    std::string without = good;
    const std::size_t at = without.find(line);
    without.erase(at, without.find("\r\n", at) + 2 - at);
    EXPECT_NE(wrong_in("101", without), nullptr) << line;
  }
  std::string other = good;
  other[other.find("s3pP")] = 'S';
  EXPECT_NE(wrong_in("101", other), nullptr);
}

}  // namespace
}  // namespace qq::wire
