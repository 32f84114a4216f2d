// Usage objects of the OpenAI dialects, brought into disjoint buckets.
//
//   input_total  = prompt_tokens (input_tokens), which holds what was read from and written to the cache
//   output_total = completion_tokens (output_tokens), which holds reasoning, except at xAI's chat endpoint
//                  (and Grok behind Azure), where reasoning stands beside it
//
// Sound and images are parts of the totals. Which of them were cached is said by Realtime only; elsewhere
// cached tokens are taken off first. A zero among the details, which most answers have, is no figure.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "dialects/openai/answer.h"

namespace qq::dialects::openai {
namespace {

using model::TokenCount;

// "10.0", "1e2": engines that keep all numbers as floating point write whole ones like this.
std::optional<TokenCount> whole_decimal(std::string_view text) noexcept {
  constexpr double kExactMax = 9'007'199'254'740'992.0;  // beyond 2^53 a double is no count any more
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  if (!(number >= 0 && number <= kExactMax) || number != std::floor(number)) return std::nullopt;
  return static_cast<TokenCount>(number);
}

// A figure as the provider gave it; negative ones are no figures.
std::optional<TokenCount> count(wire::JsonValue value) noexcept {
  const auto number = value.integer();
  if (!number) return whole_decimal(value.text());
  return *number >= 0 ? number : std::nullopt;
}

void take(std::optional<TokenCount>& into, wire::JsonValue value) noexcept {
  if (const auto number = count(value)) into = number;
}

struct Figures {
  std::optional<TokenCount> prompt, completion, total;
  std::optional<TokenCount> cached;        // details.cached_tokens
  std::optional<TokenCount> cached_other;  // the names that single providers use
  std::optional<TokenCount> written, written_other;
  std::optional<TokenCount> reasoning;
  TokenCount audio_in = 0, image_in = 0;
  TokenCount audio_cached = 0, image_cached = 0;
  TokenCount audio_out = 0, image_out = 0;
  bool chat_names = false;
};

// Realtime: how much of the sound and the images was cached, which stands in their own figures, too.
void read_cached_details(wire::JsonMembers& details, Figures& figures) noexcept {
  for (auto members = wire::JsonMembers::inside(details); members.next();) {
    if (members.raw_key() == "audio_tokens") figures.audio_cached = count(members.value()).value_or(0);
    if (members.raw_key() == "image_tokens") figures.image_cached = count(members.value()).value_or(0);
  }
}

void read_input_details(wire::JsonMembers& usage, Figures& figures) noexcept {
  for (auto members = wire::JsonMembers::inside(usage); members.next();) {
    if (members.raw_key() == "cached_tokens") take(figures.cached, members.value());
    if (members.raw_key() == "cache_write_tokens") take(figures.written, members.value());
    if (members.raw_key() == "audio_tokens") figures.audio_in = count(members.value()).value_or(0);
    if (members.raw_key() == "image_tokens") figures.image_in = count(members.value()).value_or(0);
    if (members.raw_key() == "cached_tokens_details") read_cached_details(members, figures);
  }
}

void read_output_details(wire::JsonMembers& usage, Figures& figures) noexcept {
  for (auto members = wire::JsonMembers::inside(usage); members.next();) {
    if (members.raw_key() == "reasoning_tokens") take(figures.reasoning, members.value());
    if (members.raw_key() == "audio_tokens") figures.audio_out = count(members.value()).value_or(0);
    if (members.raw_key() == "image_tokens") figures.image_out = count(members.value()).value_or(0);
  }
}

Figures read_figures(wire::JsonMembers& members) noexcept {
  Figures figures;
  while (members.next()) {
    const std::string_view key = members.raw_key();
    if (key == "prompt_tokens" || key == "input_tokens") {
      take(figures.prompt, members.value());
    } else if (key == "completion_tokens" || key == "output_tokens") {
      take(figures.completion, members.value());
      if (key == "completion_tokens") figures.chat_names = true;
    } else if (key == "total_tokens") {
      take(figures.total, members.value());
    } else if (key == "prompt_tokens_details" || key == "input_tokens_details" ||
               key == "prompt_token_details" || key == "input_token_details") {  // the last of transcripts
      read_input_details(members, figures);
    } else if (key == "completion_tokens_details" || key == "output_tokens_details" ||
               key == "output_token_details") {  // the last of Realtime
      read_output_details(members, figures);
    } else if (key == "cached_tokens" ||            // Moonshot, Together
               key == "prompt_cache_hit_tokens" ||  // DeepSeek
               key == "num_cached_tokens" ||        // Mistral
               key == "cache_read_input_tokens") {  // Doubleword, beside the usual names
      take(figures.cached_other, members.value());
    } else if (key == "cache_creation_input_tokens") {
      take(figures.written_other, members.value());
    }
  }
  return figures;
}

// Reasoning stands beside the output figure when the provider is known for it, or when only so the provider's
// own total comes out. That it is larger than what it should be inside of proves nothing: it would be billed.
bool reasoning_is_beside(const Figures& figures, const model::Quirks& quirks) noexcept {
  const TokenCount output = figures.completion.value_or(0);
  const TokenCount reasoning = figures.reasoning.value_or(0);
  if (reasoning == 0) return false;
  if (figures.total && figures.prompt) {
    const TokenCount inclusive = *figures.prompt + output;
    if (*figures.total == inclusive) return false;
    if (*figures.total == inclusive + reasoning) return true;
  }
  return quirks.reasoning_excluded_from_output && figures.chat_names;
}

constexpr TokenCount uncached(TokenCount all, TokenCount cached) noexcept {
  return std::max(all - cached, TokenCount{0});
}

// A part of `rest` to a bucket of its own.
void split_off(std::optional<TokenCount>& bucket, TokenCount part, TokenCount& rest) noexcept {
  if (part == 0) return;
  bucket = std::min(part, rest);
  rest -= *bucket;
}

}  // namespace

model::Usage decode_usage(wire::JsonValue usage, const model::Quirks& quirks) {
  wire::JsonMembers members(usage);
  return decode_usage(members, quirks);
}

model::Usage decode_usage(wire::JsonMembers& members, const model::Quirks& quirks) {
  model::Usage decoded;
  const Figures figures = read_figures(members);
  if (!figures.prompt && !figures.completion) return decoded;
  decoded.source = model::UsageSource::Provider;

  decoded.cache_read = figures.cached ? figures.cached : figures.cached_other;
  decoded.cache_write = figures.written ? figures.written : figures.written_other;
  if (figures.prompt) {
    // Parts larger than their whole were seen (Grok behind Azure): the whole is what is billed, so it stays.
    if (decoded.cache_read) *decoded.cache_read = std::min(*decoded.cache_read, *figures.prompt);
    const TokenCount fresh = *figures.prompt - decoded.cache_read.value_or(0);
    if (decoded.cache_write) *decoded.cache_write = std::min(*decoded.cache_write, fresh);
    decoded.input_uncached = fresh - decoded.cache_write.value_or(0);
    split_off(decoded.audio_input, uncached(figures.audio_in, figures.audio_cached), *decoded.input_uncached);
    split_off(decoded.image_input, uncached(figures.image_in, figures.image_cached), *decoded.input_uncached);
  }
  decoded.reasoning = figures.reasoning;
  if (figures.completion) {
    decoded.output_text = *figures.completion;
    if (decoded.reasoning && !reasoning_is_beside(figures, quirks)) {
      *decoded.reasoning = std::min(*decoded.reasoning, *figures.completion);
      *decoded.output_text -= *decoded.reasoning;
    }
    split_off(decoded.audio_output, figures.audio_out, *decoded.output_text);
    split_off(decoded.image_output, figures.image_out, *decoded.output_text);
  }
  return decoded;
}

model::Usage decode_ranking_usage(wire::JsonValue document, const model::Quirks& quirks) {
  model::Usage decoded;
  if (const auto usage = document.member("usage")) {
    decoded = decode_usage(*usage, quirks);
    if (decoded.source != model::UsageSource::None) return decoded;
    // A ranking generates nothing, so that the total is what was read.
    if (const auto total = usage->member("total_tokens")) take(decoded.input_uncached, *total);
  } else if (const auto billed = document.at("meta", "billed_units")) {
    if (const auto input = billed->member("input_tokens")) take(decoded.input_uncached, *input);
    if (const auto output = billed->member("output_tokens")) take(decoded.output_text, *output);
  }
  if (decoded.input_uncached || decoded.output_text) decoded.source = model::UsageSource::Provider;
  return decoded;
}

}  // namespace qq::dialects::openai
