#include "dialects/call_index.h"

namespace qq::dialects {

std::size_t CallIndex::add(std::string_view id, std::string_view name) {
  const std::size_t call = closed_.size();
  closed_.push_back(false);
  if (!id.empty()) with_id_[std::string(id)].calls.push_back(call);
  if (id.empty() || by_name_ == ByName::All) {
    named_[std::string(name)].calls.push_back(call);
    any_.calls.push_back(call);
  }
  return call;
}

std::optional<std::size_t> CallIndex::first_open(Line& line) const {
  while (line.closed < line.calls.size() && closed_[line.calls[line.closed]]) ++line.closed;
  if (line.closed == line.calls.size()) return std::nullopt;
  return line.calls[line.closed];
}

std::optional<std::size_t> CallIndex::open_with_id(std::string_view id) {
  const auto line = with_id_.find(id);
  return line == with_id_.end() ? std::nullopt : first_open(line->second);
}

std::optional<std::size_t> CallIndex::open_named(std::string_view name) {
  if (name.empty()) return first_open(any_);
  const auto line = named_.find(name);
  return line == named_.end() ? std::nullopt : first_open(line->second);
}

std::optional<std::size_t> CallIndex::last_with_id(std::string_view id) const {
  const auto line = with_id_.find(id);
  return line == with_id_.end() ? std::nullopt : std::optional(line->second.calls.back());
}

std::optional<std::size_t> CallIndex::last_named(std::string_view name) const {
  if (name.empty()) return any_.calls.empty() ? std::nullopt : std::optional(any_.calls.back());
  const auto line = named_.find(name);
  return line == named_.end() ? std::nullopt : std::optional(line->second.calls.back());
}

bool KnownStates::add(const model::OpaqueState& state) {
  return states_.emplace(state.maker, state.data).second;
}

void KnownStates::add(const std::vector<model::Part>& parts) {
  for (const model::Part& part : parts) {
    if (!part.state.empty()) add(part.state);
  }
}

}  // namespace qq::dialects
