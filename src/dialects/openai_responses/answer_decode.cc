#include "dialects/openai_responses/answer_decode.h"

#include "dialects/openai/answer.h"
#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/provider_json.h"

namespace qq::dialects::openai_responses {

using model::Finish;
using wire::JsonValue;

ResponseMembers read_response(JsonValue response, model::ExtraFields* others) {
  ResponseMembers of;
  JsonValue object, instructions, tools, tool_choice, text, metadata, ignored;
  find_members(response,
               {{"id", &of.id},
                {"model", &of.model},
                {"created_at", &of.created},
                {"status", &of.status},
                {"output", &of.output},
                {"usage", &of.usage},
                {"error", &of.error},
                {"incomplete_details", &of.incomplete},
                {"service_tier", &of.service_tier},
                // What follows repeats the request.
                {"object", &object},
                {"instructions", &instructions},
                {"tools", &tools},
                {"tool_choice", &tool_choice},
                {"text", &text},
                {"metadata", &metadata},
                {"background", &ignored},
                {"completed_at", &ignored},
                {"frequency_penalty", &ignored},
                {"presence_penalty", &ignored},
                {"max_output_tokens", &ignored},
                {"max_tool_calls", &ignored},
                {"parallel_tool_calls", &ignored},
                {"previous_response_id", &ignored},
                {"prompt_cache_key", &ignored},
                {"prompt_cache_options", &ignored},
                {"prompt_cache_retention", &ignored},
                {"reasoning", &ignored},
                {"safety_identifier", &ignored},
                {"store", &ignored},
                {"temperature", &ignored},
                {"top_p", &ignored},
                {"top_logprobs", &ignored},
                {"truncation", &ignored},
                {"user", &ignored}},
               others);
  return of;
}

Finish finish_of(std::string_view status, std::string_view reason, bool has_calls) noexcept {
  if (status == "incomplete") return reason == "content_filter" ? Finish::Filtered : Finish::Length;
  if (status == "queued" || status == "in_progress") return Finish::Paused;
  if (status == "failed" || status == "cancelled") return Finish::Broken;
  return has_calls ? Finish::ToolCalls : Finish::Stop;
}

Error error_of_response(JsonValue error, std::string_view status) {
  if (openai::is_error_value(error)) return openai::error_from_value(error);
  return Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                         "the provider ended its answer with \"" + std::string(status) + "\"");
}

namespace {

bool is_waiting(std::string_view status) noexcept {
  return status == "queued" || status == "in_progress";
}

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                        std::string_view id_seed) {
  const auto upstream = [](ErrorKind kind, std::string message) {
    return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(message)));
  };
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3);
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return upstream(ErrorKind::EmptyReply, "the provider's answer has no body");
  }
  std::string repaired;
  if (const char* const reason = check_provider_json(body, repaired)) {
    return upstream(ErrorKind::BadJson, "the provider's answer is not JSON: " + std::string(reason));
  }
  const JsonValue document(body);
  model::ChatAnswer answer;
  answer.dialect = kDialect;
  const ResponseMembers of = read_response(document, &answer.extra);
  const std::string_view status = of.status.raw_string();
  if (absent(of.output)) {
    if (auto error = openai::find_error(document)) return fail(std::move(*error));
    if (!document.is_object())
      return upstream(ErrorKind::BadJson, "the provider's answer is not a JSON object");
  }
  if (status == "failed" || status == "cancelled" || openai::is_error_value(of.error)) {
    return fail(error_of_response(of.error, status));
  }
  if (of.id.is_string()) answer.id = of.id.string();
  if (of.model.is_string()) answer.model = of.model.string();
  answer.created = seconds_of(of.created);
  if (of.service_tier.is_string()) answer.service_tier = of.service_tier.string();
  answer.usage = openai::decode_usage(of.usage, target.quirks);

  model::Choice& choice = answer.choices.emplace_back();
  bool content = false;
  bool calls = false;
  std::size_t number = 0;
  for (wire::JsonElements items(of.output); items.next();) {
    content = content || openai::output_item_has_content(items.value());
    DecodedItem item = decode_output_item(items.value(), made_id("call_", id_seed, number++));
    calls = calls || item.kind == DecodedItem::Kind::Call;
    append_logprobs(choice.logprobs, item.logprobs);
    for (model::Part& part : item.parts) choice.parts.push_back(std::move(part));
  }
  const auto reason = of.incomplete.member("reason");
  const std::string_view why = reason ? reason->raw_string() : std::string_view();
  choice.finish = finish_of(status, why, calls);
  choice.finish_word = status == "incomplete" && !why.empty() ? why : status;
  if (!content && status != "incomplete" && !is_waiting(status)) {
    return upstream(ErrorKind::EmptyReply,
                    "the provider's answer has nothing in it (status \"" + std::string(status) + "\")");
  }
  return answer;
}

void append_logprobs(model::Json& all, std::string_view array) {
  if (!wire::JsonElements(JsonValue(array)).next()) return;
  if (all.empty()) {
    all = array;
    return;
  }
  all.back() = ',';
  all.append(array.substr(1));
}

}  // namespace qq::dialects::openai_responses
