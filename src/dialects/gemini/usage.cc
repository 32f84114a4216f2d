#include "dialects/gemini/usage.h"

#include <algorithm>

#include "dialects/gemini/words.h"

namespace qq::dialects::gemini {
namespace {

using model::TokenCount;
using wire::JsonValue;

// Tokens of two modalities that have buckets.
struct ByModality {
  std::optional<TokenCount> image;
  std::optional<TokenCount> audio;
};

void take(std::optional<TokenCount>& into, JsonValue value) noexcept {
  const auto number = value.integer();
  if (number && *number >= 0) into = number;
}

ByModality read_details(wire::JsonMembers& usage) noexcept {
  ByModality found;
  for (auto each = wire::JsonElements::inside(usage); each.next();) {
    Modality modality = Modality::Other;
    std::optional<TokenCount> count;
    for (auto members = wire::JsonMembers::inside(each); members.next();) {
      if (members.raw_key() == "modality") modality = modality_of(members.value());
      if (members.raw_key() == "tokenCount") take(count, members.value());
    }
    if (modality == Modality::Image) found.image = count;
    if (modality == Modality::Audio) found.audio = count;
  }
  return found;
}

// Takes `part` out of `rest`, of which it is a part; no more than there is.
void split(std::optional<TokenCount>& part, TokenCount& rest) noexcept {
  if (!part) return;
  *part = std::min(*part, rest);
  rest -= *part;
}

// Of a modality what did not come from the cache.
std::optional<TokenCount> fresh(std::optional<TokenCount> all, std::optional<TokenCount> cached) noexcept {
  if (all && cached) *all = std::max<TokenCount>(0, *all - *cached);
  return all;
}

struct Detail {
  std::string_view modality;
  TokenCount count;
};
void write_details(wire::JsonWriter& json, std::string_view name, TokenCount text,
                   std::optional<TokenCount> image, std::optional<TokenCount> audio) {
  json.key(name).begin_array();
  for (const Detail& each :
       {Detail{"TEXT", text}, {"IMAGE", image.value_or(0)}, {"AUDIO", audio.value_or(0)}}) {
    if (each.count == 0) continue;
    json.begin_object().member("modality", each.modality).member("tokenCount", each.count).end_object();
  }
  json.end_array();
}

}  // namespace

model::Usage decode_usage(JsonValue metadata) {
  model::Usage usage;
  std::optional<TokenCount> prompt;
  std::optional<TokenCount> tools;
  std::optional<TokenCount> candidates;
  ByModality in;
  ByModality in_cached;
  ByModality out;
  for (wire::JsonMembers members(metadata); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "promptTokenCount") take(prompt, members.value());
    if (key == "toolUsePromptTokenCount") take(tools, members.value());
    if (key == "cachedContentTokenCount") take(usage.cache_read, members.value());
    if (key == "candidatesTokenCount") take(candidates, members.value());
    if (key == "thoughtsTokenCount") take(usage.reasoning, members.value());
    if (key == "promptTokensDetails") in = read_details(members);
    if (key == "cacheTokensDetails") in_cached = read_details(members);
    if (key == "candidatesTokensDetails") out = read_details(members);
  }
  if (!prompt && !candidates && !usage.reasoning) return {};
  usage.source = model::UsageSource::Provider;
  if (prompt || tools) {
    TokenCount rest = prompt.value_or(0);
    split(usage.cache_read, rest);
    usage.audio_input = fresh(in.audio, in_cached.audio);
    usage.image_input = fresh(in.image, in_cached.image);
    split(usage.audio_input, rest);
    split(usage.image_input, rest);
    usage.input_uncached = rest + tools.value_or(0);
  }
  if (candidates) {
    TokenCount rest = *candidates;
    usage.audio_output = out.audio;
    usage.image_output = out.image;
    split(usage.audio_output, rest);
    split(usage.image_output, rest);
    usage.output_text = rest;
  }
  return usage;
}

void write_usage(wire::JsonWriter& json, const model::Usage& usage) {
  const bool has_input = usage.input_uncached || usage.cache_read || usage.cache_write ||
                         usage.cache_write_1h || usage.audio_input || usage.image_input;
  const bool has_output = usage.output_text || usage.audio_output || usage.image_output;
  if (!has_input && !has_output && !usage.reasoning) return;
  const TokenCount input = usage.input_total();
  const TokenCount output = usage.output_total() - usage.reasoning.value_or(0);
  json.key("usageMetadata").begin_object();
  if (has_input) json.member("promptTokenCount", input);
  if (has_output) json.member("candidatesTokenCount", output);
  json.member("totalTokenCount", input + usage.output_total());
  if (usage.cache_read) json.member("cachedContentTokenCount", *usage.cache_read);
  if (usage.audio_input || usage.image_input) {
    const TokenCount text = input - usage.audio_input.value_or(0) - usage.image_input.value_or(0);
    write_details(json, "promptTokensDetails", text, usage.image_input, usage.audio_input);
  }
  if (usage.audio_output || usage.image_output) {
    write_details(json, "candidatesTokensDetails", usage.output_text.value_or(0), usage.image_output,
                  usage.audio_output);
  }
  if (usage.reasoning) json.member("thoughtsTokenCount", *usage.reasoning);
  json.end_object();
}

}  // namespace qq::dialects::gemini
