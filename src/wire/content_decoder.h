// Decodes gzip, deflate, br and zstd bodies as they arrive, within a ratio and a size limit so that a
// bomb costs nothing. Encodings: RFC 9110 8.4.1, RFC 7932 (br), RFC 8878 (zstd).
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace qq::wire {

class ContentDecoder {
 public:
  virtual ~ContentDecoder() = default;
  // Appends what `bytes` decode to. Errors are `DecodeFailed`: broken data, more than `output_max` bytes
  // altogether, or a ratio over 100:1 past the first 1 MiB of output.
  virtual Result<> feed(std::string_view bytes, std::string& out) = 0;
  // The body ended: an error if the encoded data had not.
  virtual Result<> finish() = 0;

  // Nothing for "identity" or an empty coding; an error for one we do not know or a list of several.
  static Result<std::unique_ptr<ContentDecoder>> make(std::string_view coding, std::size_t output_max);
};

}  // namespace qq::wire
