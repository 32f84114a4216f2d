// Members that OpenAI's two dialects both have and the neutral model has not: `safety_identifier`,
// `verbosity` (in responses inside of `text`), `prompt_cache_retention`, `prompt_cache_options`. Requests
// keep them as ExtraFields; here they find their way from one dialect to the other, and `safety_identifier`,
// which took the place of `user`, to everybody who has a field for that.
#pragma once
#include <string_view>

#include "dialects/dialect.h"

namespace qq::dialects::openai {

// After decoding: who the user is if only `safety_identifier` says so.
void take_user(model::ChatRequest& request);
// Whether `user` is only that, so that writing both would say it twice.
bool is_user_said_by_safety(const model::ChatRequest& request) noexcept;

// The value, as JSON, of what chat calls `chat_name`, in a request of the other dialect; empty if it is not
// said, or the request is of neither.
std::string_view shared_member(const model::ChatRequest& request, std::string_view chat_name) noexcept;
// Those that stand at the top in both, which the caller of this writes as they are.
inline constexpr std::string_view kSharedAtTop[] = {"safety_identifier", "prompt_cache_retention",
                                                    "prompt_cache_options"};
// They are no losses where they were written.
void forget_shared(Losses& losses);

}  // namespace qq::dialects::openai
