#include "dialects/declared/operation.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "dialects/declared/reading.h"
#include "dialects/provider_json.h"

namespace qq::dialects::declared {
namespace {

bool is_among(const std::vector<std::string>& words, std::string_view word) noexcept {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::optional<Error> failed_operation(const model::DeclaredAdapter& adapter, wire::JsonValue document) {
  if (!adapter.poll || adapter.poll->failed_in.empty()) return std::nullopt;
  const std::string word = text_at(document, adapter.poll->done).value_or(std::string());
  if (!is_among(adapter.poll->failed_in, word)) return std::nullopt;
  Error error = error_from(adapter.errors, document);
  const bool says_why = text_at(document, adapter.errors.message).has_value();
  if (!says_why) error.message = "the provider ended the operation with \"" + word + "\"";
  return error;
}

Result<Operation> read_operation(std::string_view body, const model::DeclaredAdapter& adapter) {
  QQ_ASSERT(adapter.poll.has_value());
  const model::DeclaredPoll& poll = *adapter.poll;
  if (trimmed(body).empty())
    return fail(broken(ErrorKind::EmptyReply, "the provider says nothing of the operation"));
  std::string room;
  const auto document = provider_json(body, room);
  if (!document)
    return fail(broken(ErrorKind::BadJson, "what the provider says of the operation is not JSON"));
  Operation out;
  out.over = error_in(adapter.errors, *document) || failed_operation(adapter, *document);
  if (out.over) return out;
  const auto word = text_at(*document, poll.done);
  out.over = poll.done_in.empty() ? is_true_at(*document, poll.done) : word && is_among(poll.done_in, *word);
  if (!out.over) out.id = text_at(*document, poll.id).value_or(std::string());
  return out;
}

}  // namespace qq::dialects::declared
