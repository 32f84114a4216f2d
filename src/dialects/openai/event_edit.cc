#include "dialects/openai/event_edit.h"

#include <array>

#include "base/text.h"

namespace qq::dialects::openai {
namespace {

// A stretch of the data and what stands there instead.
struct Change {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_model = false;
};

// The member `usage` with one comma, found from its value outwards. The judge compared the key as
// written, so it is exactly "usage" in quotes.
Change usage_member(std::string_view data, std::string_view value) noexcept {
  Change change;
  change.end = static_cast<std::size_t>(value.data() - data.data()) + value.size();
  std::size_t at = change.end - value.size();
  while (at > 0 && data[at - 1] != '"') --at;  // white space and the colon
  change.begin = at - std::string_view("\"usage\"").size();
  std::size_t next = change.end;
  while (next < data.size() && is_space(data[next])) ++next;
  if (next < data.size() && data[next] == ',') {
    change.end = next + 1;
    return change;
  }
  std::size_t before = change.begin;
  while (before > 0 && is_space(data[before - 1])) --before;
  if (before > 0 && data[before - 1] == ',') change.begin = before - 1;
  return change;
}

using Changes = std::array<Change, 2>;

// The value of the `usage` member that goes, empty text if none does.
wire::JsonValue usage_that_goes(const EventRules& rules, const EventFacts& facts) noexcept {
  if (!rules.usage_forced) return {};
  return facts.usage_beside.text().empty() ? facts.usage_null_value : facts.usage_beside;
}

// What is to change in `data`, in the order of its bytes; how many that are.
std::size_t find_changes(const EventRules& rules, const DeltaFacts& facts, wire::JsonValue usage,
                         std::string_view data, Changes& changes) noexcept {
  std::size_t count = 0;
  if (renames(rules, facts)) {
    const std::string_view value = facts.model_value.text();
    const auto begin = static_cast<std::size_t>(value.data() - data.data());
    changes[count++] = {begin, begin + value.size(), true};
  }
  if (!usage.text().empty()) changes[count++] = usage_member(data, usage.text());
  if (count == 2 && changes[1].begin < changes[0].begin) std::swap(changes[0], changes[1]);
  return count;
}

void append_model(std::string& out, const EventRules& rules) {
  if (rules.rename_json.empty()) {
    wire::append_json_string(out, rules.rename_model);
  } else {
    out.append(rules.rename_json);
  }
}

void append_changed(std::string& out, std::string_view data, const Changes& changes, std::size_t count,
                    const EventRules& rules) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out.append(data.substr(at, changes[i].begin - at));
    if (changes[i].is_model) append_model(out, rules);
    at = changes[i].end;
  }
  out.append(data.substr(at));
}

// Without data it is no event to clients, however it is written.
bool is_hidden(const wire::SseEvent& event) noexcept {
  return event.indented && event.has_data;
}

// Where `data` stands in `raw`: it is a view into it, or (when the decoder kept the event) a copy of it.
std::size_t find_in(std::string_view raw, std::string_view data) noexcept {
  if (data.empty() || data.find('\n') != std::string_view::npos) return std::string_view::npos;
  const auto raw_begin = reinterpret_cast<std::uintptr_t>(raw.data());
  const auto data_begin = reinterpret_cast<std::uintptr_t>(data.data());
  if (data_begin >= raw_begin && data_begin + data.size() <= raw_begin + raw.size()) {
    return data_begin - raw_begin;
  }
  return raw.find(data);
}

}  // namespace

void append_event(std::string& out, std::string_view name, std::string_view data) {
  if (!name.empty()) out.append("event: ").append(name).append("\n");
  while (true) {
    const std::size_t end = data.find('\n');
    out.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  out.append("\n");
}

Edit edit_of(const EventRules& rules, const EventFacts& facts, const wire::SseEvent& event) noexcept {
  if (rules.usage_forced && facts.usage_only) return Edit::Drop;
  const bool changes = renames(rules, facts) || !usage_that_goes(rules, facts).text().empty();
  return changes || is_hidden(event) ? Edit::Rewrite : Edit::Keep;
}

Edit edit_event(const EventRules& rules, const EventFacts& facts, const wire::SseEvent& event,
                std::string_view raw, std::string& out) {
  const Edit edit = edit_of(rules, facts, event);
  if (edit != Edit::Rewrite) return edit;

  Changes changes{};
  const std::size_t count = find_changes(rules, facts, usage_that_goes(rules, facts), event.data, changes);

  const std::size_t at = is_hidden(event) ? std::string_view::npos : find_in(raw, event.data);
  if (at != std::string_view::npos) {
    out.append(raw.substr(0, at));
    append_changed(out, event.data, changes, count, rules);
    out.append(raw.substr(at + event.data.size()));
  } else {
    std::string data;
    append_changed(data, event.data, changes, count, rules);
    append_event(out, event.name, data);
  }
  return edit;
}

void splice_event(const EventRules& rules, const DeltaFacts& facts, std::string_view event,
                  EventPieces& pieces) noexcept {
  Changes changes{};
  const wire::JsonValue usage = strips_null(rules, facts) ? facts.usage_null_value : wire::JsonValue();
  const std::size_t count = find_changes(rules, facts, usage, event, changes);
  pieces = {};
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    pieces[2 * i] = event.substr(at, changes[i].begin - at);
    if (changes[i].is_model) pieces[2 * i + 1] = rules.rename_json;
    at = changes[i].end;
  }
  pieces[2 * count] = event.substr(at);
}

}  // namespace qq::dialects::openai
