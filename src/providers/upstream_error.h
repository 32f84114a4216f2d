// What a provider's non-2xx answer means: one Error from status, headers and body, whatever the shape.
// Knows the error bodies of all providers of the catalogue (spec: table of error shapes): key errors sent as
// 400, quota inside 429, business codes as strings, `error` as a string, `detail`, HTML pages, kinds that
// only a header tells.
#pragma once
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "model/target.h"
#include "wire/http_head.h"

namespace qq::providers {

// The header in which AWS says what kind of error it is; its bodies hold a message only.
inline constexpr std::string_view kAwsErrorType = "x-amzn-errortype";

// `head` of a reply with status >= 400 (or one that is no answer: 1xx..3xx, 204); `body` at most its first
// 64 KiB, which may be cut anywhere. The message holds the provider's own words, cut to 2 KiB, with anything
// like a key masked; `credential` is our own (masking.h), of which no part may be shown.
Error classify_reply(std::string_view kind, int status, const wire::Fields& fields, std::string_view body,
                     WallTime now, std::string_view credential = {});

// The same for a target, which may have an error map of its own (a declared back end's).
Error classify_reply(const model::Target& target, int status, const wire::Fields& fields,
                     std::string_view body, WallTime now, std::string_view credential = {});

// The same for an error object inside a 200: a whole answer, or what a dialect has read out of a stream's
// event.
Error classify_error_object(std::string_view kind, std::string_view body);
Error classify_error_object(std::string_view kind, const Error& told, std::string_view credential = {});

// Retry-After as seconds, fractional seconds or HTTP date, and `retry-after-ms` (preferred unless it is 0
// beside a positive retry-after); Google's RetryInfo in the body. Negative, absurd (> 1 day is cut to 1 day)
// and junk values: nothing.
std::optional<Milliseconds> retry_after(const wire::Fields& fields, std::string_view body, WallTime now);

// Whether a wait that the provider asks for means anything: on other failures the header is about a window
// that the next request may not even touch.
bool may_wait(ErrorKind kind) noexcept;

}  // namespace qq::providers
