// Usage that a stream tells more than once, each time for all that went before.
//
// Such figures only grow, so the largest counts: some providers end a stream with an object of zeros or leave
// details out that they told before, and taking the last word would make the answer free. A provider that
// corrects a figure downward is thereby counted too high; none of those recorded does.
//
// What grows are the totals and the parts that providers report. The rest of a total (`input_uncached`,
// `output_text`) is no figure of theirs: it shrinks when a part becomes known late, so it is worked out anew.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "model/usage.h"

namespace qq::model {

namespace cumulative_usage {

inline void take_larger(std::optional<TokenCount>& so_far, const std::optional<TokenCount>& told) noexcept {
  if (told && (!so_far || *told > *so_far)) so_far = told;
}

// What `total` has beyond its parts; nothing if neither object says it.
inline std::optional<TokenCount> rest_of(TokenCount total, bool told,
                                         std::initializer_list<std::optional<TokenCount>> parts) noexcept {
  if (!told) return std::nullopt;
  for (const auto& part : parts) total -= part.value_or(0);
  return std::max(total, TokenCount{0});
}

}  // namespace cumulative_usage

inline void take_cumulative(Usage& so_far, const Usage& told) noexcept {
  using cumulative_usage::rest_of;
  using cumulative_usage::take_larger;
  if (told.source == UsageSource::None) return;
  so_far.source = told.source;
  const TokenCount input = std::max(so_far.input_total(), told.input_total());
  const TokenCount output = std::max(so_far.output_total(), told.output_total());
  for (const auto part :
       {&Usage::cache_read, &Usage::cache_write, &Usage::cache_write_1h, &Usage::audio_input,
        &Usage::image_input, &Usage::reasoning, &Usage::audio_output, &Usage::image_output}) {
    take_larger(so_far.*part, told.*part);
  }
  so_far.input_uncached = rest_of(
      input, so_far.input_uncached || told.input_uncached,
      {so_far.cache_read, so_far.cache_write, so_far.cache_write_1h, so_far.audio_input, so_far.image_input});
  so_far.output_text = rest_of(output, so_far.output_text || told.output_text,
                               {so_far.reasoning, so_far.audio_output, so_far.image_output});
}

}  // namespace qq::model
