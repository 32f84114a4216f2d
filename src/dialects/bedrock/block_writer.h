// Messages and the system prompt as Converse's content blocks.
#pragma once
#include <set>
#include <string>

#include "dialects/anthropic/history.h"
#include "dialects/bedrock/families.h"
#include "dialects/fields.h"
#include "wire/json_writer.h"

namespace qq::dialects::bedrock {

class BlockWriter {
 public:
  BlockWriter(wire::JsonWriter& json, const model::ChatRequest& request, const Family& family, Losses& losses)
      : json_(json), request_(request), family_(family), losses_(losses), ids_(kIdMost) {}

  // Counts the marks of the whole request, `history` being what it says: of more than four the last are
  // written. Call it before all else.
  void choose_marks(const anthropic::History& history, std::size_t on_tools);
  // A block after what is marked; `allowed`: the family takes one there.
  void cache_point(const std::optional<model::CacheMark>& mark, bool allowed);
  void text(const model::Part& part);
  // Errors: InvalidRequest for media that Converse does not take.
  Result<> message(const anthropic::Message& message, bool last);

 private:
  static constexpr std::size_t kIdMost = 64;  // ToolUseBlock.toolUseId

  Result<> write_part(const model::Part& part);
  void prefill(const model::Part& part);
  void thought(const model::ReasoningPart& thought, const model::Part& part);
  Result<> result(const model::ToolResultPart& result);
  Result<> media(const model::MediaPart& media);
  void source(const model::MediaPart& media);
  std::string document_name(const model::MediaPart& media);
  void lose(Field field, std::string_view why);

  wire::JsonWriter& json_;
  const model::ChatRequest& request_;
  const Family& family_;
  Losses& losses_;
  anthropic::CallIds ids_;
  std::set<std::string> names_;  // of the documents so far: each must have its own
  std::size_t documents_ = 0;
  std::size_t number_ = 0;  // the next behind a name that was used
  std::size_t marks_to_skip_ = 0;
  bool marks_lost_ = false;
};

}  // namespace qq::dialects::bedrock
