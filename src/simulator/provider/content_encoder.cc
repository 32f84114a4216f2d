#include "simulator/provider/content_encoder.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstdint>

#include "base/assert.h"

namespace qq::simulator {
namespace {

const Bytef* as_zlib(std::string_view bytes) noexcept {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

class Deflater {
 public:
  // `window_bits` as deflateInit2 has it: 15 zlib, 31 gzip, -15 raw.
  explicit Deflater(int window_bits) {
    QQ_ASSERT(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) ==
              Z_OK);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  std::string run(std::string_view bytes, int flush) {
    std::string out;
    std::array<char, 16 * 1024> buffer;
    stream_.next_in = const_cast<Bytef*>(as_zlib(bytes));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream_, flush);
      out.append(buffer.data(), buffer.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return out;
  }

 private:
  z_stream stream_{};
};

class ZlibEncoder final : public ContentEncoder {
 public:
  explicit ZlibEncoder(int window_bits) : deflater_(window_bits) {}
  std::string add(std::string_view bytes) override { return deflater_.run(bytes, Z_SYNC_FLUSH); }
  std::string finish() override { return deflater_.run({}, Z_FINISH); }

 private:
  Deflater deflater_;
};

class BrotliEncoder final : public ContentEncoder {
 public:
  BrotliEncoder() : state_(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    QQ_ASSERT(state_ != nullptr);
    // Quality 5 is what CDNs use for answers made on the fly.
    BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY, 5);
  }
  BrotliEncoder(const BrotliEncoder&) = delete;
  BrotliEncoder& operator=(const BrotliEncoder&) = delete;
  ~BrotliEncoder() override { BrotliEncoderDestroyInstance(state_); }
  std::string add(std::string_view bytes) override { return run(bytes, BROTLI_OPERATION_FLUSH); }
  std::string finish() override { return run({}, BROTLI_OPERATION_FINISH); }

 private:
  std::string run(std::string_view bytes, BrotliEncoderOperation operation) {
    std::string out;
    const auto* next = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::size_t left = bytes.size();
    do {
      std::size_t no_room = 0;
      BrotliEncoderCompressStream(state_, operation, &left, &next, &no_room, nullptr, nullptr);
      std::size_t size = 0;
      const std::uint8_t* made = BrotliEncoderTakeOutput(state_, &size);
      out.append(reinterpret_cast<const char*>(made), size);
    } while (left > 0 || BrotliEncoderHasMoreOutput(state_) != BROTLI_FALSE);
    return out;
  }

  BrotliEncoderState* state_;
};

class ZstdEncoder final : public ContentEncoder {
 public:
  ZstdEncoder() : context_(ZSTD_createCCtx()) { QQ_ASSERT(context_ != nullptr); }
  ZstdEncoder(const ZstdEncoder&) = delete;
  ZstdEncoder& operator=(const ZstdEncoder&) = delete;
  ~ZstdEncoder() override { ZSTD_freeCCtx(context_); }
  std::string add(std::string_view bytes) override { return run(bytes, ZSTD_e_flush); }
  std::string finish() override { return run({}, ZSTD_e_end); }

 private:
  std::string run(std::string_view bytes, ZSTD_EndDirective directive) {
    std::string out;
    std::array<char, 16 * 1024> buffer;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer made{buffer.data(), buffer.size(), 0};
      left = ZSTD_compressStream2(context_, &made, &in, directive);
      QQ_ASSERT(ZSTD_isError(left) == 0);
      out.append(buffer.data(), made.pos);
    } while (left > 0);
    return out;
  }

  ZSTD_CCtx* context_;
};

void append_little_endian(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xffU);
}

}  // namespace

std::unique_ptr<ContentEncoder> ContentEncoder::make(std::string_view coding) {
  if (coding == "br") return std::make_unique<BrotliEncoder>();
  if (coding == "zstd") return std::make_unique<ZstdEncoder>();
  constexpr int kGzip = 31;
  constexpr int kZlib = 15;
  return std::make_unique<ZlibEncoder>(coding == "gzip" ? kGzip : kZlib);
}

GzipBomb make_gzip_bomb(std::uint64_t size) {
  constexpr std::uint64_t kBlock = 1024 * 1024;
  GzipBomb bomb;
  bomb.blocks = (size + kBlock - 1) / kBlock;
  // RFC 1952: magic, deflate, no flags, no time, no hint, unknown system.
  bomb.head = std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
  const std::string spaces(kBlock, ' ');
  constexpr int kRaw = -15;
  Deflater deflater(kRaw);
  // A full flush forgets what came before, so that the same block may stand any number of times.
  bomb.block = deflater.run(spaces, Z_FULL_FLUSH);
  bomb.tail = Deflater(kRaw).run({}, Z_FINISH);
  const uLong one = crc32(0, as_zlib(spaces), static_cast<uInt>(kBlock));
  uLong sum = crc32(0, nullptr, 0);
  for (std::uint64_t i = 0; i < bomb.blocks; ++i) sum = crc32_combine(sum, one, static_cast<z_off_t>(kBlock));
  append_little_endian(bomb.tail, static_cast<std::uint32_t>(sum));
  append_little_endian(bomb.tail, static_cast<std::uint32_t>(bomb.blocks * kBlock));
  return bomb;
}

}  // namespace qq::simulator
