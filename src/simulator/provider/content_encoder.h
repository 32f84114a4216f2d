// Encodes a body as gzip, deflate, br or zstd, piece by piece, each piece decodable as soon as it is
// there: providers' CDNs encode streams whether asked or not.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace qq::simulator {

class ContentEncoder {
 public:
  virtual ~ContentEncoder() = default;
  // The encoded bytes of `bytes`, flushed.
  virtual std::string add(std::string_view bytes) = 0;
  // What ends the coding.
  virtual std::string finish() = 0;

  // "gzip", "deflate", "br" or "zstd".
  static std::unique_ptr<ContentEncoder> make(std::string_view coding);
};

// A gzip file that decodes to `size` bytes of white space, a multiple of 1 MiB: `head`, then `block` so
// many times as `blocks` says, then `tail`. Its blocks repeat, so it costs neither time nor memory.
struct GzipBomb {
  std::string head{};
  std::string block{};
  std::uint64_t blocks = 0;
  std::string tail{};
};
GzipBomb make_gzip_bomb(std::uint64_t size);

}  // namespace qq::simulator
