#include "dialects/anthropic/usage.h"

#include <algorithm>

namespace qq::dialects::anthropic {
namespace {

using model::TokenCount;

// A figure is not negative, and null is none.
void take_figure(std::optional<TokenCount>& into, const wire::JsonWalk& at) noexcept {
  const auto number = at.value().integer();
  if (number && *number >= 0) into = number;
}

}  // namespace

void UsageFigures::take(wire::JsonValue usage) noexcept {
  for (wire::JsonMembers members(usage); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "input_tokens") {
      take_figure(input_, members);
    } else if (key == "output_tokens") {
      take_figure(output_, members);
    } else if (key == "cache_read_input_tokens") {
      take_figure(read_, members);
    } else if (key == "cache_creation_input_tokens") {
      take_figure(written_, members);
    } else if (key == "cache_creation") {
      for (auto inner = wire::JsonMembers::inside(members); inner.next();) {
        if (inner.raw_key() == "ephemeral_5m_input_tokens") take_figure(written_5m_, inner);
        if (inner.raw_key() == "ephemeral_1h_input_tokens") take_figure(written_1h_, inner);
      }
    } else if (key == "output_tokens_details") {
      for (auto inner = wire::JsonMembers::inside(members); inner.next();) {
        if (inner.raw_key() == "thinking_tokens") take_figure(thinking_, inner);
      }
    }
  }
}

model::Usage UsageFigures::usage() const noexcept {
  model::Usage out;
  if (!input_ && !output_) return out;
  out.source = model::UsageSource::Provider;
  out.input_uncached = input_;
  out.cache_read = read_;
  out.cache_write = written_ ? written_ : written_5m_;
  if (written_1h_ && *written_1h_ > 0) {
    // The total is what a stream restates, without its parts.
    out.cache_write_1h = written_ ? std::min(*written_1h_, *written_) : *written_1h_;
    if (written_) *out.cache_write -= *out.cache_write_1h;
  }
  if (output_) {
    out.output_text = output_;
    if (thinking_) {
      out.reasoning = std::min(*thinking_, *output_);
      *out.output_text -= *out.reasoning;
    }
  }
  return out;
}

void write_usage(wire::JsonWriter& json, const model::Usage& usage) {
  json.member("input_tokens", usage.input_uncached.value_or(0) + usage.audio_input.value_or(0) +
                                  usage.image_input.value_or(0));
  if (usage.cache_write || usage.cache_write_1h) {
    json.member("cache_creation_input_tokens",
                usage.cache_write.value_or(0) + usage.cache_write_1h.value_or(0));
  }
  if (usage.cache_read) json.member("cache_read_input_tokens", *usage.cache_read);
  if (usage.cache_write_1h) {
    json.key("cache_creation").begin_object();
    json.member("ephemeral_5m_input_tokens", usage.cache_write.value_or(0));
    json.member("ephemeral_1h_input_tokens", *usage.cache_write_1h);
    json.end_object();
  }
  json.member("output_tokens", usage.output_total());
  if (usage.reasoning) {
    json.key("output_tokens_details").begin_object();
    json.member("thinking_tokens", *usage.reasoning);
    json.end_object();
  }
}

}  // namespace qq::dialects::anthropic
