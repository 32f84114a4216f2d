// A conversation's turns as items of `input`.
#pragma once
#include "dialects/dialect.h"
#include "dialects/openai_responses/call_ids.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_responses {

class InputWriter {
 public:
  InputWriter(wire::JsonWriter& json, const model::ChatRequest& request, Losses& losses) noexcept
      : json_(json), request_(request), losses_(losses) {}
  // Errors: InvalidRequest for what cannot be said and must not be left out.
  Result<> write(const model::Turn& turn, std::size_t index);

 private:
  using Parts = std::vector<model::Part>;
  // Each writes one item of the parts that begin at `at` and returns where the next begins.
  Result<std::size_t> write_item(const model::Turn& turn, std::size_t at);
  Result<std::size_t> write_message(const model::Turn& turn, std::size_t at);
  std::size_t write_reasoning(const Parts& parts, std::size_t at);
  void write_opaque(const model::OpaquePart& item);
  void write_call(const model::Part& part, const model::ToolCallPart& call);
  Result<> write_result(const model::Part& part, const model::ToolResultPart& result);
  Result<> write_content_part(const model::Part& part, bool assistant);
  Result<> write_media(const model::MediaPart& media);
  void write_extra(const model::Part& part);
  void lose(std::string_view what, std::string_view why);
  [[nodiscard]] std::string place() const;
  [[nodiscard]] bool native() const noexcept;

  wire::JsonWriter& json_;
  const model::ChatRequest& request_;
  Losses& losses_;
  CallIds ids_;
  std::size_t turn_ = 0;
  bool turn_keeps_ids_ = false;  // it has an item that cannot do without its id
};

}  // namespace qq::dialects::openai_responses
