// Thoughts and items that a provider would have to know by their ids. With `store` false OpenAI knows none.
// Seen in openai-agents-python#919, vercel/ai#7543 and #7099, 0xPlaygrounds/rig#751, pydantic-ai#3326 and
// openai/codex#8132.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "simulator/provider/asked.h"
#include "simulator/provider/checks/check.h"
#include "simulator/provider/responses.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

VendorError about_input(const RequestText& request, std::string message, int status = 400) {
  VendorError error = refused(request, std::move(message));
  error.status = status;
  error.param = "input";
  return error;
}

bool is_said_by_model(wire::JsonValue item) {
  const std::string role = text_member(item, "role");
  if (!role.empty()) return role == "assistant";
  const std::string type = text_member(item, "type");
  return !type.ends_with("_output") && type != "mcp_approval_response" && type != "item_reference";
}

VendorError not_persisted(const RequestText& request, std::string_view id) {
  return about_input(
      request,
      fmt::format(
          "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again "
          "with `store` set to true, or remove this item from your input.",
          id),
      404);
}

Refusal refuse_include(const RequestText& request, std::string_view model, const Script& script) {
  const wire::JsonValue body(request.body);
  const auto include = body.member("include");
  const auto reasoning = body.member("reasoning");
  const bool thinks =
      script.reasoning == "on" || (reasoning && reasoning->is_object()) || sounds_like_reasoning(model);
  if (!include || thinks) return std::nullopt;
  for (wire::JsonElements words(*include); words.next();) {
    if (words.value().raw_string() != "reasoning.encrypted_content") continue;
    VendorError error = refused(request, "Encrypted content is not supported with this model.");
    error.param = "include";
    return error;
  }
  return std::nullopt;
}

Refusal refuse_thought(const RequestText& request, wire::JsonValue thought, bool stored) {
  const std::string id = text_member(thought, "id");
  const std::string sealed = text_member(thought, "encrypted_content");
  if (sealed.empty()) {
    if (!stored && !id.empty()) return not_persisted(request, id);
    return std::nullopt;
  }
  if (sealed.starts_with(kSealed)) return std::nullopt;
  VendorError error = refused(
      request, fmt::format("The encrypted content {}... could not be verified.", sealed.substr(0, 4)));
  error.code = "invalid_encrypted_content";
  return error;
}

}  // namespace

Refusal refuse_state(const RequestText& request, std::string_view model, const Script& script) {
  if (auto refusal = refuse_include(request, model, script)) return refusal;
  const wire::JsonValue body(request.body);
  const auto store = body.member("store");
  const bool stored = !store || !store->is_false();
  const auto input = body.member("input");
  if (!input || !input->is_array()) return std::nullopt;
  std::string open;                   // a thought that something must follow
  std::vector<std::string> thoughts;  // their ids, as far as they were said
  for (wire::JsonElements items(*input); items.next();) {
    const wire::JsonValue item = items.value();
    const std::string type = text_member(item, "type");
    const std::string id = text_member(item, "id");
    if (!stored && type == "item_reference") return not_persisted(request, id);
    const bool said = is_said_by_model(item);
    if (!said && !open.empty()) break;
    open.clear();
    if (type == "reasoning") {
      if (auto refusal = refuse_thought(request, item, stored)) return refusal;
      open = id.empty() ? "rs_" : id;
      thoughts.push_back(id);
      continue;
    }
    const std::string thought = end_of_thought_before(id);
    const bool is_there =
        std::ranges::any_of(thoughts, [&](const std::string& known) { return known.ends_with(thought); });
    if (said && !thought.empty() && !is_there) {
      return about_input(
          request,
          fmt::format(
              "Item '{}' of type '{}' was provided without its required 'reasoning' item: 'rs_...{}'.", id,
              type, thought));
    }
  }
  if (open.empty()) return std::nullopt;
  return about_input(request, fmt::format("Item '{}' of type 'reasoning' was provided without its required "
                                          "following item.",
                                          open));
}

}  // namespace qq::simulator
