#include "resilience/target_health.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "resilience/backoff.h"

namespace qq::resilience {

void CoolDown::start(MonotonicTime until) noexcept {
  const MonotonicTime::rep wanted = until.time_since_epoch().count();
  MonotonicTime::rep current = until_.load(std::memory_order_relaxed);
  while (current < wanted && !until_.compare_exchange_weak(current, wanted, std::memory_order_relaxed)) {
  }
}

std::optional<MonotonicTime> CoolDown::until(MonotonicTime now) const noexcept {
  const MonotonicTime until{MonotonicTime::duration{until_.load(std::memory_order_relaxed)}};
  if (until <= now) return std::nullopt;
  return until;
}

int CoolDown::count_throttle(MonotonicTime now) noexcept {
  if (until(now)) return std::max(0, throttles_in_a_row_.load(std::memory_order_relaxed) - 1);
  return throttles_in_a_row_.fetch_add(1, std::memory_order_relaxed);
}

TargetHealth::TargetHealth(const CircuitBreakerConfig& config, std::shared_ptr<CoolDown> cool_down,
                           std::shared_ptr<CoolDown> account_dead)
    : breaker_(config), cool_down_(std::move(cool_down)), account_dead_(std::move(account_dead)) {
  QQ_ASSERT(cool_down_ != nullptr && account_dead_ != nullptr);
}

std::optional<TargetHealth::Admission> TargetHealth::try_admit(MonotonicTime now) {
  if (cool_down_->until(now) || account_dead_->until(now) || overload_.until(now)) return std::nullopt;
  const std::uint64_t period = closed_period_.load(std::memory_order_acquire);
  if (period != kNotClosed) return Admission{.ticket = {.period = period, .probe = false}};
  const std::scoped_lock lock(mutex_);
  const auto ticket = breaker_.try_admit(never_decreasing(now));
  publish();
  if (!ticket) return std::nullopt;
  return Admission{.ticket = *ticket};
}

TargetHealth::Admission TargetHealth::force_admit() {
  const std::scoped_lock lock(mutex_);
  return Admission{.ticket = breaker_.force()};
}

std::optional<MonotonicTime> TargetHealth::available_at(MonotonicTime now) const {
  std::optional<MonotonicTime> latest;
  const auto consider = [&](std::optional<MonotonicTime> until) {
    if (until && *until > now && (!latest || *until > *latest)) latest = until;
  };
  consider(cool_down_->until(now));
  consider(account_dead_->until(now));
  consider(overload_.until(now));
  if (closed_period_.load(std::memory_order_acquire) == kNotClosed) {
    const std::scoped_lock lock(mutex_);
    consider(breaker_.open_until());
  }
  return latest;
}

Standing TargetHealth::standing(MonotonicTime now) const {
  if (const auto until = account_dead_->until(now))
    return {.barrier = Barrier::DeadCredential, .ends_at = *until};
  std::optional<MonotonicTime> cooling = cool_down_->until(now);
  if (const auto overload = overload_.until(now)) cooling = std::max(cooling.value_or(*overload), *overload);
  if (cooling) return {.barrier = Barrier::CoolDown, .ends_at = *cooling};
  if (closed_period_.load(std::memory_order_acquire) != kNotClosed) return {};
  const std::scoped_lock lock(mutex_);
  if (!breaker_.would_refuse(now)) return {};
  return {.barrier = Barrier::Breaker, .ends_at = last_open_until_};
}

void TargetHealth::record(Admission admission, Evidence evidence, MonotonicTime now) {
  if (evidence == Evidence::Success) {
    cool_down_->forget_throttles();
    overload_.forget_throttles();
  }
  // Most answers are good ones of a healthy target, which change nothing.
  const bool closed = admission.ticket.period == closed_period_.load(std::memory_order_acquire);
  if (closed && evidence != Evidence::Failure) {
    if (evidence == Evidence::None || recent_failures_.load(std::memory_order_relaxed) == 0) return;
  }
  const std::scoped_lock lock(mutex_);
  breaker_.record(admission.ticket, evidence, never_decreasing(now));
  publish();
}

void TargetHealth::record_late_failure(Admission admission, MonotonicTime now) {
  const std::scoped_lock lock(mutex_);
  breaker_.record_late_failure(admission.ticket, never_decreasing(now));
  publish();
}

void TargetHealth::note_failure(const Error& error, MonotonicTime now, Random& random) {
  const auto start = [&](CoolDown& which) {
    const int before = is_throttle(error) ? which.count_throttle(now) : 0;
    if (const auto period = cool_down_of(error, before, random)) which.start(now + *period);
  };
  switch (error.kind) {
    case ErrorKind::RateLimited: start(*cool_down_); return;
    case ErrorKind::Overloaded: start(overload_); return;
    case ErrorKind::CredentialDead:
    case ErrorKind::QuotaExhausted: start(*account_dead_); return;
    default: return;
  }
}

MonotonicTime TargetHealth::never_decreasing(MonotonicTime now) {
  latest_now_ = std::max(latest_now_, now);
  return latest_now_;
}

void TargetHealth::publish() {
  const CircuitState after = breaker_.state();
  const CircuitState before = state_.load(std::memory_order_relaxed);
  if (after == CircuitState::Open) {
    last_open_until_ = *breaker_.open_until();
    if (before != CircuitState::Open) times_opened_.fetch_add(1, std::memory_order_relaxed);
  }
  state_.store(after, std::memory_order_relaxed);
  recent_failures_.store(breaker_.failures_in_a_row(), std::memory_order_relaxed);
  closed_period_.store(after == CircuitState::Closed ? breaker_.period() : kNotClosed,
                       std::memory_order_release);
}

std::shared_ptr<CoolDown> HealthRegistry::shared_cool_down(const std::string& key) {
  auto& slot = cool_downs_[key];
  if (!slot) slot = std::make_shared<CoolDown>();
  return slot;
}

// Every new credential has a cool-down of its own; those of credentials that nobody uses any more go.
void HealthRegistry::forget_unused_cool_downs() {
  std::erase_if(cool_downs_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

std::shared_ptr<TargetHealth> HealthRegistry::of(const model::Target& target) {
  // An account without a group has its own name as its group's: the prefixes keep the two apart.
  // What one server says of a limit or a credential need not hold for another.
  std::string group = "group " + target.limit_group_name + '\n' + target.origin.pool_key;
  std::string account = "account " + target.account_name + '\n' + target.origin.pool_key + '\n';
  for (const auto& credential : {target.auth_header_lines.digest(), target.signing_credential.digest()}) {
    account.append(reinterpret_cast<const char*>(credential.data()), credential.size());
  }
  std::string paths;
  for (const auto& endpoint : target.endpoints) {
    paths.append(endpoint.path_and_query).push_back('\n');
    paths.append(endpoint.stream_path).push_back('\n');
  }
  const std::scoped_lock lock(mutex_);
  Entry& entry = healths_[target.name];
  if (!entry.health || entry.limit_group != group || entry.account != account || entry.paths != paths) {
    entry.health =
        std::make_shared<TargetHealth>(config_, shared_cool_down(group), shared_cool_down(account));
    entry.limit_group = std::move(group);
    entry.account = std::move(account);
    entry.paths = std::move(paths);
    forget_unused_cool_downs();
  }
  return entry.health;
}

}  // namespace qq::resilience
