// Turns to the values of `{{messages}}` and `{{system}}`.
#pragma once
#include <string>

#include "dialects/dialect.h"
#include "model/declared_adapter.h"

namespace qq::dialects::declared {

struct EncodedMessages {
  std::string messages;  // a JSON array
  std::string system;    // text of the system's turns, where they are no messages
};

// Errors: InvalidRequest, naming the caller's field, for what no template has a place for.
Result<EncodedMessages> encode_messages(const model::ChatRequest& request,
                                        const model::DeclaredRequest& templates, Losses& losses);

// "not possible with this model", with the caller's name of the field.
Error not_possible(std::string_view field, std::string_view why);

}  // namespace qq::dialects::declared
