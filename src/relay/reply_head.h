// The header lines of our replies: the gateway's own, and those of the provider that may pass.
#pragma once
#include <string>

#include "relay/request.h"
#include "wire/http_head.h"

namespace qq::relay {

// The provider's header lines that may pass, by allow-list, if they are short and show no key. Taken when the
// head is fresh.
std::string passed_header_lines(const wire::Fields& upstream_fields, const model::Target& target);

// content-type (unless it is empty, as an upgrade's is), what passed, x-request-id (for Anthropic's clients
// also under their own name, request-id), x-queqiao-route, x-queqiao-model, x-queqiao-attempts,
// x-queqiao-lossy with the fields that a translation could not keep, and x-fallback-reason when it is not the
// first choice that answers.
std::string reply_header_lines(const RequestState& state, const model::Attempt& attempt,
                               std::string_view content_type, std::string_view passed_lines);

// For errors of ours: content-type, x-request-id, attempts if there were any, Retry-After and retry-after-ms
// when the error names a wait, x-should-retry: false when our own attempts were the retries.
std::string error_header_lines(model::Dialect dialect, std::string_view request_id, std::string_view route,
                               std::span<const model::Attempt> attempts, const Error& error);

// For a stream whose 200 is sent by a heartbeat: no target is known yet.
std::string waiting_header_lines(const RequestState& state);

// For a count that the gateway made: says that it is an estimate.
std::string estimate_header_lines(const RequestState& state);

// "qwen-7b rate_limited 12ms, gpt-mini success 340ms": one entry an attempt, no provider or account names.
std::string attempts_text(std::span<const model::Attempt> attempts);

}  // namespace qq::relay
