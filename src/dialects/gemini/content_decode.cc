#include "dialects/gemini/content_decode.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dialects/carried_state.h"
#include "dialects/gemini/members.h"
#include "dialects/gemini/words.h"

namespace qq::dialects::gemini {
namespace {

using model::Dialect;
using model::MediaPart;
using model::Part;
using model::Role;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::array<std::string_view, 9> kPartFields{
    "text",         "thought",          "thoughtSignature", "inlineData",         "fileData",
    "functionCall", "functionResponse", "executableCode",   "codeExecutionResult"};
enum PartField : std::uint8_t {
  kText,
  kThought,
  kSignature,
  kInline,
  kFile,
  kCall,
  kResult,
  kCode,
  kCodeResult
};

Result<Part> media_part(JsonValue value, const std::string& path, bool in_line) {
  constexpr std::array<std::string_view, 4> kFields{"mimeType", "data", "fileUri", "displayName"};
  MediaPart media;
  media.source = in_line ? MediaPart::Source::Base64 : MediaPart::Source::Url;
  model::ExtraFields extra;
  QQ_CHECK(read_members(value, kFields, path,
                        [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
                          if (field == kFields.size()) {
                            extra.push_back(extra_field(in_line ? "inlineData" : "fileData", key, member));
                            return {};
                          }
                          QQ_TRY(std::string text, text_field(member, join_path(path, kFields[field])));
                          switch (field) {
                            case 0: media.media_type = std::move(text); break;
                            case 3: media.name = std::move(text); break;
                            default: media.data = std::move(text); break;
                          }
                          return {};
                        }));
  if (media.data.empty()) {
    const std::string param = join_path(path, in_line ? "data" : "fileUri");
    return fail(invalid_field("'" + param + "' is missing or empty", param));
  }
  media.kind = model::media_kind(media.media_type);
  Part part(std::move(media));
  part.extra = std::move(extra);
  return part;
}

bool is_json_object(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && !wire::check_json(text);
}

// What a function returned, as text. Google's convention is {"output": …} and {"error": …}; other objects are
// the result themselves. Encoding the text again gives the same object (content_encode.cc).
void take_response(JsonValue response, model::ToolResultPart& result) {
  if (!response.is_object()) return;
  JsonMembers members(response);
  if (members.next()) {
    const std::string key = key_text(members.raw_key());
    const JsonValue value = members.value();
    const bool plain = value.is_string() && !members.next() && !is_json_object(value.string());
    if (plain && (key == "output" || key == "error")) {
      result.is_error = key == "error";
      result.content.emplace_back(model::TextPart{.text = value.string(), .citations = {}});
      return;
    }
  }
  result.content.emplace_back(model::TextPart{.text = compact(response.text()), .citations = {}});
}

std::string* text_of(Part& part) noexcept {
  if (auto* text = part.as<model::TextPart>()) return &text->text;
  auto* thought = part.as<model::ReasoningPart>();
  return thought == nullptr ? nullptr : &thought->text;
}

bool says_nothing(Part& part) noexcept {
  const std::string* const text = text_of(part);
  return text != nullptr && text->empty() && part.state.empty() && part.extra.empty();
}

// Makes `next` the end of `last` if they are one text in two deltas.
bool join(Part& last, Part& next) {
  std::string* const text = text_of(last);
  const std::string* const more = text_of(next);
  const bool alike = text != nullptr && more != nullptr && last.is.index() == next.is.index();
  if (!alike || !last.state.empty() || !last.extra.empty() || !next.extra.empty()) return false;
  text->append(*more);
  last.state = std::move(next.state);
  return true;
}

Result<Role> role_of(JsonValue value, const std::string& path) {
  const std::string_view role = value.raw_string();
  if (role == "user" || role == "function" || role == "tool" || role.empty()) return Role::User;
  if (role == "model") return Role::Assistant;
  return fail(invalid_field("'" + path + "' must be \"user\" or \"model\"", path));
}

}  // namespace

void ContentDecoder::match(model::ToolResultPart& result) {
  const bool by_id = !result.call_id.empty();
  if (const auto open = by_id ? index_.open_with_id(result.call_id) : index_.open_named(result.name)) {
    if (result.call_id.empty()) result.call_id = calls_[*open].id;
    if (result.name.empty()) result.name = calls_[*open].name;
    index_.close(*open);
    return;
  }
  if (result.call_id.empty()) result.call_id = "call_" + std::to_string(made_++);
  if (!result.name.empty()) return;
  if (const auto before = index_.last_with_id(result.call_id)) result.name = calls_[*before].name;
}

Result<> ContentDecoder::take_call(JsonValue call, const std::string& path, Part part, model::Turn& turn) {
  constexpr std::array<std::string_view, 3> kFields{"id", "name", "args"};
  model::ToolCallPart made;
  made.arguments = "{}";
  QQ_CHECK(read_members(call, kFields, path,
                        [&](std::size_t field, std::string_view key, JsonValue value) -> Result<> {
                          const std::string param = join_path(path, key);
                          switch (field) {
                            case 0: {
                              QQ_TRY(made.id, text_field(value, param));
                              break;
                            }
                            case 1: {
                              QQ_TRY(made.name, text_field(value, param));
                              break;
                            }
                            case 2:
                              if (!value.is_object()) return fail(wrong_type(param, "an object"));
                              made.arguments = compact(value.text());
                              break;
                            default: part.extra.push_back(extra_field("functionCall", key, value)); break;
                          }
                          return {};
                        }));
  if (made.name.empty()) {
    const std::string param = join_path(path, "name");
    return fail(invalid_field("'" + param + "' is missing or empty", param));
  }
  CarriedId carried = take_carried(made.id);
  made.id = std::move(carried.id);
  if (made.id.empty()) made.id = "call_" + std::to_string(made_);
  ++made_;
  if (part.state.empty()) part.state = std::move(carried.carried.call);
  const bool before = !turns_.empty() && turns_.back().role == Role::Assistant && last_has_state_;
  if (!before && !turn_has_state_ && !carried.carried.reasoning.empty()) {
    for (Part& thought : carried.carried.reasoning) turn.parts.push_back(std::move(thought));
    turn_has_state_ = true;
  }
  index_.add(made.id, made.name);
  calls_.push_back({made.id, made.name});
  part.is = std::move(made);
  turn.parts.push_back(std::move(part));
  return {};
}

Result<> ContentDecoder::take_result(JsonValue result, const std::string& path, Part part,
                                     model::Turn& turn) {
  constexpr std::array<std::string_view, 4> kFields{"id", "name", "response", "parts"};
  model::ToolResultPart made;
  QQ_CHECK(read_members(
      result, kFields, path, [&](std::size_t field, std::string_view key, JsonValue value) -> Result<> {
        const std::string param = join_path(path, key);
        switch (field) {
          case 0: {
            QQ_TRY(const std::string id, text_field(value, param));
            made.call_id = take_carried(id).id;
            return {};
          }
          case 1: {
            QQ_TRY(made.name, text_field(value, param));
            return {};
          }
          case 2:
            if (!value.is_object()) return fail(wrong_type(param, "an object"));
            take_response(value, made);
            return {};
          case 3:
            return read_list(value, param, [&](const std::string& at, JsonValue inner) -> Result<> {
              constexpr std::array<std::string_view, 2> kInner{"inlineData", "fileData"};
              return read_members(
                  inner, kInner, at, [&](std::size_t which, std::string_view, JsonValue media) -> Result<> {
                    if (which == kInner.size()) return {};
                    QQ_TRY(Part medium, media_part(media, join_path(at, kInner[which]), which == 0));
                    made.content.push_back(std::move(medium));
                    return {};
                  });
            });
          default: part.extra.push_back(extra_field("functionResponse", key, value)); return {};
        }
      }));
  match(made);
  part.is = std::move(made);
  turn.parts.push_back(std::move(part));
  return {};
}

Result<> ContentDecoder::take_part(JsonValue value, const std::string& path, model::Turn& turn) {
  Part part;
  std::array<JsonValue, kPartFields.size()> found{};
  std::string unknown;
  QQ_CHECK(read_members(value, kPartFields, path,
                        [&](std::size_t field, std::string_view key, JsonValue member) -> Result<> {
                          if (field < kPartFields.size()) {
                            found[field] = member;
                            return {};
                          }
                          if (unknown.empty()) unknown = key_text(key);
                          part.extra.push_back(extra_field({}, key, member));
                          return {};
                        }));
  const auto has = [&](PartField field) { return !found[field].text().empty(); };
  if (has(kSignature)) {
    QQ_TRY(const std::string signature, text_field(found[kSignature], join_path(path, "thoughtSignature")));
    part.state = state_of_field(signature, Dialect::Gemini);
  }
  if (has(kCall)) return take_call(found[kCall], join_path(path, "functionCall"), std::move(part), turn);
  if (has(kResult)) {
    return take_result(found[kResult], join_path(path, "functionResponse"), std::move(part), turn);
  }
  if (has(kInline) || has(kFile)) {
    const PartField field = has(kInline) ? kInline : kFile;
    QQ_TRY(Part media, media_part(found[field], join_path(path, kPartFields[field]), field == kInline));
    media.state = std::move(part.state);
    std::ranges::move(part.extra, std::back_inserter(media.extra));
    turn.parts.push_back(std::move(media));
    return {};
  }
  if (has(kText) || (has(kSignature) && unknown.empty() && !has(kCode) && !has(kCodeResult))) {
    std::string text;
    if (has(kText)) {
      QQ_TRY(text, text_field(found[kText], join_path(path, "text")));
    }
    if (found[kThought].is_true()) {
      // Google's own thoughts are summaries of them; others' came with their maker's state.
      const bool own = part.state.empty() || part.state.maker == Dialect::Gemini;
      using Kind = model::ReasoningPart::Kind;
      part.is =
          model::ReasoningPart{.kind = own ? Kind::Summary : Kind::Full, .text = std::move(text), .id = {}};
      turn_has_state_ |= !part.state.empty();
    } else {
      part.is = model::TextPart{.text = std::move(text), .citations = {}};
    }
    turn.parts.push_back(std::move(part));
    return {};
  }
  if (!has(kCode) && !has(kCodeResult) && unknown.empty()) {
    return fail(invalid_field("'" + path + "' has no content; give it \"text\" or another kind", path));
  }
  const std::string type = has(kCode) ? "executableCode" : has(kCodeResult) ? "codeExecutionResult" : unknown;
  // With its signature and all else, which must not stand twice.
  turn.parts.emplace_back(
      model::OpaquePart{.dialect = Dialect::Gemini, .type = type, .value = std::string(value.text())});
  return {};
}

Result<> ContentDecoder::take_content(JsonValue content, const std::string& path) {
  constexpr std::array<std::string_view, 2> kFields{"role", "parts"};
  model::Turn turn;
  turn_has_state_ = false;
  JsonValue parts;
  QQ_CHECK(read_members(content, kFields, path,
                        [&](std::size_t field, std::string_view key, JsonValue value) -> Result<> {
                          if (field == 0) {
                            QQ_TRY(turn.role, role_of(value, join_path(path, "role")));
                          } else if (field == 1) {
                            parts = value;
                          } else {
                            turn.extra.push_back(extra_field({}, key, value));
                          }
                          return {};
                        }));
  if (!parts.text().empty()) {
    QQ_CHECK(read_list(parts, join_path(path, "parts"),
                       [&](const std::string& at, JsonValue part) { return take_part(part, at, turn); }));
  }
  if (turn.role == Role::Assistant) {
    add_answer(std::move(turn));
  } else {
    turns_.push_back(std::move(turn));
  }
  return {};
}

void ContentDecoder::add_answer(model::Turn turn) {
  std::erase_if(turn.parts, says_nothing);
  if (turn.parts.empty() && turn.extra.empty()) return;
  const bool goes_on = !turns_.empty() && turns_.back().role == Role::Assistant && turn.extra.empty();
  last_has_state_ = turn_has_state_ || (goes_on && last_has_state_);
  if (!goes_on) {
    turns_.push_back(std::move(turn));
    return;
  }
  std::vector<Part>& parts = turns_.back().parts;
  auto next = turn.parts.begin();
  if (!parts.empty() && join(parts.back(), *next)) ++next;
  parts.insert(parts.end(), std::make_move_iterator(next), std::make_move_iterator(turn.parts.end()));
}

Result<> ContentDecoder::take_contents(JsonValue contents, std::string_view path) {
  return read_list(contents, path,
                   [&](const std::string& at, JsonValue content) { return take_content(content, at); });
}

Result<> ContentDecoder::take_system(JsonValue content, const std::string& path) {
  constexpr std::array<std::string_view, 2> kFields{"parts", "role"};
  model::Turn turn;
  turn.role = Role::System;
  QQ_CHECK(read_members(
      content, kFields, path, [&](std::size_t field, std::string_view key, JsonValue value) -> Result<> {
        if (field == 1) return {};
        if (field == kFields.size()) {
          turn.extra.push_back(extra_field({}, key, value));
          return {};
        }
        return read_list(value, join_path(path, "parts"),
                         [&](const std::string& at, JsonValue part) { return take_part(part, at, turn); });
      }));
  for (const Part& part : turn.parts) {
    if (part.as<model::TextPart>() == nullptr) {
      return fail(invalid_field("'" + path + "' can only have text parts", path));
    }
  }
  system_.push_back(std::move(turn));
  return {};
}

void ContentDecoder::release(std::vector<model::Turn>& turns) {
  turns = std::move(system_);
  std::ranges::move(turns_, std::back_inserter(turns));
}

}  // namespace qq::dialects::gemini
