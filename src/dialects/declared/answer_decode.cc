#include "base/text.h"
#include "dialects/declared/operation.h"
#include "dialects/declared/reading.h"
#include "dialects/declared/sides.h"
#include "dialects/made_ids.h"
#include "dialects/provider_json.h"
#include "wire/json_pointer.h"

namespace qq::dialects::declared {
namespace {

using wire::JsonValue;

Result<> add_call(const model::DeclaredCalls& where, JsonValue value, std::string_view id_seed,
                  model::Choice& choice) {
  SaidCall said(where, value);
  if (said.name.empty())
    return fail(broken(ErrorKind::StreamError, "the provider sent a tool call without a name"));
  model::ToolCallPart call;
  call.id = said.id.empty() ? made_call_id(id_seed, choice.parts.size()) : std::move(said.id);
  call.name = std::move(said.name);
  call.arguments = said.arguments.empty() ? "{}" : std::move(said.arguments);
  choice.parts.emplace_back(std::move(call));
  return {};
}

Result<> add_calls(const model::DeclaredCalls& where, JsonValue document, std::string_view id_seed,
                   model::Choice& choice) {
  const auto list = wire::at_pointer(document, where.list);
  if (!list) return {};
  if (list->is_object()) return add_call(where, *list, id_seed, choice);
  if (!list->is_array()) return {};
  for (wire::JsonElements each(*list); each.next();) QQ_CHECK(add_call(where, each.value(), id_seed, choice));
  return {};
}

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, const model::DeclaredAdapter& adapter,
                                        std::string_view id_seed) {
  std::string room;
  if (trimmed(body).empty()) return fail(broken(ErrorKind::EmptyReply, "the provider's answer is empty"));
  const auto json = provider_json(body, room);
  if (!json) return fail(broken(ErrorKind::BadJson, "the provider's answer is not JSON"));
  const JsonValue document = *json;
  if (auto error = error_in(adapter.errors, document)) return fail(*std::move(error));
  if (auto error = failed_operation(adapter, document)) return fail(*std::move(error));

  const model::DeclaredWhere& where = adapter.answer;
  model::ChatAnswer out;
  out.dialect = model::Dialect::Declared;
  out.id = text_at(document, where.id).value_or(std::string());
  out.model = text_at(document, where.model).value_or(std::string());
  model::Choice& choice = out.choices.emplace_back();
  if (auto thoughts = text_at(document, where.reasoning); thoughts && !thoughts->empty())
    choice.parts.emplace_back(model::ReasoningPart{.text = *std::move(thoughts), .id = {}});
  if (auto text = text_at(document, where.text); text && !text->empty())
    choice.parts.emplace_back(model::TextPart{.text = *std::move(text), .citations = {}});
  const std::size_t before_calls = choice.parts.size();
  QQ_CHECK(add_calls(where.calls, document, id_seed, choice));

  choice.finish_word = text_at(document, where.finish).value_or(std::string());
  choice.finish = finish_of(adapter, choice.finish_word);
  if (choice.finish == model::Finish::Broken) {
    return fail(
        broken(ErrorKind::StreamError, "the provider ended its answer with \"" + choice.finish_word + "\""));
  }
  if (choice.parts.empty() && !may_be_empty(choice.finish))
    return fail(broken(ErrorKind::EmptyReply, "the provider's answer has nothing in it"));
  // No word at all is an end as well.
  if (choice.finish == model::Finish::None) choice.finish = model::Finish::Stop;
  if (choice.finish == model::Finish::Stop && choice.parts.size() > before_calls)
    choice.finish = model::Finish::ToolCalls;
  UsageReader usage(where.usage);
  usage.take(document);
  out.usage = usage.usage();
  return out;
}

}  // namespace qq::dialects::declared
