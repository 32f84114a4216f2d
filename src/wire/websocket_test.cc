#include "wire/websocket.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "wire/utf8.h"

namespace qq::wire {
namespace {

using namespace std::string_literals;
using From = WebsocketReader::From;
using MessageKind = WebsocketReader::Event::Kind;

constexpr WebsocketMask kMask = {'\x37', '\xfa', '\x21', '\x3d'};  // of RFC 6455 5.7

// What a reader tells, as text: "text:Hello close:1000:bye error:1002".
std::string told(From from, std::string_view bytes, std::size_t piece = 1'000'000,
                 std::size_t max = 1'000'000) {
  WebsocketReader reader(from, max);
  std::string out;
  const auto tell = [&out](std::string_view what, std::string_view text) {
    if (!out.empty()) out += ' ';
    out.append(what).append(":").append(text);
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view rest = bytes.substr(at, piece);
    for (;;) {
      const auto step = reader.feed(rest);
      rest.remove_prefix(step.consumed);
      if (step.reason != nullptr) {
        tell("error", std::to_string(std::to_underlying(step.error)));
        return out;
      }
      if (!step.event) break;
      switch (step.event->kind) {
        case MessageKind::Text: tell("text", reader.take_message()); break;
        case MessageKind::Ping: tell("ping", step.event->payload); break;
        case MessageKind::Pong: tell("pong", step.event->payload); break;
        case MessageKind::Close:
          tell("close",
               std::to_string(std::to_underlying(step.event->code)) + ":" + std::string(step.event->payload));
          break;
      }
    }
  }
  return out;
}

std::string frame(WebsocketOpcode opcode, std::string_view payload, Fin fin = Fin::Yes) {
  std::string out;
  append_websocket_frame(out, opcode, payload, kMask, fin);
  return out;
}
std::string text(std::string_view payload, Fin fin = Fin::Yes) {
  return frame(WebsocketOpcode::Text, payload, fin);
}
std::string more(std::string_view payload, Fin fin = Fin::Yes) {
  return frame(WebsocketOpcode::Continuation, payload, fin);
}

TEST(WebsocketReader, TheExamplesOfTheRfcAreRead) {
  EXPECT_EQ(told(From::Server, "\x81\x05Hello"s), "text:Hello");
  EXPECT_EQ(told(From::Client, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s), "text:Hello");
  EXPECT_EQ(told(From::Server, "\x01\x03Hel\x80\x02lo"s), "text:Hello");
  EXPECT_EQ(told(From::Server, "\x89\x05Hello"s), "ping:Hello");
  EXPECT_EQ(told(From::Client, "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s), "pong:Hello");
}

TEST(WebsocketReader, EveryFormOfTheLengthIsRead) {
  for (const std::size_t size : {0UZ, 1UZ, 125UZ, 126UZ, 127UZ, 65'535UZ, 65'536UZ, 70'001UZ}) {
    const std::string payload(size, 'x');
    EXPECT_EQ(told(From::Client, text(payload)), "text:" + payload) << size;
  }
}

TEST(WebsocketReader, HoweverTheBytesAreCutTheEventsAreTheSame) {
  const std::string bytes = text("one ", Fin::No) + frame(WebsocketOpcode::Ping, "now") + more("", Fin::No) +
                            more("\xe2\x82") + text("a\xe2\x82\xac") + text(std::string(300, 'y'));
  const std::string good = text("one", Fin::No) + frame(WebsocketOpcode::Ping, "now") + more("", Fin::No) +
                           more(" two") + text(std::string(300, 'y')) +
                           frame(WebsocketOpcode::Close,
                                 "\x03\xe8"
                                 "bye"s);
  EXPECT_EQ(told(From::Client, good),
            "ping:now text:one two text:" + std::string(300, 'y') + " close:1000:bye");
  for (const std::size_t piece : {1UZ, 2UZ, 3UZ, 7UZ, 11UZ, 64UZ}) {
    EXPECT_EQ(told(From::Client, bytes, piece), told(From::Client, bytes)) << piece;
    EXPECT_EQ(told(From::Client, good, piece), told(From::Client, good)) << piece;
  }
}

TEST(WebsocketReader, ACharacterMayBeCutByFragments) {
  EXPECT_EQ(told(From::Client, text("\xe2\x82", Fin::No) + more("\xac")), "text:\xe2\x82\xac");
}

struct FrameAttack {
  const char* what;
  std::string bytes;
  const char* told;
};

TEST(WebsocketReader, WhatTheRfcForbidsEndsTheConnection) {
  const std::vector<FrameAttack> attacks = {
      {"no mask", "\x81\x05Hello"s, "error:1002"},
      {"reserved bit 1, as if compressed", "\xc1\x80\0\0\0\0"s, "error:1002"},
      {"reserved bit 2", "\xa1\x80\0\0\0\0"s, "error:1002"},
      {"reserved bit 3", "\x91\x80\0\0\0\0"s, "error:1002"},
      {"opcode 3", "\x83\x80\0\0\0\0"s, "error:1002"},
      {"opcode 7", "\x87\x80\0\0\0\0"s, "error:1002"},
      {"opcode 11", "\x8b\x80\0\0\0\0"s, "error:1002"},
      {"opcode 15", "\x8f\x80\0\0\0\0"s, "error:1002"},
      {"a fragmented ping", "\x09\x80\0\0\0\0"s, "error:1002"},
      {"a fragmented close", "\x08\x80\0\0\0\0"s, "error:1002"},
      {"a ping of 126 bytes", "\x89\xfe\x00\x7e"s, "error:1002"},
      {"a close of 64 bits of length", "\x88\xff"s, "error:1002"},
      {"a continuation of nothing", more("x"), "error:1002"},
      {"a continuation of a whole message", text("a") + more("b"), "text:a error:1002"},
      {"text inside a message", text("a", Fin::No) + text("b"), "error:1002"},
      {"binary inside a message", text("a", Fin::No) + frame(WebsocketOpcode::Binary, "b"), "error:1002"},
      {"binary", frame(WebsocketOpcode::Binary, "b"), "error:1003"},
      {"16 bits for 125", "\x81\xfe\x00\x7d\0\0\0\0"s, "error:1002"},
      {"64 bits for 65535", "\x81\xff\0\0\0\0\0\0\xff\xff\0\0\0\0"s, "error:1002"},
      {"the top bit of 64", "\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0"s, "error:1002"},
      {"all the bits of 63", "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0"s, "error:1009"},
      {"a close of one byte", frame(WebsocketOpcode::Close, "\x03"), "error:1002"},
      {"close 999", frame(WebsocketOpcode::Close, "\x03\xe7"), "error:1002"},
      {"close 1004", frame(WebsocketOpcode::Close, "\x03\xec"), "error:1002"},
      {"close 1005", frame(WebsocketOpcode::Close, "\x03\xed"), "error:1002"},
      {"close 1006", frame(WebsocketOpcode::Close, "\x03\xee"), "error:1002"},
      {"close 1015", frame(WebsocketOpcode::Close, "\x03\xf7"), "error:1002"},
      {"close 2999", frame(WebsocketOpcode::Close, "\x0b\xb7"), "error:1002"},
      {"close 5000", frame(WebsocketOpcode::Close, "\x13\x88"), "error:1002"},
      {"close 0", frame(WebsocketOpcode::Close, "\0\0"s), "error:1002"},
      {"a reason that is no UTF-8", frame(WebsocketOpcode::Close, "\x03\xe8\xff"), "error:1007"},
      {"text that is no UTF-8", text("a\xff"), "error:1007"},
      {"an overlong slash", text("\xc0\xaf"), "error:1007"},
      {"a surrogate", text("\xed\xa0\x80"), "error:1007"},
      {"half a character", text("\xe2\x82"), "error:1007"},
      {"half a character in fragments", text("\xe2", Fin::No) + more("\x82"), "error:1007"},
  };
  for (const FrameAttack& attack : attacks) {
    EXPECT_EQ(told(From::Client, attack.bytes), attack.told) << attack.what;
    EXPECT_EQ(told(From::Client, attack.bytes, 1), attack.told) << attack.what << ", byte by byte";
  }
  EXPECT_EQ(told(From::Server, text("x")), "error:1002") << "a server's frame is not masked";
}

TEST(WebsocketReader, CloseCodesOfTheRegistryAndOfApplicationsAreTaken) {
  for (const unsigned code :
       {1000U, 1001U, 1002U, 1003U, 1007U, 1008U, 1009U, 1010U, 1011U, 1012U, 1014U, 3000U, 4999U}) {
    std::string bytes;
    append_websocket_close(bytes, WebsocketClose{static_cast<std::uint16_t>(code)}, "why", kMask);
    EXPECT_EQ(told(From::Client, bytes), "close:" + std::to_string(code) + ":why");
  }
  EXPECT_EQ(told(From::Client, frame(WebsocketOpcode::Close, {})), "close:1005:");
}

TEST(WebsocketReader, NothingIsReadBehindACloseOrAnError) {
  EXPECT_EQ(told(From::Client, frame(WebsocketOpcode::Close, {}) + text("more")), "close:1005:");
  WebsocketReader reader(From::Client, 100);
  const auto bad = reader.feed("\xff\xff");
  ASSERT_NE(bad.reason, nullptr);
  const auto after = reader.feed(text("x"));
  EXPECT_EQ(after.consumed, 0U);
  EXPECT_FALSE(after.event);
  EXPECT_EQ(after.reason, nullptr);
}

TEST(WebsocketReader, AMessageBeyondTheLimitIsRefusedByItsHead) {
  EXPECT_EQ(told(From::Client, text(std::string(100, 'x')), 1'000, 100), "text:" + std::string(100, 'x'));
  EXPECT_EQ(told(From::Client, text(std::string(101, 'x')).substr(0, 6), 1'000, 100), "error:1009");
  const std::string parts = text(std::string(60, 'x'), Fin::No) + more(std::string(41, 'x')).substr(0, 6);
  EXPECT_EQ(told(From::Client, parts, 1'000, 100), "error:1009") << "fragments count together";
  const std::string pinged =
      text(std::string(60, 'x'), Fin::No) + frame(WebsocketOpcode::Ping, std::string(125, 'p'));
  EXPECT_EQ(told(From::Client, pinged, 1'000, 100), "ping:" + std::string(125, 'p'))
      << "control frames do not";
}

TEST(WebsocketReader, AnAnnouncedLengthTakesNoMemory) {
  WebsocketReader reader(From::Client, 1U << 30U);
  const auto step = reader.feed("\x81\xff\0\0\0\0\x3f\xff\xff\xff\1\2\3\4ab"s);
  EXPECT_FALSE(step.event);
  EXPECT_TRUE(reader.in_message());
  EXPECT_EQ(reader.message_bytes(), 2U);
  EXPECT_EQ(reader.held(), 2U);
}

TEST(WebsocketReader, ADiscardedMessageIsPassedOverAndTheNextIsRead) {
  WebsocketReader reader(From::Client, 1'000);
  const std::string bytes = text("\xff some", Fin::No) + more("\xff rest") + text("next");
  auto step = reader.feed(std::string_view(bytes).substr(0, 8));
  ASSERT_TRUE(reader.in_message());
  reader.discard_message();
  EXPECT_EQ(reader.held(), 0U);
  std::string_view rest = std::string_view(bytes).substr(step.consumed);
  step = reader.feed(rest);
  ASSERT_TRUE(step.event);
  EXPECT_EQ(reader.take_message(), "");
  EXPECT_FALSE(reader.in_message());
  EXPECT_EQ(reader.message_bytes(), 12U) << "of all of it, kept or not";
  rest.remove_prefix(step.consumed);
  step = reader.feed(rest);
  ASSERT_TRUE(step.event);
  EXPECT_EQ(reader.take_message(), "next");
  EXPECT_EQ(reader.message_bytes(), 4U);
}

TEST(WebsocketReader, MessagesOfAllSizesAndFragmentsComeBack) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::string whole;
    std::string bytes;
    const std::uint64_t fragments = 1 + random.below(5);
    for (std::uint64_t i = 0; i < fragments; ++i) {
      std::string part(random.below(400), ' ');
      for (char& c : part) c = static_cast<char>('a' + random.below(26));
      whole += part;
      WebsocketMask mask;
      for (char& c : mask) c = static_cast<char>(random.below(256));
      append_websocket_frame(bytes, i == 0 ? WebsocketOpcode::Text : WebsocketOpcode::Continuation, part,
                             mask, i + 1 == fragments ? Fin::Yes : Fin::No);
    }
    ASSERT_EQ(told(From::Client, bytes, 1 + random.below(300)), "text:" + whole) << round;
  }
}

TEST(WebsocketFrames, AServersFramesAreWrittenAsTheRfcSays) {
  std::string out;
  append_websocket_frame(out, WebsocketOpcode::Text, "Hello");
  EXPECT_EQ(out, "\x81\x05Hello");
  out.clear();
  append_websocket_frame(out, WebsocketOpcode::Text, "Hello", kMask);
  EXPECT_EQ(out, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s);
  std::array<char, 10> head;
  EXPECT_EQ(websocket_head(WebsocketOpcode::Binary, 256, head.data()), "\x82\x7e\x01\x00"s);
  EXPECT_EQ(websocket_head(WebsocketOpcode::Binary, 65'536, head.data()), "\x82\x7f\0\0\0\0\0\x01\0\0"s);
  EXPECT_EQ(websocket_head(WebsocketOpcode::Continuation, 0, head.data(), Fin::No), "\0\0"s);
}

TEST(WebsocketFrames, AReasonIsCutBetweenCharacters) {
  std::string out;
  std::string reason;
  while (reason.size() < 130) reason += "\xe2\x82\xac";
  append_websocket_close(out, WebsocketClose::GoingAway, reason);
  EXPECT_EQ(told(From::Server, out), "close:1001:" + reason.substr(0, 123));
  reason.insert(0, "a");
  out.clear();
  append_websocket_close(out, WebsocketClose::GoingAway, reason);
  EXPECT_EQ(told(From::Server, out), "close:1001:" + reason.substr(0, 121));
}

std::string mended(std::string_view text, std::size_t piece) {
  Utf8Mender mender;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece) mender.feed(text.substr(at, piece), out);
  mender.finish(out);
  return out;
}

TEST(Utf8Mender, TextComesThroughHoweverItIsCut) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x89z";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(mended(text, piece), text) << piece;
}

TEST(Utf8Mender, WhatIsIllFormedIsReplacedHoweverItIsCut) {
  const std::string text = "a\xff\xe2\x82z\xed\xa0\x80\xf0\x9f\x8c";
  const std::string good = "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(mended(text, piece), good) << piece;
  EXPECT_TRUE(is_utf8(good));
  EXPECT_FALSE(is_utf8(text));
}

}  // namespace
}  // namespace qq::wire
