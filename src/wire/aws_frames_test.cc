#include "wire/aws_frames.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

namespace qq::wire {
namespace {

void put(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift & 0xffU);
}
std::uint32_t sum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}
std::string text_header(std::string_view name, std::string_view value) {
  std::string out(1, static_cast<char>(name.size()));
  out.append(name).append(1, '\x07');
  out += static_cast<char>(value.size() >> 8U);
  out += static_cast<char>(value.size() & 0xffU);
  return out.append(value);
}
std::string frame_of(std::string_view headers, std::string_view payload) {
  std::string out;
  put(out, static_cast<std::uint32_t>(16 + headers.size() + payload.size()));
  put(out, static_cast<std::uint32_t>(headers.size()));
  put(out, sum_of(out));
  out.append(headers).append(payload);
  put(out, sum_of(out));
  return out;
}

std::vector<std::string> payloads(std::string_view stream, const std::vector<std::size_t>& cuts = {}) {
  std::vector<std::string> out;
  AwsFrames frames;
  std::size_t from = 0;
  const auto feed = [&](std::string_view bytes) {
    AwsFrame frame;
    while (frames.next(bytes, frame)) out.emplace_back(frame.payload);
    EXPECT_TRUE(bytes.empty() || frames.broken());
  };
  for (const std::size_t cut : cuts) {
    feed(stream.substr(from, cut - from));
    from = cut;
  }
  feed(stream.substr(from));
  if (frames.broken()) out.emplace_back("broken");
  return out;
}

TEST(AwsFrames, AreTheSameHoweverTheBytesAreSplit) {
  const std::string stream = frame_of(text_header(":event-type", "chunk"), "first") + frame_of("", "") +
                             frame_of(text_header("a", "b"), std::string(300, 'x'));
  const std::vector<std::string> expected{"first", "", std::string(300, 'x')};
  EXPECT_EQ(payloads(stream), expected);
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    every.push_back(cut);
    EXPECT_EQ(payloads(stream, {cut}), expected) << cut;
  }
  EXPECT_EQ(payloads(stream, every), expected);
}

TEST(AwsFrames, HeadersAreFoundBehindThoseOfOtherTypes) {
  std::string headers;
  headers += std::string("\x01t\x00", 3);                  // true
  headers += std::string("\x01i\x04\x00\x00\x00\x07", 7);  // an integer
  headers += std::string(
      "\x01"
      "b\x06\x00\x02\x01\x02",
      7);  // bytes
  headers += text_header(":message-type", "exception");
  const std::string stream = frame_of(headers, "{}");
  AwsFrames frames;
  AwsFrame frame;
  std::string_view bytes = stream;
  ASSERT_TRUE(frames.next(bytes, frame));
  EXPECT_EQ(frame.header(":message-type"), "exception");
  EXPECT_EQ(frame.header("i"), "") << "no text";
  EXPECT_EQ(frame.header("absent"), "");
  EXPECT_TRUE(frames.at_border());
}

TEST(AwsFrames, WrongSumsAndLengthsBreakTheStream) {
  const std::string good = frame_of("", "payload");
  for (const std::size_t at : {std::size_t{1}, std::size_t{9}, std::size_t{13}, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_EQ(payloads(bad + good), std::vector<std::string>{"broken"}) << at;
  }
  std::string long_headers;
  put(long_headers, 20);
  put(long_headers, 5);
  put(long_headers, sum_of(long_headers));
  EXPECT_EQ(payloads(long_headers), std::vector<std::string>{"broken"});
}

TEST(AwsFrames, AFrameThatIsTooBigIsNotKept) {
  AwsFrames frames(64);
  AwsFrame frame;
  const std::string big = frame_of("", std::string(100, 'x'));
  std::string_view bytes = big;
  EXPECT_FALSE(frames.next(bytes, frame));
  EXPECT_TRUE(frames.broken());
}

TEST(AwsFrames, HeadersThatAreCutShortAreNone) {
  for (const std::string& headers : {std::string("\x05"
                                                 "ab"),
                                     std::string("\x01"
                                                 "a\x07\x00",
                                                 4),
                                     std::string("\x01"
                                                 "a\x07\x00\x09x",
                                                 6),
                                     std::string("\x01")}) {
    EXPECT_EQ((AwsFrame{headers, {}}.header("a")), "");
  }
}

}  // namespace
}  // namespace qq::wire
