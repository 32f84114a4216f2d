#include "dialects/declared/reading.h"

#include <algorithm>

#include "wire/json_pointer.h"
#include "wire/json_text.h"

namespace qq::dialects::declared {
namespace {

using model::Finish;
using model::Pointer;
using model::TokenCount;
using wire::JsonValue;

std::optional<TokenCount> count_at(JsonValue document, const Pointer& pointer) noexcept {
  const auto value = wire::at_pointer(document, pointer);
  const std::optional<TokenCount> count = value ? value->integer() : std::nullopt;
  // More is no count of tokens, and sums of such figures would not fit.
  constexpr TokenCount kCountMax = 1'000'000'000'000;
  return count && *count >= 0 && *count <= kCountMax ? count : std::nullopt;
}

}  // namespace

std::optional<std::string> text_at(JsonValue document, const Pointer& pointer) {
  const auto value = wire::at_pointer(document, pointer);
  if (!value || value->is_null() || value->is_object() || value->is_array()) return std::nullopt;
  return wire::text_of(*value);
}

bool is_true_at(JsonValue document, const Pointer& pointer) noexcept {
  const auto value = wire::at_pointer(document, pointer);
  return value && !value->is_null() && !value->is_false() && value->text() != "0" && value->text() != "\"\"";
}

Finish finish_of(const model::DeclaredAdapter& adapter, std::string_view word) noexcept {
  if (word.empty()) return Finish::None;
  const auto found = std::ranges::find(adapter.finish_words, word, &model::FinishWord::word);
  return found == adapter.finish_words.end() ? Finish::Stop : found->finish;
}

bool may_be_empty(Finish finish) noexcept {
  return finish == Finish::StopString || finish == Finish::Length || finish == Finish::Filtered ||
         finish == Finish::Refusal;
}

Error broken(ErrorKind kind, std::string message) {
  return Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(message));
}

Error error_from(const model::DeclaredErrors& errors, JsonValue document) {
  constexpr int kInsideAnAnswer = 200;
  const std::string code = text_at(document, errors.code).value_or(std::string());
  std::string message = text_at(document, errors.message).value_or(std::string());
  if (message.empty()) message = "the provider sent an error without a message";
  Error error = broken(model::kind_of(errors, kInsideAnAnswer, code).value_or(ErrorKind::StreamError),
                       std::move(message));
  error.code = code;
  return error;
}

std::optional<Error> error_in(const model::DeclaredErrors& errors, JsonValue document) {
  if (errors.code.empty()) {  // then the message alone tells
    if (text_at(document, errors.message).value_or(std::string()).empty()) return std::nullopt;
    return error_from(errors, document);
  }
  if (!is_true_at(document, errors.code)) return std::nullopt;
  const std::string code = text_at(document, errors.code).value_or(std::string());
  if (code == "0" || std::ranges::find(errors.ok_codes, code) != errors.ok_codes.end()) return std::nullopt;
  return error_from(errors, document);
}

bool UsageReader::take(JsonValue document) {
  bool any = false;
  const auto read = [&](const Pointer& pointer, std::optional<TokenCount>& count) {
    const auto told = count_at(document, pointer);
    if (!told || told == count) return;
    count = told;
    any = true;
  };
  read(where_.input, input_);
  read(where_.output, output_);
  read(where_.cache_read, cache_read_);
  read(where_.cache_write, cache_write_);
  read(where_.reasoning, reasoning_);
  return any;
}

model::Usage UsageReader::usage() const noexcept {
  model::Usage out;
  out.input_uncached = input_;
  out.output_text = output_;
  out.cache_read = cache_read_;
  out.cache_write = cache_write_;
  out.reasoning = reasoning_;
  const auto without = [](std::optional<TokenCount>& total, TokenCount part) {
    if (total) total = std::max<TokenCount>(0, *total - part);
  };
  if (where_.input_includes_cache) {
    without(out.input_uncached, std::min(cache_read_.value_or(0), input_.value_or(0)));
    without(out.input_uncached, std::min(cache_write_.value_or(0), input_.value_or(0)));
  }
  if (where_.output_includes_reasoning)
    without(out.output_text, std::min(reasoning_.value_or(0), output_.value_or(0)));
  if (input_ || output_ || cache_read_ || cache_write_ || reasoning_)
    out.source = model::UsageSource::Provider;
  return out;
}

SaidCall::SaidCall(const model::DeclaredCalls& where, JsonValue call)
    : index(text_at(call, where.index).value_or(std::string())),
      id(text_at(call, where.id).value_or(std::string())),
      name(text_at(call, where.name).value_or(std::string())) {
  const auto value = wire::at_pointer(call, where.arguments);
  if (value) arguments = wire::text_of(*value);  // JSON in a text, or JSON
}

}  // namespace qq::dialects::declared
