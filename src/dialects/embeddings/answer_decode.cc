// The vectors out of a provider's answer.
#include <fmt/format.h>

#include "dialects/embeddings/embeddings.h"
#include "dialects/openai/answer.h"
#include "dialects/openai/error_body.h"
#include "dialects/provider_json.h"

namespace qq::dialects::embeddings {
namespace {

using model::Endpoint;
using wire::JsonElements;
using wire::JsonValue;

Error broken_answer(ErrorKind kind, std::string why) {
  return Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(why));
}

void take_input(const std::optional<JsonValue>& figure, model::Usage& usage) noexcept {
  const auto count = count_in(figure);
  if (!count) return;
  usage.input_uncached = count;
  usage.source = model::UsageSource::Provider;
}

void take_vector(const std::optional<JsonValue>& vector, Answer& answer) {
  if (vector && vector->is_array()) answer.vectors.push_back(*vector);
}

// By their index, in whatever order they come; without one as they come.
void take_openai(JsonValue document, const model::Target& target, Answer& answer) {
  if (const auto usage = document.member("usage")) answer.usage = openai::decode_usage(*usage, target.quirks);
  const auto data = document.member("data");
  if (!data) return;
  std::vector<JsonValue> placed;
  std::size_t next = 0;
  for (JsonElements each(*data); each.next(); ++next) {
    const auto index = count_in(each.value().member("index"));
    const auto place = index ? static_cast<std::size_t>(*index) : next;
    const auto vector = each.value().member("embedding");
    if (!vector || !vector->is_array() || place > 1'000'000) return;
    if (place >= placed.size()) placed.resize(place + 1);
    placed[place] = *vector;
  }
  for (const JsonValue vector : placed) take_vector(vector, answer);
}

void take_gemini(JsonValue document, Answer& answer) {
  take_input(document.at("usageMetadata", "promptTokenCount"), answer.usage);
  if (const auto single = document.member("embedding")) take_vector(single->member("values"), answer);
  const auto list = document.member("embeddings");
  if (!list) return;
  for (JsonElements each(*list); each.next();) take_vector(each.value().member("values"), answer);
}

// Each says its own share; a sum of some would be no figure.
void take_predictions(JsonValue document, Answer& answer) {
  const auto list = document.member("predictions");
  if (!list) return;
  std::int64_t tokens = 0;
  bool told = true;
  for (JsonElements each(*list); each.next();) {
    take_vector(each.value().at("embeddings", "values"), answer);
    const auto count = count_in(each.value().at("embeddings", "statistics", "token_count"));
    told = told && count.has_value();
    tokens += count.value_or(0);
  }
  if (!told || answer.vectors.empty()) return;
  answer.usage.input_uncached = tokens;
  answer.usage.source = model::UsageSource::Provider;
}

// By type where types were asked for; older models in Bedrock have one list.
void take_cohere(JsonValue document, Answer& answer) {
  take_input(document.at("meta", "billed_units", "input_tokens"), answer.usage);
  auto list = document.member("embeddings");
  if (list && list->is_object()) list = list->member("float");
  if (!list) return;
  for (JsonElements each(*list); each.next();) take_vector(each.value(), answer);
}

void take_titan(JsonValue document, Answer& answer) {
  take_input(document.member("inputTextTokenCount"), answer.usage);
  take_vector(document.member("embedding"), answer);
}

// Numbers and nothing else, so that whoever writes them need not look.
bool is_numbers(JsonValue vector) noexcept {
  for (JsonElements each(vector); each.next();) {
    const char first = each.value().text().front();
    if (first != '-' && (first < '0' || first > '9')) return false;
  }
  return JsonElements(vector).next();
}

}  // namespace

Result<Answer> decode_answer(std::string_view body, const Request& request, const model::Target& target,
                             Endpoint endpoint, std::string& room) {
  const auto document = provider_json(body, room);
  if (!document) return fail(broken_answer(ErrorKind::BadJson, "the answer is not JSON"));
  Answer answer;
  switch (endpoint) {
    case Endpoint::Embeddings: take_openai(*document, target, answer); break;
    case Endpoint::BatchEmbedContents:
    case Endpoint::EmbedContent: take_gemini(*document, answer); break;
    case Endpoint::Predict: take_predictions(*document, answer); break;
    default: take_cohere(*document, answer); take_titan(*document, answer);
  }
  if (answer.vectors.empty()) {
    if (auto error = openai::find_error(*document)) return fail(std::move(*error));
    return fail(broken_answer(ErrorKind::EmptyReply, "the answer holds no embeddings"));
  }
  if (answer.vectors.size() != request.texts.size()) {
    return fail(broken_answer(ErrorKind::BadJson, fmt::format("the answer holds {} embeddings of {} texts",
                                                              answer.vectors.size(), request.texts.size())));
  }
  for (const JsonValue vector : answer.vectors) {
    if (!is_numbers(vector))
      return fail(broken_answer(ErrorKind::BadJson, "an embedding in the answer is no list of numbers"));
  }
  return answer;
}

}  // namespace qq::dialects::embeddings
