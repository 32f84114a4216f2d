// Compressed bodies of any coding (the first byte chooses): the same text or the same failure however the
// bytes are cut, and never more than the limit.
#include <array>
#include <string>

#include "fuzz/wire_support.h"
#include "wire/content_decoder.h"

namespace {

constexpr std::size_t kOutputMax = 4 << 20;

struct Outcome {
  std::string text;
  bool ok = true;
};

template <typename NextPiece>
Outcome decode(std::string_view coding, std::string_view bytes, NextPiece next_piece) {
  Outcome outcome;
  auto decoder = qq::wire::ContentDecoder::make(coding, kOutputMax);
  FUZZ_CHECK(decoder.has_value());
  while (!bytes.empty() && outcome.ok) {
    const qq::fuzz::Input piece(bytes.substr(0, next_piece()));
    outcome.ok = (*decoder)->feed(piece.view(), outcome.text).has_value();
    bytes.remove_prefix(piece.view().size());
  }
  outcome.ok = outcome.ok && (*decoder)->finish().has_value();
  FUZZ_CHECK(outcome.text.size() <= kOutputMax);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<std::string_view, 4> kCodings{"gzip", "deflate", "br", "zstd"};
  const std::string_view coding = kCodings[data[0] % kCodings.size()];
  const std::string_view bytes = qq::fuzz::as_text(data + 1, size - 1);
  const Outcome whole = decode(coding, bytes, [&] { return bytes.size(); });
  qq::fuzz::Cuts cuts(static_cast<std::uint32_t>(size));
  const Outcome cut = decode(coding, bytes, [&] { return cuts.next(); });
  // Where the ratio is judged depends on how much came at once, so only complete texts must be equal.
  if (whole.ok && cut.ok) FUZZ_CHECK(whole.text == cut.text);
  if (whole.text.size() < (1 << 20) && cut.text.size() < (1 << 20)) FUZZ_CHECK(whole.ok == cut.ok);
  return 0;
}
