#include "wire/content_decoder.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "wire/http_head.h"

namespace qq::wire {
namespace {

constexpr std::uint64_t kRatioMax = 100;
constexpr std::uint64_t kRatioFreeOutput = 1024 * 1024;  // small bodies may be as regular as they like
constexpr std::size_t kPieceBytes = 16 * 1024;

std::unexpected<Error> broken(std::string message) {
  return fail(Error::upstream(ErrorKind::DecodeFailed, AttemptPhase::ReplyBegun, std::move(message)));
}

// One call of a codec: what it took and gave.
struct Progress {
  std::size_t consumed = 0;
  std::size_t produced = 0;
  enum class State : std::uint8_t { More, Ended, Broken } state = State::More;
};

// Everything but the codec: limits, the end of the data, what may follow it.
class LimitedDecoder : public ContentDecoder {
 public:
  explicit LimitedDecoder(std::size_t output_max) : output_max_(output_max) {}

  Result<> feed(std::string_view bytes, std::string& out) final {
    if (failed_) return broken("the body was broken before");
    Result<> result = decode_all(bytes, out);
    failed_ = !result;
    return result;
  }

  Result<> finish() final {
    if (failed_) return broken("the body was broken before");
    // A body of no bytes is taken for an empty one: servers label those, too.
    if (input_ > 0 && !ended_) return broken("the compressed body ended too early");
    return {};
  }

 protected:
  virtual Progress decode(std::string_view bytes, char* out, std::size_t size) = 0;
  // After the end more bytes came: true if another member or frame may follow, and is awaited now.
  virtual bool restart() = 0;

 private:
  Result<> decode_all(std::string_view bytes, std::string& out) {
    std::array<char, kPieceBytes> piece;
    bool full = false;  // the piece was filled, so more may be waiting inside the codec
    while (!bytes.empty() || full) {
      if (ended_) {
        if (bytes.empty()) break;
        if (!restart()) return broken("data behind the end of the compressed body");
        ended_ = false;
      }
      const Progress progress = decode(bytes, piece.data(), piece.size());
      if (progress.state == Progress::State::Broken) return broken("broken compressed body");
      input_ += progress.consumed;
      output_ += progress.produced;
      if (output_ > output_max_) return broken("the decoded body is too large");
      if (output_ > kRatioFreeOutput && output_ > input_ * kRatioMax) {
        return broken("the decoded body is suspiciously larger than the compressed one");
      }
      out.append(piece.data(), progress.produced);
      bytes.remove_prefix(progress.consumed);
      ended_ = progress.state == Progress::State::Ended;
      full = progress.produced == piece.size();
      if (progress.consumed == 0 && progress.produced == 0 && !ended_) {
        if (bytes.empty()) break;
        return broken("broken compressed body");  // a codec that stands still
      }
    }
    return {};
  }

  std::size_t output_max_;
  std::uint64_t input_ = 0;
  std::uint64_t output_ = 0;
  bool ended_ = false;
  bool failed_ = false;
};

// gzip (RFC 1952) with any number of members, zlib (RFC 1950), and the bare deflate (RFC 1951) that some
// servers send under the name of the second.
class ZlibDecoder final : public LimitedDecoder {
 public:
  enum class Form : std::uint8_t { Gzip, Deflate };

  ZlibDecoder(Form form, std::size_t output_max) : LimitedDecoder(output_max), form_(form) {
    if (form == Form::Gzip) begin(16 + MAX_WBITS);
  }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;
  ~ZlibDecoder() override {
    if (begun_) inflateEnd(&stream_);
  }

 protected:
  Progress decode(std::string_view bytes, char* out, std::size_t size) override {
    if (begun_) return inflate_some(bytes, out, size);
    // The first two bytes tell zlib's header from bare deflate; they are fed when both are here.
    std::size_t taken = 0;
    while (head_size_ < 2 && taken < bytes.size()) head_[head_size_++] = bytes[taken++];
    if (head_size_ < 2) return {.consumed = taken};
    const unsigned first = static_cast<unsigned char>(head_[0]);
    const unsigned second = static_cast<unsigned char>(head_[1]);
    const bool zlib = (first & 0x0f) == Z_DEFLATED && (first << 8 | second) % 31 == 0;
    begin(zlib ? MAX_WBITS : -MAX_WBITS);
    Progress progress = inflate_some({head_.data(), 2}, out, size);
    if (progress.consumed != 2 && progress.state != Progress::State::Ended)
      progress.state = Progress::State::Broken;
    progress.consumed = taken;
    return progress;
  }

