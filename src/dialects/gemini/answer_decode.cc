#include "dialects/gemini/answer_decode.h"

#include <algorithm>

#include "dialects/gemini/chunk_decode.h"
#include "dialects/provider_json.h"
#include "model/answer_builder.h"

namespace qq::dialects::gemini {
namespace {

using wire::JsonValue;

class Folding final : public EventSink {
 public:
  void on_event(const model::StreamEvent& event) override { builder_.take(event); }
  model::ChatAnswer release() { return builder_.release(); }

 private:
  model::AnswerBuilder builder_{model::Dialect::Gemini};
};

Error no_answer(ErrorKind kind, std::string message) {
  return Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(message));
}

bool says_something(const model::Part& part) noexcept {
  if (const auto* text = part.as<model::TextPart>()) {
    return text->text.find_first_not_of(" \t\r\n") != std::string::npos;
  }
  const auto* reasoning = part.as<model::ReasoningPart>();
  return reasoning == nullptr || !reasoning->text.empty();
}

// Nothing to see and no reason why that may be so.
bool is_empty(const model::ChatAnswer& answer) noexcept {
  return std::ranges::all_of(answer.choices, [](const model::Choice& choice) {
    using model::Finish;
    const bool may_be = choice.finish == Finish::Length || choice.finish == Finish::Filtered;
    return !may_be && std::ranges::none_of(choice.parts, says_something);
  });
}

// What Google says of an answer that is none.
std::string empty_message(const model::ChatAnswer& answer) {
  for (const model::ExtraField& extra : answer.extra) {
    if (extra.key.ends_with(".finishMessage")) return JsonValue(extra.value).string();
  }
  return "the provider's answer is empty";
}

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, std::string_view id_seed) {
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3);
  std::string repaired;
  if (check_provider_json(body, repaired) != nullptr) {
    return fail(no_answer(ErrorKind::BadJson, "the provider's answer is not valid JSON"));
  }
  const JsonValue document(body);
  ChunkDecoder chunks(id_seed);
  Folding folding;
  model::ExtraFields extra;
  chunks.keep_extra(&extra);
  std::optional<Error> error;
  JsonValue last = document;
  if (document.is_array()) {  // a stream's array, in one piece
    for (wire::JsonElements each(document); !error && each.next();) {
      last = each.value();
      error = chunks.take(last, folding);
    }
  } else {
    error = chunks.take(document, folding);
  }
  if (error) return fail(*std::move(error));
  const bool whole = chunks.finish(folding);
  model::ChatAnswer answer = folding.release();
  answer.extra = std::move(extra);
  if (const auto tier = last.at("usageMetadata", "serviceTier"); tier && tier->is_string()) {
    const std::string_view word = tier->raw_string();
    answer.service_tier = word == "standard" ? "default" : word;
  }
  if (is_empty(answer)) return fail(no_answer(ErrorKind::EmptyReply, empty_message(answer)));
  // Without a finish reason it is an answer all the same; nobody knows how it ended.
  if (!whole) {
    for (model::Choice& choice : answer.choices) {
      if (choice.finish == model::Finish::None) choice.finish = model::Finish::Stop;
    }
  }
  return answer;
}

}  // namespace qq::dialects::gemini
