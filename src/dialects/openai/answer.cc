#include "dialects/openai/answer.h"

#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "wire/json_patch.h"

namespace qq::dialects::openai {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";
// choices, the choice, its message: what stands in a message is the fourth.
constexpr std::size_t kDepthOfInterest = 4;

void set_error(AnswerFacts& facts, Error error) {
  facts.fault = ErrorKind::StreamError;
  facts.fault_message = error.message;
  facts.error = std::move(error);
}

void set_fault(AnswerFacts& facts, ErrorKind kind, std::string message) {
  facts.fault = kind;
  facts.fault_message = std::move(message);
}

// What the choices or output items said, gathered in the walk.
struct Contents {
  bool listed = false;  // there was a list of choices, items, data or results
  bool content = false;
  bool empty_is_fine = false;
  bool broken = false;  // the provider says that generation failed
};

void read_choice(wire::JsonElements& choices, bool first, bool is_completion, AnswerFacts& facts,
                 Contents& contents, wire::JsonValue& hidden_usage) {
  for (auto members = wire::JsonMembers::inside(choices); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "message") {
      auto message = wire::JsonMembers::inside(members);
      if (any_content(message)) contents.content = true;
      continue;
    }
    const wire::JsonValue value = members.value();
    if (key == "text") {
      // A completion may well be one line feed.
      contents.content = contents.content || (is_completion ? value.text().size() > 2 : has_text(value));
    } else if (key == "finish_reason" && !value.is_null()) {
      std::string reason = value.is_string() ? value.string() : std::string(value.text());
      const FinishMeaning meaning = meaning_of_finish(reason);
      contents.empty_is_fine = contents.empty_is_fine || meaning == FinishMeaning::EmptyIsFine;
      contents.broken = contents.broken || meaning == FinishMeaning::Broken;
      if (first) facts.finish_reason = std::move(reason);
    } else if (key == "usage" && value.is_object()) {  // Moonshot
      hidden_usage = value;
    } else if (key == "error" && is_error_value(value)) {  // OpenRouter
      set_error(facts, error_from_value(value));
    } else if (is_stop_string_mark(key, value)) {
      contents.empty_is_fine = true;
    }
  }
}

void read_choices(wire::JsonMembers& document, bool is_completion, AnswerFacts& facts, Contents& contents,
                  wire::JsonValue& hidden_usage) {
  bool first = true;
  for (auto choices = wire::JsonElements::inside(document); choices.next(); first = false) {
    contents.listed = true;
    read_choice(choices, first, is_completion, facts, contents, hidden_usage);
  }
}

void read_output(wire::JsonValue output, Contents& contents) {
  for (wire::JsonElements elements(output); elements.next();) {
    contents.listed = true;
    contents.content = contents.content || output_item_has_content(elements.value());
  }
}

// The whole answer of an endpoint that counts tokens.
bool is_count(model::Endpoint endpoint, std::string_view key, wire::JsonValue value) noexcept {
  switch (endpoint) {
    case model::Endpoint::CountInputTokens:
    case model::Endpoint::CountMessageTokens: return key == "input_tokens" && value.integer();
    case model::Endpoint::CountContentTokens: return key == "totalTokens" && value.integer();
    default: return false;
  }
}

bool is_filled_array(wire::JsonValue value) noexcept {
  return value.is_array() && wire::JsonElements(value).next();
}

std::string describe(std::string_view finish_reason) {
  if (finish_reason.empty()) return "the provider's answer has nothing in it";
  return "the provider's answer has nothing in it (finish reason \"" + std::string(finish_reason) + "\")";
}