  bool restart() override { return form_ == Form::Gzip && inflateReset(&stream_) == Z_OK; }

 private:
  void begin(int window_bits) {
    const int error = inflateInit2(&stream_, window_bits);
    QQ_ASSERT(error == Z_OK);
    begun_ = true;
  }

  Progress inflate_some(std::string_view bytes, char* out, std::size_t size) {
    constexpr std::size_t kInputMax = 1U << 30;  // zlib counts in unsigned int
    const auto input = static_cast<uInt>(std::min(bytes.size(), kInputMax));
    // zlib does not write to its input but does not say so in this old interface.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = input;
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    Progress progress{.consumed = input - stream_.avail_in, .produced = size - stream_.avail_out};
    if (result == Z_STREAM_END) {
      progress.state = Progress::State::Ended;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      progress.state = Progress::State::Broken;
    }
    return progress;
  }

  z_stream stream_{};
  Form form_;
  bool begun_ = false;
  std::array<char, 2> head_{};
  std::size_t head_size_ = 0;
};

class BrotliDecoder final : public LimitedDecoder {
 public:
  explicit BrotliDecoder(std::size_t output_max)
      : LimitedDecoder(output_max), state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    QQ_ASSERT(state_ != nullptr);
  }

 protected:
  Progress decode(std::string_view bytes, char* out, std::size_t size) override {
    std::size_t input_left = bytes.size();
    const auto* input = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::size_t output_left = size;
    auto* output = reinterpret_cast<std::uint8_t*>(out);
    const auto result =
        BrotliDecoderDecompressStream(state_.get(), &input_left, &input, &output_left, &output, nullptr);
    Progress progress{.consumed = bytes.size() - input_left, .produced = size - output_left};
    if (result == BROTLI_DECODER_RESULT_SUCCESS) progress.state = Progress::State::Ended;
    if (result == BROTLI_DECODER_RESULT_ERROR) progress.state = Progress::State::Broken;
    return progress;
  }

  bool restart() override { return false; }

 private:
  struct Destroy {
    void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
  };
  std::unique_ptr<BrotliDecoderState, Destroy> state_;
};

class ZstdDecoder final : public LimitedDecoder {
 public:
  explicit ZstdDecoder(std::size_t output_max) : LimitedDecoder(output_max), stream_(ZSTD_createDStream()) {
    QQ_ASSERT(stream_ != nullptr);
    // 8 MiB: what RFC 9659 lets a sender of HTTP bodies ask for.
    const std::size_t result = ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 23);
    QQ_ASSERT(ZSTD_isError(result) == 0);
  }

 protected:
  Progress decode(std::string_view bytes, char* out, std::size_t size) override {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer output{out, size, 0};
    const std::size_t result = ZSTD_decompressStream(stream_.get(), &output, &input);
    Progress progress{.consumed = input.pos, .produced = output.pos};
    if (ZSTD_isError(result) != 0) {
      progress.state = Progress::State::Broken;
    } else if (result == 0) {
      progress.state = Progress::State::Ended;
    }
    return progress;
  }

  // Frames may follow one another (RFC 8878 3); the stream object begins a new one by itself.
  bool restart() override { return true; }

 private:
  struct Destroy {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Destroy> stream_;
};

}  // namespace

Result<std::unique_ptr<ContentDecoder>> ContentDecoder::make(std::string_view coding,
                                                             std::size_t output_max) {
  if (coding.empty() || iequals(coding, "identity")) return nullptr;
  if (iequals(coding, "gzip") || iequals(coding, "x-gzip")) {
    return std::make_unique<ZlibDecoder>(ZlibDecoder::Form::Gzip, output_max);
  }
  if (iequals(coding, "deflate")) {
    return std::make_unique<ZlibDecoder>(ZlibDecoder::Form::Deflate, output_max);
  }
  if (iequals(coding, "br")) return std::make_unique<BrotliDecoder>(output_max);
  if (iequals(coding, "zstd")) return std::make_unique<ZstdDecoder>(output_max);
  return broken("unknown content coding");
}

}  // namespace qq::wire
