#include "dialects/openai_chat/thoughts.h"

#include "dialects/carried_state.h"

namespace qq::dialects::openai_chat {
namespace {

using ThoughtKind = model::ReasoningPart::Kind;
constexpr model::Dialect kOwn = model::Dialect::OpenAiChat;

// The detail without what is said elsewhere.
std::string without_text(wire::JsonValue detail) {
  std::string out;
  out.reserve(detail.text().size());
  wire::JsonWriter json(out);
  json.begin_object();
  for (wire::JsonMembers members(detail); members.next();) {
    if (members.key_is("text") || members.key_is("summary")) continue;
    out += out.size() > 1 ? ",\"" : "\"";
    out.append(members.raw_key()).append("\":").append(members.value().text());
  }
  out += '}';
  return out;
}

void write_id(wire::JsonWriter& json, std::string_view id, std::int64_t index) {
  if (!id.empty()) json.member("id", id);
  if (index >= 0) json.member("index", index);
}

}  // namespace

bool Detail::is_continued_by(const Detail& next) const noexcept {
  if (!state.empty() || next.state.empty() || !next.text.empty()) return false;
  if (next.kind == kind) return next.index == index;
  const bool same_id = !id.empty() && id == next.id;
  return kind == ThoughtKind::Summary && next.is_encrypted() &&
         (same_id || (index >= 0 && index == next.index));
}

Detail read_detail(wire::JsonValue detail) {
  Detail out;
  wire::JsonValue state;
  for (wire::JsonMembers members(detail); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "type") {
      const std::string_view type = value.raw_string();
      if (type == "reasoning.summary") out.kind = ThoughtKind::Summary;
      if (type == "reasoning.encrypted") out.kind = ThoughtKind::Redacted;
    } else if ((key == "text" || key == "summary") && value.is_string()) {
      out.text = value.string();
    } else if ((key == "signature" || key == "data") && value.is_string() && value.text().size() > 2) {
      state = value;
    } else if (key == "id" && value.is_string()) {
      out.id = value.string();
    } else if (key == "index") {
      out.index = value.integer().value_or(-1);
    }
  }
  if (state.is_string()) {
    out.state = state_of_field(state.string(), kOwn);
    if (out.state.maker == kOwn) out.state.data = without_text(detail);
  }
  return out;
}

void append_thoughts(wire::JsonValue text, wire::JsonValue details, std::vector<model::Part>& out) {
  const std::size_t begin = out.size();
  bool any_text = false;
  Detail last;
  for (wire::JsonElements elements(details); details.is_array() && elements.next();) {
    Detail detail = read_detail(elements.value());
    any_text = any_text || !detail.text.empty();
    if (out.size() > begin && last.is_continued_by(detail)) {
      out.back().state = last.state = std::move(detail.state);
      continue;
    }
    if (detail.text.empty() && detail.state.empty()) continue;
    last = detail;
    model::Part part(model::ReasoningPart{detail.kind, std::move(detail.text), std::move(detail.id)});
    part.state = std::move(detail.state);
    out.push_back(std::move(part));
  }
  if (any_text || !text.is_string() || text.text().size() <= 2) return;
  // Details that hold nothing but a state: the text belongs to the first that may have one.
  for (std::size_t i = begin; i < out.size(); ++i) {
    auto* thought = out[i].as<model::ReasoningPart>();
    if (thought->kind == ThoughtKind::Redacted) continue;
    thought->text = text.string();
    return;
  }
  out.emplace(out.begin() + static_cast<std::ptrdiff_t>(begin),
              model::ReasoningPart{.text = text.string(), .id = {}});
}

void write_thought_text(wire::JsonWriter& json, ThoughtKind kind, std::string_view id, std::string_view text,
                        std::int64_t index) {
  json.begin_object();
  json.member("type", kind == ThoughtKind::Summary ? "reasoning.summary" : "reasoning.text");
  json.member(kind == ThoughtKind::Summary ? "summary" : "text", text);
  write_id(json, id, index);
  json.end_object();
}

void write_thought_state(wire::JsonWriter& json, ThoughtKind kind, std::string_view id,
                         const model::OpaqueState& state, std::int64_t index) {
  // It has come through a client's hands, so it may be anything by now.
  if (state.maker == kOwn && state.data.starts_with('{') && !wire::check_json(state.data)) {
    json.raw(state.data);
    return;
  }
  json.begin_object();
  json.member("type", kind == ThoughtKind::Full ? "reasoning.text" : "reasoning.encrypted");
  json.member(kind == ThoughtKind::Full ? "signature" : "data", state_field(state, kOwn));
  write_id(json, id, index);
  json.end_object();
}

void write_thought(wire::JsonWriter& json, const model::Part& part, std::int64_t index) {
  const auto& thought = *part.as<model::ReasoningPart>();
  const bool apart = thought.kind != ThoughtKind::Full || part.state.empty();
  if (apart) {
    if (!thought.text.empty() || part.state.empty())
      write_thought_text(json, thought.kind, thought.id, thought.text, index);
    if (!part.state.empty()) write_thought_state(json, thought.kind, thought.id, part.state, index);
    return;
  }
  // A text and its signature are one element.
  std::string state;
  wire::JsonWriter writer(state);
  write_thought_state(writer, thought.kind, thought.id, part.state, index);
  std::string whole = "{\"text\":";
  wire::append_json_string(whole, thought.text);
  if (state.size() > 2) whole += ',';
  whole.append(state, 1);
  json.raw(whole);
}

}  // namespace qq::dialects::openai_chat
