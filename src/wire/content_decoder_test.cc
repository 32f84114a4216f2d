#include "wire/content_decoder.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include "base/random.h"

namespace qq::wire {
namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 40;

std::string deflate_as(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzip(std::string_view text) {
  return deflate_as(text, 16 + MAX_WBITS);
}
std::string zlib(std::string_view text) {
  return deflate_as(text, MAX_WBITS);
}
std::string bare_deflate(std::string_view text) {
  return deflate_as(text, -MAX_WBITS);
}

std::string brotli(std::string_view text) {
  std::size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 16;
  std::string out(size, '\0');
  EXPECT_TRUE(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, text.size(),
                                    reinterpret_cast<const std::uint8_t*>(text.data()), &size,
                                    reinterpret_cast<std::uint8_t*>(out.data())));
  out.resize(size);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  return out;
}

struct Coding {
  const char* name;
  std::string (*encode)(std::string_view);
};
constexpr std::array<Coding, 7> kCodings{{{"gzip", gzip},
                                          {"x-gzip", gzip},
                                          {"GZip", gzip},
                                          {"deflate", zlib},
                                          {"deflate", bare_deflate},
                                          {"br", brotli},
                                          {"zstd", zstd}}};

struct Decoded {
  bool ok = true;
  std::string text;
  std::string error;
};

Decoded decode(std::string_view coding, std::string_view bytes, std::size_t piece,
               std::size_t output_max = kNoLimit) {
  auto decoder = ContentDecoder::make(coding, output_max);
  EXPECT_TRUE(decoder);
  Decoded result;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto fed = (*decoder)->feed(bytes.substr(at, piece), result.text);
    if (!fed) {
      EXPECT_EQ(fed.error().kind, ErrorKind::DecodeFailed);
      EXPECT_FALSE((*decoder)->feed("x", result.text)) << "broken for good";
      EXPECT_FALSE((*decoder)->finish());
      return {.ok = false, .text = result.text, .error = fed.error().message};
    }
  }
  const auto finished = (*decoder)->finish();
  if (!finished) return {.ok = false, .text = result.text, .error = finished.error().message};
  return result;
}

std::string prose() {
  Random random(3);
  std::string text;
  while (text.size() < 200'000)
    text += "word" + std::to_string(random.below(5000)) + (random.below(9) == 0 ? ".\n" : " ");
  return text;
}

std::string noise(std::size_t size) {
  Random random(4);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.below(256));
  return bytes;
}

TEST(ContentDecoder, ReadsBackWhatWasEncodedHoweverItIsSplit) {
  for (const Coding& coding : kCodings) {
    for (const std::string& text :
         {std::string(), std::string("a"), std::string("data: {}\n\n"), prose(), noise(70'000)}) {
      const std::string bytes = coding.encode(text);
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
        const Decoded decoded = decode(coding.name, bytes, piece);
        EXPECT_TRUE(decoded.ok) << coding.name << decoded.error;
        EXPECT_TRUE(decoded.text == text) << coding.name << " of " << text.size() << " in " << piece;
      }
    }
  }
}

TEST(ContentDecoder, GivesWhatIsCompleteBeforeTheEndArrives) {
  const std::string text = prose();
  for (const Coding& coding : kCodings) {
    const std::string bytes = coding.encode(text);
    auto decoder = ContentDecoder::make(coding.name, kNoLimit);
    std::string out;
    ASSERT_TRUE((*decoder)->feed(std::string_view(bytes).substr(0, bytes.size() - 1), out));
    EXPECT_GT(out.size(), text.size() / 4) << coding.name;
    EXPECT_TRUE(text.starts_with(out)) << coding.name;
  }
}

TEST(ContentDecoder, ReportsEveryTruncation) {
  for (const Coding& coding : kCodings) {
    const std::string bytes = coding.encode("data: {\"choices\":[]}\n\n");
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode(coding.name, std::string_view(bytes).substr(0, size), size).ok)
          << coding.name << " " << size;
    }
  }
}

TEST(ContentDecoder, TakesABodyOfNoBytesForAnEmptyOne) {
  for (const Coding& coding : kCodings) EXPECT_TRUE(decode(coding.name, "", 1).ok) << coding.name;
}

TEST(ContentDecoder, ReportsWhatIsNotCompressedAtAll) {
  for (const Coding& coding : kCodings) {
    if (coding.encode == brotli) continue;  // nearly any start is brotli; it breaks or is cut later
    EXPECT_FALSE(decode(coding.name, "<html><body>502 Bad Gateway</body></html>", 9).ok) << coding.name;
  }
}

