#include "simulator/provider/checks/tool_pairs.h"

#include "simulator/provider/voices/read.h"

namespace qq::simulator {

ToolPairs tool_pairs(wire::JsonValue messages) {
  ToolPairs pairs;
  std::vector<std::string> open;
  const auto close = [&] {
    pairs.unanswered.insert(pairs.unanswered.end(), open.begin(), open.end());
    open.clear();
  };
  for (wire::JsonElements items(messages); items.next();) {
    const std::string role = text_member(items.value(), "role");
    if (role == "tool") {
      std::string id = text_member(items.value(), "tool_call_id");
      if (std::erase(open, id) == 0) pairs.unknown.push_back(std::move(id));
      continue;
    }
    close();
    const auto calls = items.value().member("tool_calls");
    if (role != "assistant" || !calls) continue;
    for (wire::JsonElements each(*calls); each.next();) {
      open.push_back(text_member(each.value(), "id"));
      pairs.ids.push_back(open.back());
    }
  }
  close();
  return pairs;
}

}  // namespace qq::simulator
