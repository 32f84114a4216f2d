#include "dialects/openai_responses/stateless.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "dialects/carried_state.h"
#include "dialects/openai_responses/members.h"

namespace qq::dialects::openai_responses {
namespace {

using wire::JsonValue;

constexpr std::string_view kSealedThoughts = "reasoning.encrypted_content";

constexpr std::array<std::string_view, 6> kIdsToSpare{
    "message", "reasoning", "function_call", "custom_tool_call", "web_search_call", "local_shell_call"};

std::string_view type_of(JsonValue item) noexcept {
  const auto type = item.member("type");
  return type ? type->raw_string() : std::string_view();
}

// Whether the thought may be sent: of all kinds of providers, or to who sealed it.
bool goes(JsonValue thought, Thoughts go) {
  const auto sealed = thought.member("encrypted_content");
  if (is_filled(sealed)) {
    if (go == Thoughts::Hollow) return false;
    return state_of_field(sealed->string(), model::Dialect::OpenAiResponses).maker !=
           model::Dialect::OpenAiResponses;
  }
  return go == Thoughts::Unsealed || is_hollow(thought);
}

// The bytes of the member with this value, with one comma of those around it.
std::string_view with_comma(JsonValue object, JsonValue value) noexcept {
  const char* before_end = nullptr;  // behind the member before
  const char* begin = nullptr;
  const char* end = nullptr;
  for (wire::JsonMembers members(object); members.next();) {
    const char* const key = members.raw_key().data() - 1;
    if (end != nullptr) return {begin, static_cast<std::size_t>(key - begin)};
    const std::string_view text = members.value().text();
    if (text.data() == value.text().data()) {
      begin = key;
      end = text.data() + text.size();
    } else {
      before_end = text.data() + text.size();
    }
  }
  if (before_end != nullptr) begin = before_end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Takes the elements out that go, with as many commas.
void cut_elements(JsonValue array, std::span<const Fate> fates, wire::JsonPatch& patch) {
  const char* kept_end = nullptr;   // behind the last element that stays
  const char* run_begin = nullptr;  // of elements in a row that go
  const char* run_end = nullptr;
  std::size_t index = 0;
  for (wire::JsonElements each(array); each.next(); ++index) {
    const std::string_view text = each.value().text();
    if (fates[index] == Fate::Goes) {
      if (run_begin == nullptr) run_begin = text.data();
      run_end = text.data() + text.size();
      continue;
    }
    if (run_begin != nullptr) patch.cut({run_begin, static_cast<std::size_t>(text.data() - run_begin)});
    run_begin = nullptr;
    kept_end = text.data() + text.size();
  }
  if (run_begin == nullptr) return;
  if (kept_end != nullptr) run_begin = kept_end;
  patch.cut({run_begin, static_cast<std::size_t>(run_end - run_begin)});
}

// Models of OpenAI's that think, by their names: o1, o3, gpt-5 and what follows, codex. A model that nobody
// here knows is not asked: its thoughts are lost then, and nothing is refused.
bool thinks_by_name(std::string_view model) noexcept {
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos)
    model.remove_prefix(slash + 1);
  const auto digit = [&](std::size_t at) { return at < model.size() && std::isdigit(model[at]) != 0; };
  if (model.contains("chat") || model.starts_with("gpt-4") || model.starts_with("gpt-3")) return false;
  return (model.starts_with("o") && digit(1)) || (model.starts_with("gpt-") && digit(4)) ||
         model.starts_with("codex");
}

bool thinks(const StateMembers& members, const model::Target& target) noexcept {
  if (target.reasons) return true;
  if (!target.quirks.seals_thoughts) return false;
  // Who asks a model how to think has one that does: others refuse the question.
  for (wire::JsonMembers wishes(members.reasoning); wishes.next();) {
    if (!wishes.is_null()) return true;
  }
  return thinks_by_name(target.upstream_model.empty() ? target.model : target.upstream_model);
}

void ask_thoughts(JsonValue include, JsonValue request, wire::JsonPatch& patch) {
  if (absent(include) || include.is_null()) {
    if (include.is_null()) {
      patch.replace(include, R"(["reasoning.encrypted_content"])");
    } else {
      patch.add_member(request, "include", R"(["reasoning.encrypted_content"])");
    }
    return;
  }
  if (!include.is_array()) return;  // the provider says so
  std::string words = "[\"" + std::string(kSealedThoughts) + '"';
  for (wire::JsonElements each(include); each.next();) {
    if (each.value().raw_string() == kSealedThoughts) return;
    words.append(",").append(each.value().text());
  }
  patch.replace(include, words + ']');
}

void say(JsonValue request, std::string_view name, JsonValue value, bool needed, wire::JsonPatch& patch) {
  if (!absent(value)) {
    if (!value.is_false()) patch.replace(value, "false");
  } else if (needed) {
    patch.add_member(request, name, "false");
  }
}

}  // namespace

bool is_filled(std::optional<JsonValue> value) noexcept {
  if (!value) return false;
  if (value->is_array()) return wire::JsonElements(*value).next();
  return value->is_string() && !value->raw_string().empty();
}

bool is_hollow(JsonValue thought) noexcept {
  return !is_filled(thought.member("encrypted_content")) && !is_filled(thought.member("summary")) &&
         !is_filled(thought.member("content"));
}

bool is_id_to_spare(std::string_view type) noexcept {
  return std::ranges::find(kIdsToSpare, type) != kIdsToSpare.end();
}

bool is_clients_item(JsonValue item) noexcept {
  const auto role = item.member("role");
  if (role) return role->raw_string() != "assistant";
  const std::string_view type = type_of(item);
  return type.ends_with("_output") || type == "mcp_approval_response" || type == "item_reference";
}

std::vector<Fate> fates_of(JsonValue items, Thoughts go) {
  std::vector<Fate> fates;
  std::size_t turn = 0;  // where it begins
  bool broken = false;   // a thought of this turn goes
  std::vector<bool> spare;
  const auto end_turn = [&] {
    if (broken) {
      for (std::size_t i = turn; i < fates.size(); ++i) {
        if (fates[i] == Fate::Stays && spare[i - turn]) fates[i] = Fate::LosesId;
      }
    }
    spare.clear();
    broken = false;
  };
  for (wire::JsonElements each(items); each.next();) {
    const JsonValue item = each.value();
    if (is_clients_item(item)) {
      end_turn();
      fates.push_back(Fate::Stays);
      turn = fates.size();
      continue;
    }
    const std::string_view type = type_of(item);
    const bool gone = type == "reasoning" && goes(item, go);
    broken = broken || gone;
    fates.push_back(gone ? Fate::Goes : Fate::Stays);
    const bool has_id = item.member("id").has_value();
    spare.push_back(has_id && (type.empty() || is_id_to_spare(type)));
  }
  end_turn();
  return fates;
}

void tidy_input(JsonValue input, const model::Target& target, wire::JsonPatch& patch) {
  if (!input.is_array()) return;
  const auto fates = fates_of(input, target.quirks.seals_thoughts ? Thoughts::Unsealed : Thoughts::Hollow);
  if (std::ranges::all_of(fates, [](Fate fate) { return fate == Fate::Stays; })) return;
  cut_elements(input, fates, patch);
  std::size_t index = 0;
  for (wire::JsonElements each(input); each.next(); ++index) {
    if (fates[index] != Fate::LosesId) continue;
    const JsonValue item = each.value();
    patch.cut(with_comma(item, *item.member("id")));
  }
}

void make_stateless(const StateMembers& members, JsonValue request, const model::Target& target,
                    bool asks_thoughts, wire::JsonPatch& patch) {
  say(request, "store", members.store, true, patch);
  say(request, "background", members.background, false, patch);
  if (asks_thoughts && thinks(members, target)) ask_thoughts(members.include, request, patch);
  tidy_input(members.input, target, patch);
}

}  // namespace qq::dialects::openai_responses
