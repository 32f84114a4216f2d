// Usage in Anthropic's words: input_tokens holds neither what was read from the cache nor what was written to
// it; output_tokens holds thinking. A stream restates figures, and changes them: the last of each counts.
#pragma once
#include <optional>

#include "model/usage.h"
#include "wire/json_writer.h"

namespace qq::dialects::anthropic {

class UsageFigures {
 public:
  // Of a `usage` object; what it does not say stays as it was.
  void take(wire::JsonValue usage) noexcept;
  // Source None if nothing was said at all.
  [[nodiscard]] model::Usage usage() const noexcept;

 private:
  std::optional<model::TokenCount> input_, read_, written_, written_5m_, written_1h_, output_, thinking_;
};

// The members of a usage object. SDKs want numbers for input and output: absent ones are 0.
void write_usage(wire::JsonWriter& json, const model::Usage& usage);

}  // namespace qq::dialects::anthropic
