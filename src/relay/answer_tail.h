// What is left of an answer that nobody holds: its end, where its usage stands.
#pragma once
#include <string>

#include "relay/usage_drain.h"

namespace qq::relay {

class AnswerTail final : public UsageReader {
 public:
  explicit AnswerTail(std::string_view beginning) { append(beginning); }
  void append(std::string_view bytes);
  bool read_usage(const UpstreamReply::Piece& piece) override;
  // OpenAI's dialects write it last, in whole answers and in streams.
  [[nodiscard]] model::Usage usage(const model::Quirks& quirks) const;

 private:
  static constexpr std::size_t kKept = 16UL * 1024;
  std::string tail_;
};

}  // namespace qq::relay