TEST(ContentDecoder, ReportsABrokenByteWhereThereIsAChecksum) {
  const std::string text = prose();
  for (const Coding& coding : {Coding{"gzip", gzip}, Coding{"deflate", zlib}}) {
    const std::string bytes = coding.encode(text);
    for (std::size_t at = 40; at < bytes.size(); at += bytes.size() / 23) {
      std::string broken = bytes;
      broken[at] ^= 0x10;
      EXPECT_FALSE(decode(coding.name, broken, 5000).ok) << coding.name << " at " << at;
    }
  }
}

TEST(ContentDecoder, ReadsConcatenatedGzipMembersAndZstdFrames) {
  for (const Coding& coding : {Coding{"gzip", gzip}, Coding{"zstd", zstd}}) {
    const std::string bytes = coding.encode("one ") + coding.encode("") + coding.encode("two");
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      const Decoded decoded = decode(coding.name, bytes, piece);
      EXPECT_TRUE(decoded.ok) << coding.name << piece << decoded.error;
      EXPECT_EQ(decoded.text, "one two") << coding.name << piece;
    }
    EXPECT_FALSE(decode(coding.name, std::string_view(bytes).substr(0, bytes.size() - 3), 1).ok)
        << coding.name;
  }
}

TEST(ContentDecoder, ReportsDataBehindTheEnd) {
  for (const Coding& coding : kCodings) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      EXPECT_FALSE(decode(coding.name, coding.encode("a") + "garbage", piece).ok) << coding.name;
    }
  }
}

TEST(ContentDecoder, StopsABombSoonAfterTheFirstMebibyte) {
  const std::string zeros(8 << 20, '\0');
  for (const Coding& coding : kCodings) {
    const std::string bytes = coding.encode(zeros);
    ASSERT_LT(bytes.size(), zeros.size() / 200) << coding.name;
    const Decoded decoded = decode(coding.name, bytes, bytes.size());
    EXPECT_FALSE(decoded.ok) << coding.name;
    EXPECT_EQ(decoded.error, "the decoded body is suspiciously larger than the compressed one");
    EXPECT_LE(decoded.text.size(), std::max<std::size_t>(bytes.size() * 100, 1 << 20)) << coding.name;
  }
}

TEST(ContentDecoder, LetsSmallBodiesBeAsRegularAsTheyLike) {
  const std::string zeros(1 << 20, '\0');
  for (const Coding& coding : kCodings)
    EXPECT_TRUE(decode(coding.name, coding.encode(zeros), 100).ok) << coding.name;
}

TEST(ContentDecoder, KeepsToTheLimitOfTheOutput) {
  const std::string text = prose();
  for (const Coding& coding : kCodings) {
    const std::string bytes = coding.encode(text);
    EXPECT_TRUE(decode(coding.name, bytes, 1000, text.size()).ok) << coding.name;
    const Decoded decoded = decode(coding.name, bytes, bytes.size(), text.size() - 1);
    EXPECT_FALSE(decoded.ok) << coding.name;
    EXPECT_EQ(decoded.error, "the decoded body is too large");
    EXPECT_LT(decoded.text.size(), text.size()) << coding.name;
  }
}

TEST(ContentDecoder, RefusesAZstdWindowOverEightMebibytes) {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ASSERT_EQ(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 24)), 0U);
  ASSERT_EQ(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0)), 0U);
  const std::string text = prose();
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  // Flushed before the end, so that the encoder cannot know how small the content is.
  ASSERT_EQ(ZSTD_compressStream2(context.get(), &output, &input, ZSTD_e_flush), 0U);
  ASSERT_EQ(ZSTD_compressStream2(context.get(), &output, &input, ZSTD_e_end), 0U);
  EXPECT_FALSE(decode("zstd", std::string_view(out).substr(0, output.pos), 1000).ok);
}

TEST(ContentDecoder, HasNothingToDoForIdentity) {
  for (const char* coding : {"", "identity", "Identity"}) {
    const auto made = ContentDecoder::make(coding, kNoLimit);
    ASSERT_TRUE(made) << coding;
    EXPECT_EQ(*made, nullptr) << coding;
  }
}

TEST(ContentDecoder, RefusesUnknownCodingsAndLists) {
  for (const char* coding : {"compress", "gzip, br", "gzip,gzip", "gzip;q=1", " ", "aes128gcm", "*"}) {
    const auto made = ContentDecoder::make(coding, kNoLimit);
    ASSERT_FALSE(made) << coding;
    EXPECT_EQ(made.error().kind, ErrorKind::DecodeFailed);
  }
}

}  // namespace
}  // namespace qq::wire
