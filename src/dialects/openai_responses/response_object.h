// The Response object: what a whole answer is, and what a stream begins and ends with. Complete enough for
// SDKs that check every required member; what the client asked for is echoed.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "dialects/dialect.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_responses {

// How an answer ends in this dialect's words.
struct Ending {
  std::string_view status = "in_progress";  // completed, incomplete, failed
  std::string_view reason;                  // incomplete: why
};
// `refused_in_words`: there is a refusal part, which says it already.
Ending ending_of(model::Finish finish, std::string_view word, bool refused_in_words) noexcept;

struct ResponseFacts {
  std::string_view id;
  std::int64_t created = 0;
  std::string_view model;
  std::string_view service_tier;
  Ending ending;
  std::string_view output = "[]";       // JSON
  std::string_view echo;                // echo_of the request
  const model::Usage* usage = nullptr;  // null: not yet
  std::string_view error_code;          // failed
  std::string_view error_message;
  const model::ExtraFields* extra = nullptr;
};

// `"instructions":…,"tools":…`: what does not change while a stream goes on.
std::string echo_of(const model::ChatRequest& request);
void write_response(wire::JsonWriter& json, const ResponseFacts& facts);
void write_usage(wire::JsonWriter& json, const model::Usage& usage);

// For requests and their echo.
void write_tools(wire::JsonWriter& json, const model::ChatRequest& request);
void write_tool_choice(wire::JsonWriter& json, const model::ChatRequest& request,
                       const model::ToolChoice& choice);
// `verbosity`: JSON, of a caller of OpenAI's other dialect.
void write_text(wire::JsonWriter& json, const model::ChatRequest& request, std::string_view verbosity = {});
// Members under "reasoning." of `extra`, and the like.
void write_nested(wire::JsonWriter& json, const model::ExtraFields& extra, std::string_view path);
const model::ExtraField* find_extra(const model::ChatRequest& request, std::string_view key) noexcept;

}  // namespace qq::dialects::openai_responses
