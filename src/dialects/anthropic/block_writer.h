// Writes what is said in a request: messages, their blocks, and cache marks, of which a request may have
// four.
#pragma once
#include <optional>

#include "base/result.h"
#include "dialects/anthropic/history.h"
#include "wire/json_writer.h"

namespace qq::dialects::anthropic {

class BlockWriter {
 public:
  // `own`: an Anthropic client's request, whose unknown members go on.
  BlockWriter(wire::JsonWriter& json, bool own, Losses& losses) : json_(json), losses_(losses), own_(own) {}

  // `more`: marks elsewhere in the request. False: there are too many, and only the last four will be
  // written, in the order of what is cached: tools, system, messages, the request. Call it before all of
  // them.
  bool choose_marks(const History& history, std::size_t more);
  // The member cache_control, if there is a mark and it was chosen.
  void cache(const std::optional<model::CacheMark>& mark);
  void text(const model::Part& part);
  // Errors: InvalidRequest for files that only another provider has.
  Result<> message(const Message& message, bool last);

 private:
  Result<> write_part(const model::Part& part);
  Result<> write_prefill(const model::Part& part);
  Result<> write_result(const model::ToolResultPart& result, const model::Part& part);
  Result<> write_media(const model::MediaPart& media, const model::Part& part);
  Result<> end_block(const model::Part& part);

  wire::JsonWriter& json_;
  Losses& losses_;
  CallIds ids_;
  std::size_t marks_to_skip_ = 0;
  bool own_;
};

}  // namespace qq::dialects::anthropic
