// A provider's whole answer. What has no place in the neutral answer stays as ExtraFields, those of its usage
// as "usage.…", so that a client of this dialect gets them again.
#include <algorithm>
#include <array>

#include "dialects/anthropic/blocks.h"
#include "dialects/anthropic/sides.h"
#include "dialects/anthropic/usage.h"
#include "dialects/made_ids.h"
#include "dialects/openai/error_body.h"
#include "dialects/provider_json.h"

namespace qq::dialects::anthropic {
namespace {

using model::Part;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

constexpr std::array<std::string_view, 7> kUsageWords{"input_tokens",
                                                      "output_tokens",
                                                      "cache_read_input_tokens",
                                                      "cache_creation_input_tokens",
                                                      "cache_creation",
                                                      "output_tokens_details",
                                                      "service_tier"};

void take_usage(const JsonMembers& member, model::ChatAnswer& answer) {
  UsageFigures figures;
  figures.take(member.value());
  answer.usage = figures.usage();
  for (JsonMembers members(member.value()); members.next();) {
    if (members.key_is("service_tier")) {
      (void)take_text(members, answer.service_tier);
      if (answer.service_tier == "standard") answer.service_tier = "default";
    } else if (!members.is_null() && std::ranges::find(kUsageWords, members.raw_key()) == kUsageWords.end()) {
      take_extra(members, answer.extra);
      answer.extra.back().key.insert(0, "usage.");
    }
  }
}

void take_content(const JsonMembers& member, std::string_view id_seed, std::vector<Part>& parts) {
  for (JsonElements blocks(member.value()); blocks.next();) {
    Part part;
    if (decode_block(blocks.value(), part)) continue;  // what has not its own shape says nothing
    if (auto* call = part.as<model::ToolCallPart>(); call != nullptr && call->id.empty())
      call->id = made_call_id(id_seed, parts.size());
    parts.push_back(std::move(part));
  }
}

bool says_something(const Part& part) {
  const auto* text = part.as<model::TextPart>();
  return text == nullptr || !is_blank(text->text);
}

bool may_be_empty(model::Finish finish) noexcept {
  using model::Finish;
  return finish == Finish::Length || finish == Finish::StopString || finish == Finish::Refusal ||
         finish == Finish::Paused;
}

std::unexpected<Error> broken(ErrorKind kind, std::string text) {
  return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)));
}

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed) {
  std::string repaired;
  if (check_provider_json(body, repaired) != nullptr)
    return broken(ErrorKind::BadJson, "the answer is not JSON");
  const JsonValue document(body);
  const auto type = document.member("type");
  if (!type || type->raw_string() != "message") {
    if (auto error = openai::find_error(document)) return fail(std::move(*error));
    if (!document.member("content")) return broken(ErrorKind::EmptyReply, "the answer holds no message");
  }
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::Anthropic;
  model::Choice choice;
  for (JsonMembers members(document); members.next();) {
    if (members.key_is("type") || members.key_is("role")) continue;
    if (members.key_is("id")) {
      (void)take_text(members, answer.id);
    } else if (members.key_is("model")) {
      (void)take_text(members, answer.model);
    } else if (members.key_is("content")) {
      take_content(members, id_seed, choice.parts);
    } else if (members.key_is("stop_reason")) {
      (void)take_text(members, choice.finish_word);
    } else if (members.key_is("stop_sequence")) {
      (void)take_text(members, choice.stop_string);
    } else if (members.key_is("usage")) {
      take_usage(members, answer);
    } else if (!members.is_null()) {
      take_extra(members, answer.extra);
    }
  }
  choice.finish = finish_of(choice.finish_word);
  if (!may_be_empty(choice.finish) && std::ranges::none_of(choice.parts, says_something))
    return broken(ErrorKind::EmptyReply, "the answer is empty");
  answer.choices.push_back(std::move(choice));
  return answer;
}

}  // namespace qq::dialects::anthropic
