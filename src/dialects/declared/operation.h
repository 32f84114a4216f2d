// What the reply of a back end that is polled says of its operation.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/declared_adapter.h"
#include "wire/json.h"

namespace qq::dialects::declared {

struct Operation {
  // The body is all that comes: an answer, or an error, as `decode_answer` finds.
  bool over = false;
  std::string id;  // while it runs; empty: not said
};

// By the body of a reply whose status was good. `adapter` is one with `poll`. Errors: BadJson, EmptyReply.
Result<Operation> read_operation(std::string_view body, const model::DeclaredAdapter& adapter);

// The error of an operation that ended without an answer; nothing if the document is not of such.
std::optional<Error> failed_operation(const model::DeclaredAdapter& adapter, wire::JsonValue document);

}  // namespace qq::dialects::declared
