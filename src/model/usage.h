// Token usage in disjoint buckets: no bucket contains another. Absent is not zero.
//
// Sources of the figures and what contains what: each provider's adapter subtracts once, here is the result.
#pragma once
#include <cstdint>
#include <optional>

namespace qq::model {

using TokenCount = std::int64_t;

enum class UsageSource : std::uint8_t { None, Provider };

struct Usage {
  std::optional<TokenCount> input_uncached;
  std::optional<TokenCount> cache_read;
  std::optional<TokenCount> cache_write;     // for five minutes, or for as long as the provider likes
  std::optional<TokenCount> cache_write_1h;  // for an hour
  std::optional<TokenCount> audio_input;
  std::optional<TokenCount> image_input;
  std::optional<TokenCount> output_text;
  std::optional<TokenCount> reasoning;
  std::optional<TokenCount> audio_output;
  std::optional<TokenCount> image_output;
  UsageSource source = UsageSource::None;

  [[nodiscard]] TokenCount input_total() const noexcept {
    return input_uncached.value_or(0) + cache_read.value_or(0) + cache_write.value_or(0) +
           cache_write_1h.value_or(0) + audio_input.value_or(0) + image_input.value_or(0);
  }
  [[nodiscard]] TokenCount output_total() const noexcept {
    return output_text.value_or(0) + reasoning.value_or(0) + audio_output.value_or(0) +
           image_output.value_or(0);
  }
  // Bucket by bucket; what neither says stays unsaid.
  void add(const Usage& other) noexcept {
    const auto both = [](std::optional<TokenCount>& sum, const std::optional<TokenCount>& more) {
      if (more) sum = sum.value_or(0) + *more;
    };
    both(input_uncached, other.input_uncached);
    both(cache_read, other.cache_read);
    both(cache_write, other.cache_write);
    both(cache_write_1h, other.cache_write_1h);
    both(audio_input, other.audio_input);
    both(image_input, other.image_input);
    both(output_text, other.output_text);
    both(reasoning, other.reasoning);
    both(audio_output, other.audio_output);
    both(image_output, other.image_output);
    if (other.source != UsageSource::None) source = other.source;
  }
  bool operator==(const Usage&) const = default;
};

}  // namespace qq::model
