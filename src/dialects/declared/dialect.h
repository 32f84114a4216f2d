// A private back end, in the words of its description (model/declared_adapter.h, which the target holds): its
// requests are templates filled in, its answers, events and errors are read by JSON pointers. Only a
// provider's side; clients speak a dialect of their own.
//
//   request_encode   what is asked for to templates (render.h), what they have no place for to losses or a
//                    refusal (support.h)
//   answer_decode    a whole answer
//   operation        whether an answer that is polled has come, and the id to ask again by
//   stream_decode    SSE, lines of JSON, or a whole answer where the back end does not stream
#pragma once
#include "dialects/dialect.h"

namespace qq::dialects::declared {

// Targets without a description must not be given to it.
const ProviderDialect& provider_side() noexcept;

}  // namespace qq::dialects::declared
