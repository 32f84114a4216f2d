#include "resilience/next_step.h"

#include <algorithm>

#include "resilience/backoff.h"
#include "resilience/evidence.h"

namespace qq::resilience {
namespace {

int reached_provider(std::span<const model::Attempt> attempts) {
  return static_cast<int>(std::ranges::count_if(attempts, &model::Attempt::reached_provider));
}

// How often this target was really tried.
int tries_at(const model::Target* target, std::span<const model::Attempt> attempts) {
  return static_cast<int>(std::ranges::count_if(attempts, [&](const model::Attempt& attempt) {
    return attempt.target == target && attempt.outcome != model::Outcome::Refused;
  }));
}

// Attempts whose request went out and whose reply never began: the provider may have done the work.
int sent_without_reply(std::span<const model::Attempt> attempts) {
  return static_cast<int>(std::ranges::count_if(attempts, [](const model::Attempt& attempt) {
    return attempt.outcome == model::Outcome::Failure && attempt.error &&
           attempt.error->phase == AttemptPhase::SentNoReply;
  }));
}

bool worth_repeating_here(const Error& error, std::span<const model::Attempt> attempts) {
  switch (error.kind) {
    case ErrorKind::DnsFailed:
    case ErrorKind::ConnectFailed:
    case ErrorKind::ConnectTimeout:
    case ErrorKind::ServerError:
    case ErrorKind::Overloaded:
    case ErrorKind::RateLimited: return true;
    case ErrorKind::EarlyClose:
    case ErrorKind::Reset:
      return error.phase == AttemptPhase::NotSent ||
             (error.phase == AttemptPhase::SentNoReply && sent_without_reply(attempts) <= 1);
    default: return false;
  }
}

// How long a repeat at the same target must wait, or nothing if that is longer than it may.
std::optional<Milliseconds> delay_here(const model::RetryRules& rules, const Error& error, int repeats,
                                       const Situation& situation, Random& random) {
  Milliseconds asked{0};
  if (error.retry_after) asked = std::max(asked, *error.retry_after);
  if (situation.available_at && *situation.available_at > situation.now) {
    asked = std::max(asked, std::chrono::ceil<Milliseconds>(*situation.available_at - situation.now));
  }
  if (asked > Milliseconds{0}) {
    if (asked > rules.backoff_max) return std::nullopt;
    // Those who were told the same moment must not all come back in it.
    return asked + full_jitter(rules.backoff_base, rules.backoff_max, 0, random);
  }
  if (is_throttle(error)) return full_jitter(kThrottleBackoffBase, kThrottleBackoffMax, repeats, random);
  return full_jitter(rules.backoff_base, rules.backoff_max, repeats, random);
}

}  // namespace

NextStep next_step(const model::Plan& plan, std::span<const model::Attempt> attempts,
                   const Situation& situation, Random& random) {
  if (situation.client_gone || situation.now >= situation.deadline) return Stop{};
  if (std::ranges::any_of(attempts, &model::Attempt::delivered)) return Stop{};
  if (reached_provider(attempts) >= plan.retry.max_attempts) return Stop{};

  const auto onward = [&]() -> NextStep {
    if (situation.more_targets) return NextTarget{};
    return Stop{};
  };
  if (attempts.empty()) return onward();
  const model::Attempt& last = attempts.back();
  switch (last.outcome) {
    case model::Outcome::Success:
    case model::Outcome::Cancelled: return Stop{};
    case model::Outcome::Refused: return onward();
    case model::Outcome::Failure: break;
  }
  if (!last.error || !triggers_cover(plan.triggers, *last.error)) return Stop{};
  if (situation.more_targets) return NextTarget{};

  const int tries = tries_at(last.target, attempts);
  if (tries >= plan.retry.max_attempts || !worth_repeating_here(*last.error, attempts)) return Stop{};
  const auto delay = delay_here(plan.retry, *last.error, tries - 1, situation, random);
  if (!delay || *delay >= situation.deadline - situation.now) return Stop{};
  if (!situation.retry_allowed) return Stop{.for_budget = true};
  return SameTarget{*delay};
}

namespace {

// Not activated, not permitted, over the model's own limit: what this account may use of a model that exists.
// Another account may use it.
bool is_about_the_key(int status) noexcept {
  return status == 402 || status == 403 || status == 429;
}

// More than this account may have in one request, of money (402) or of tokens a minute (429, and 413 where it
// says so). Another account may have it.
bool is_beyond_the_account(const Error& error) noexcept {
  const int status = error.upstream_status;
  return status == 402 || status == 429 || (status == 413 && error.code == "rate_limit_exceeded");
}

}  // namespace

bool triggers_cover(const model::Triggers& triggers, const Error& error) noexcept {
  if (error.origin == ErrorOrigin::Client) return false;
  switch (error.kind) {
    case ErrorKind::ConnectTimeout:
    case ErrorKind::SendTimeout:
    case ErrorKind::FirstByteTimeout:
    case ErrorKind::FirstContentTimeout:
    case ErrorKind::EventGapTimeout: return triggers.timeout;
    case ErrorKind::DnsFailed:
    case ErrorKind::ConnectFailed:
    case ErrorKind::TlsFailed:
    case ErrorKind::EgressDenied:  // this target cannot be reached, another may
    case ErrorKind::EarlyClose:
    case ErrorKind::Reset:
    case ErrorKind::Overloaded:
    case ErrorKind::ServerError:
    case ErrorKind::BadFrame:
    case ErrorKind::DecodeFailed:
    case ErrorKind::BodyCut:
    case ErrorKind::StreamCut:
    case ErrorKind::StreamError:
    case ErrorKind::EventTooBig: return triggers.server_error;
    case ErrorKind::EmptyReply:
    case ErrorKind::BadContentType:
    case ErrorKind::BadJson: return triggers.empty;
    case ErrorKind::RateLimited:
    case ErrorKind::QuotaExhausted:
    case ErrorKind::CredentialDead:
    case ErrorKind::Forbidden: return triggers.rate_limit;  // what this account may not, another may
    case ErrorKind::ModelMissing:
      return triggers.not_found || (is_about_the_key(error.upstream_status) && triggers.rate_limit);
    case ErrorKind::Refused: return triggers.refused || (is_beyond_the_account(error) && triggers.rate_limit);
    // The caller's request, the request's own deadline, and ourselves: another target changes nothing.
    case ErrorKind::InvalidRequest:
    case ErrorKind::Unauthorized:
    case ErrorKind::NotFound:
    case ErrorKind::MethodNotAllowed:
    case ErrorKind::PayloadTooLarge:
    case ErrorKind::RequestTimeout:
    case ErrorKind::ClientGone:
    case ErrorKind::ClientStalled:
    case ErrorKind::TotalTimeout:
    case ErrorKind::NoTarget:
    case ErrorKind::Saturated:
    case ErrorKind::ShuttingDown:
    case ErrorKind::Cancelled:
    case ErrorKind::Config:
    case ErrorKind::Internal: return false;
  }
  return false;
}

}  // namespace qq::resilience
