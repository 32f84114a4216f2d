#include "relay/reply_head.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "relay/client_words.h"
#include "relay/shown_word.h"
#include "relay/translation.h"

namespace qq::relay {
namespace {

// Harmless and useful to SDKs. Not x-ratelimit-*: those figures are the operator's account's, not the
// caller's. Not cookies, not server names.
constexpr std::array<std::string_view, 3> kPassed = {"openai-processing-ms", "openai-version",
                                                     "x-reasoning-included"};

// A request that failed over a hundred times must not grow a header without end.
constexpr std::size_t kAttemptsShown = 16;

void append_attempts(std::string& out, std::span<const model::Attempt> attempts) {
  std::size_t shown = 0;
  for (const model::Attempt& attempt : attempts) {
    if (++shown > kAttemptsShown) {
      out.append(", ...");
      return;
    }
    if (shown > 1) out.append(", ");
    const bool failed = attempt.error.has_value() && attempt.outcome != model::Outcome::Success;
    const MonotonicTime ended = attempt.ended == MonotonicTime{} ? attempt.started : attempt.ended;
    const auto took = std::chrono::duration_cast<Milliseconds>(ended - attempt.started).count();
    append_all(out, attempt.target->model, " ",
               failed ? to_string(attempt.error->kind) : to_string(attempt.outcome), " ", Decimal(took),
               "ms");
  }
}

// Why another target than the first choice answers: the fault of the last one before it that was tried or
// passed over. Nothing while the first choice does.
void append_fallback_reason(std::string& out, std::span<const model::Attempt> attempts) {
  for (std::size_t i = attempts.size(); i-- > 0;) {
    const model::Attempt& before = attempts[i];
    if (before.target == attempts.back().target || !before.error) continue;
    out.append("x-fallback-reason: ").append(to_string(before.error->kind)).append("\r\n");
    return;
  }
}

void append_own(std::string& out, model::Dialect dialect, std::string_view request_id, std::string_view route,
                std::span<const model::Attempt> attempts) {
  append_all(out, "x-request-id: ", request_id, "\r\n");
  if (dialect == model::Dialect::Anthropic) append_all(out, "request-id: ", request_id, "\r\n");
  if (!route.empty()) append_all(out, "x-queqiao-route: ", route, "\r\n");
  if (!attempts.empty()) {
    out.append("x-queqiao-attempts: ");
    append_attempts(out, attempts);
    out.append("\r\n");
  }
}

}  // namespace

std::string attempts_text(std::span<const model::Attempt> attempts) {
  std::string out;
  append_attempts(out, attempts);
  return out;
}

std::string passed_header_lines(const wire::Fields& upstream_fields, const model::Target& target) {
  std::string out;
  for (const wire::Field& field : upstream_fields.all()) {
    for (const std::string_view name : kPassed) {
      if (field.name.size() == name.size() && wire::iequals(field.name, name) &&
          may_be_shown(field.value, target)) {
        out.append(name).append(": ").append(field.value).append("\r\n");
      }
    }
  }
  return out;
}

std::string reply_header_lines(const RequestState& state, const model::Attempt& attempt,
                               std::string_view content_type, std::string_view passed_lines) {
  std::string out;
  out.reserve(320);
  if (!content_type.empty()) append_all(out, "content-type: ", content_type, "\r\n");
  out.append(passed_lines);
  append_own(out, model::dialect_of(state.incoming.endpoint), state.incoming.id.text(), state.plan.route,
             state.attempts);
  append_all(out, "x-queqiao-model: ", attempt.target->model, "\r\n");
  if (attempt.translated) {
    const std::string lost = losses_text_of(state);
    if (!lost.empty()) out.append("x-queqiao-lossy: ").append(lost).append("\r\n");
  }
  if (state.attempts.size() > 1) append_fallback_reason(out, state.attempts);
  return out;
}

std::string waiting_header_lines(const RequestState& state) {
  std::string out = "content-type: ";
  out.append(stream_type_of(state.array_stream())).append("\r\n");
  append_own(out, model::dialect_of(state.incoming.endpoint), state.incoming.id.text(), state.plan.route, {});
  return out;
}

std::string estimate_header_lines(const RequestState& state) {
  std::string out = "content-type: application/json\r\nx-queqiao-estimated: input_tokens\r\n";
  append_own(out, model::dialect_of(state.incoming.endpoint), state.incoming.id.text(), state.plan.route, {});
  return out;
}

std::string error_header_lines(model::Dialect dialect, std::string_view request_id, std::string_view route,
                               std::span<const model::Attempt> attempts, const Error& error) {
  std::string out = "content-type: application/json\r\n";
  append_own(out, dialect, request_id, route, attempts);
  if (error.retry_after) {
    const auto wait = std::max(error.retry_after->count(), Milliseconds::rep{0});
    fmt::format_to(std::back_inserter(out), "retry-after: {}\r\nretry-after-ms: {}\r\n", (wait + 999) / 1000,
                   wait);
  } else if (error.origin == ErrorOrigin::Upstream && !attempts.empty()) {
    out.append("x-should-retry: false\r\n");
  }
  return out;
}

}  // namespace qq::relay
