// For dialects like OpenAI's first ones, in which a message of a tool's holds text alone and files have no
// place: what such messages are made of.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"

namespace qq::dialects {

// A user's turn: results become messages of their own, in front of the rest.
struct SplitTurn {
  std::vector<const model::ToolResultPart*> results;
  std::vector<const model::Part*> rest;  // what results showed comes first; no opaque parts
  bool moved_media = false;              // from a result into `rest`
};
SplitTurn split_user_turn(const model::Turn& turn);

// The words of a part that only its own dialect has, for tools' results, which are searched more often than
// they are seen: an Anthropic search_result's. Nothing for others.
std::optional<std::string> text_of_opaque(const model::Part& part);

// What stands in a result's text.
std::string text_of_result(const model::ToolResultPart& result);

// A file that is text, under its name; nothing for others.
std::optional<std::string> file_as_text(const model::MediaPart& media);

// Turns of an assistant's that stand next to each other are one message: calls in turns of their own belong
// together, for each must be answered before the next one.
struct Spoken {
  std::string text;      // with refusals
  std::string thoughts;  // all of them
  std::vector<const model::Part*> thought_parts;
  std::vector<const model::ToolCallPart*> calls;
  bool has_media = false;  // which have no place
};
// Moves `turn` behind the last one it took.
Spoken spoken_from(const std::vector<model::Turn>& turns, std::size_t& turn);

}  // namespace qq::dialects