void judge_document(model::Endpoint endpoint, wire::JsonValue document, const wire::JsonOutline& outline,
                    const model::Target& target, AnswerFacts& facts) {
  Contents contents;
  bool says_error = false;
  wire::JsonValue hidden_usage;
  for (wire::JsonMembers members(document, outline); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "choices") {
      read_choices(members, endpoint == model::Endpoint::Completions, facts, contents, hidden_usage);
      continue;
    }
    if (key == "usage") {
      auto figures = wire::JsonMembers::inside(members);
      facts.usage = decode_usage(figures, target.quirks);
      continue;
    }
    const wire::JsonValue value = members.value();
    if (key == "model") {
      facts.model_value = value;
    } else if (key == "error") {
      says_error = is_error_value(value);
    } else if (key == "output") {
      read_output(value, contents);
    } else if (key == "status" && endpoint == model::Endpoint::Responses && value.is_string()) {
      facts.finish_reason = value.string();
      contents.empty_is_fine = meaning_of_finish(facts.finish_reason) == FinishMeaning::EmptyIsFine;
      contents.broken = meaning_of_finish(facts.finish_reason) == FinishMeaning::Broken;
    } else if (is_count(endpoint, key, value)) {
      contents.content = true;
    } else if (key == "data" || key == "results") {
      contents.content = contents.content || is_filled_array(value);
    } else if (key == "x_groq") {
      if (const auto found = value.member("usage")) hidden_usage = *found;
    }
  }
  if (facts.usage.source == model::UsageSource::None) facts.usage = decode_usage(hidden_usage, target.quirks);

  if (says_error) {
    if (auto error = find_error(document)) set_error(facts, std::move(*error));
  }
  if (facts.fault) return;
  if (contents.broken) {
    set_fault(facts, ErrorKind::StreamError,
              "the provider ended its answer with \"" + facts.finish_reason + "\"");
    return;
  }
  if (contents.content || contents.empty_is_fine) return;
  if (auto error = find_error(document)) {
    set_error(facts, std::move(*error));
    return;
  }
  set_fault(facts, ErrorKind::EmptyReply, describe(facts.finish_reason));
  facts.blank = says_white_space(document);
}

}  // namespace

AnswerFacts judge_answer(model::Endpoint endpoint, std::string_view body, const model::Target& target) {
  AnswerFacts facts;
  // A byte order mark before JSON is wrong and harmless.
  const std::size_t begin = body.find_first_not_of(kWhitespace, body.starts_with("\xef\xbb\xbf") ? 3 : 0);
  if (begin == std::string_view::npos) {
    set_fault(facts, ErrorKind::EmptyReply, "the provider's answer has no body");
    return facts;
  }
  body.remove_prefix(begin);
  wire::JsonOutline outline(kDepthOfInterest);
  // Bytes that are no UTF-8 are the client's to judge: they go on as they came.
  if (const auto error = wire::check_json(body, {.check_utf8 = false}, &outline)) {
    set_fault(facts, ErrorKind::BadJson,
              "the provider's answer is not JSON: " + std::string(error->reason) + " at byte " +
                  std::to_string(begin + error->offset));
    return facts;
  }
  const wire::JsonValue document(body);
  if (document.is_object()) {
    judge_document(endpoint, document, outline, target, facts);
  } else if (auto error = find_error(document)) {
    set_error(facts, std::move(*error));
  } else {
    set_fault(facts, ErrorKind::BadJson, "the provider's answer is not a JSON object");
  }
  return facts;
}

void edit_answer(const AnswerFacts& facts, std::string_view body, std::string_view rename_model,
                 AnswerBody& out) {
  if (rename_model.empty() || facts.model_value.raw_string().empty()) {
    out.pieces = {body, {}, {}};
    out.bytes = body.size();
    return;
  }
  out.pieces = wire::with_other_string(body, facts.model_value, rename_model, out.model_json);
  out.bytes = out.pieces[0].size() + out.pieces[1].size() + out.pieces[2].size();
}

std::string_view name_to_restore(std::string_view asked, const model::Target& target) noexcept {
  return asked == target.upstream_model ? std::string_view() : asked;
}

}  // namespace qq::dialects::openai
