#pragma once
#include <string>
#include <string_view>

#include "dialects/carried_state.h"
#include "dialects/dialect.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {

std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses);

// ---- What whole answers and streams have in common --------------------------------------------------------

// The provider's id if it looks like Google's, else the request's.
std::string_view response_id(std::string_view provider_id, const AnswerHead& head) noexcept;
// Thoughts are shown to those who asked for them.
inline bool shows_thoughts(const model::ChatRequest& request) noexcept {
  return request.reasoning && request.reasoning->show == true;
}
// A part of Google's own, as it came.
bool is_google_part(std::string_view json) noexcept;
// Google's own metadata of a text: the member of the candidate that it is; empty for other dialects'.
std::string_view google_citation(std::string_view json) noexcept;
// Writes a call of `maker`'s, whole. `carried`: the thoughts before it that the client was not shown. False
// if they were too much to travel.
bool write_call(wire::JsonWriter& json, const model::ToolCallPart& call, const model::OpaqueState& state,
                model::Dialect maker, const Carried& carried);

}  // namespace qq::dialects::gemini
