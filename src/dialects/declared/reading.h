// What stands where in a document of the back end's, whole answer and event alike.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/declared_adapter.h"
#include "model/usage.h"
#include "wire/json.h"

namespace qq::dialects::declared {

// The text at a pointer; a number or a boolean as it is written. Nothing for what is absent, null or a
// container.
std::optional<std::string> text_at(wire::JsonValue document, const model::Pointer& pointer);

// Neither null, false, 0 nor "".
bool is_true_at(wire::JsonValue document, const model::Pointer& pointer) noexcept;

// None for "" only; a word that the description has no meaning for is an ordinary end.
model::Finish finish_of(const model::DeclaredAdapter& adapter, std::string_view word) noexcept;
// Whether an answer that ended so may have nothing in it.
bool may_be_empty(model::Finish finish) noexcept;

// An error inside a 200, by the pointers to its code and its message: its kind by the rules, else
// StreamError. Nothing if the document holds none.
std::optional<Error> error_in(const model::DeclaredErrors& errors, wire::JsonValue document);
// The same for a document that is known to be an error.
Error error_from(const model::DeclaredErrors& errors, wire::JsonValue document);

Error broken(ErrorKind kind, std::string message);

// Figures as they come, perhaps in several events: the last of each counts.
class UsageReader {
 public:
  explicit UsageReader(const model::DeclaredUsage& where) noexcept : where_(where) {}
  // True if the document said something new.
  bool take(wire::JsonValue document);
  // In disjoint buckets.
  [[nodiscard]] model::Usage usage() const noexcept;

 private:
  const model::DeclaredUsage& where_;
  std::optional<model::TokenCount> input_, output_, cache_read_, cache_write_, reasoning_;
};

// One call, or what an event says of one.
struct SaidCall {
  SaidCall(const model::DeclaredCalls& where, wire::JsonValue call);
  std::string index;  // as text; empty: not said
  std::string id;
  std::string name;
  std::string arguments;
};

}  // namespace qq::dialects::declared
