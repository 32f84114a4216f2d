#include "upstream/google_tokens.h"

#include <algorithm>

#include "base/assert.h"
#include "net/wait.h"
#include "providers/catalogue.h"
#include "providers/google_token.h"
#include "upstream/read_body.h"

namespace qq::upstream {
namespace {

using std::chrono::seconds;

constexpr Milliseconds kFetchMax{10'000};          // a guess: the endpoint answers in a fraction of a second
constexpr seconds kRefreshAhead{300};              // of the usual hour
constexpr seconds kLastMoment{10};                 // a token that ends sooner may end on its way
constexpr Milliseconds kAgainAfter{30'000};        // when a refresh failed and the old token still holds
constexpr Milliseconds kPauseMin{1'000};           // when a fetch failed and there is no token
constexpr Milliseconds kUnusedMax{2 * 3'600'000};  // then a credential's entry goes
constexpr std::size_t kReplyMax = 64UL << 10U;
constexpr std::string_view kSilent = "Google's token endpoint did not answer in time";

Error token_error(ErrorKind kind, std::string_view text) {
  return Error::upstream(kind, AttemptPhase::NotSent, std::string(text));
}

// Where the account's tokens are asked for, as a target of its own: it shares pools and the egress guard's
// rules with all the others. It has the provider's leave to be at a private address, and may do without TLS
// only with that.
Result<std::shared_ptr<const model::Target>> token_endpoint(const providers::ServiceAccount& account,
                                                            const model::Target& asking) {
  QQ_TRY(auto url, providers::parse_base_url(account.token_uri));
  if (!url.origin.tls && !asking.origin.allow_private_address) {
    return fail(token_error(ErrorKind::CredentialDead, "the service account's `token_uri` is no https URL"));
  }
  auto target = std::make_shared<model::Target>();
  target->name = asking.account_name + "/token";
  target->provider = asking.provider;
  target->kind = asking.kind;
  target->origin = std::move(url.origin);
  target->origin.allow_private_address = asking.origin.allow_private_address;
  if (asking.origin.allow_private_address) target->origin.pool_key += "#private";
  target->endpoints[0].path_and_query = url.path.empty() ? "/" : url.path;
  return std::shared_ptr<const model::Target>(std::move(target));
}

}  // namespace

// Who waits for a fetch; in the list for as long as it does.
struct GoogleTokens::Waiting {
  Waiting(net::EventLoop& loop, Entry& entry);
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();
  net::Signal signal;
  Entry& entry;
};

struct GoogleTokens::Entry {
  Secret credential;
  bool may_be_private = false;  // the endpoint, as the provider may
  Secret token;
  MonotonicTime refresh_at{};  // from then on a new one is fetched
  MonotonicTime ends_at{};     // from then on it is not used
  MonotonicTime again_at{};    // without one, from then on the next is fetched
  MonotonicTime used_at{};
  bool fetching = false;
  std::optional<Error> failure;  // of the last fetch
  std::vector<Waiting*> waiting;

  [[nodiscard]] bool holds(MonotonicTime now) const noexcept { return !token.empty() && now < ends_at; }
};

GoogleTokens::Waiting::Waiting(net::EventLoop& loop, Entry& waited_for) : signal(loop), entry(waited_for) {
  entry.waiting.push_back(this);
}
GoogleTokens::Waiting::~Waiting() {
  std::erase(entry.waiting, this);
}

GoogleTokens::GoogleTokens(net::EventLoop& loop, relay::UpstreamClient& client)
    : loop_(loop), client_(client), closing_(loop) {}

GoogleTokens::~GoogleTokens() = default;

std::shared_ptr<GoogleTokens::Entry> GoogleTokens::entry_of(const model::Target& target) {
  const MonotonicTime now = loop_.now();
  const bool may_be_private = target.origin.allow_private_address;
  for (const std::shared_ptr<Entry>& entry : entries_) {
    if (entry->credential == target.signing_credential && entry->may_be_private == may_be_private) {
      entry->used_at = now;
      return entry;
    }
  }
  std::erase_if(entries_, [now](const std::shared_ptr<Entry>& entry) {
    return !entry->fetching && now - entry->used_at > kUnusedMax;
  });
  auto entry = std::make_shared<Entry>();
  entry->credential = target.signing_credential;
  entry->may_be_private = may_be_private;
  entry->used_at = now;
  entries_.push_back(entry);
  return entry;
}

Task<Result<Secret>> GoogleTokens::token(const model::Target& target, const relay::Timers& timers,
                                         net::Scope scope) {
  const std::shared_ptr<Entry> entry = entry_of(target);
  const MonotonicTime now = loop_.now();
  const bool holds = entry->holds(now);
  const bool is_due = now >= (holds ? entry->refresh_at : entry->again_at);
  if (!entry->fetching && is_due) start_fetch(entry, target, timers);
  if (holds) co_return entry->token;
  while (entry->fetching) {
    Waiting waiting(loop_, *entry);
    const net::Wake wake = co_await waiting.signal.wait(scope.until(now + kFetchMax));
    if (wake == net::Wake::Cancelled) co_return fail(net::cancelled_error(scope));
    if (wake == net::Wake::Deadline) {
      const bool total_passed = loop_.now() >= scope.deadline;
      co_return fail(total_passed ? token_error(ErrorKind::TotalTimeout,
                                                "the request's deadline came while a token was being fetched")
                                  : token_error(ErrorKind::FirstByteTimeout, kSilent));
    }
  }
  if (entry->holds(loop_.now())) co_return entry->token;
  co_return fail(
      entry->failure.value_or(token_error(ErrorKind::ServerError, "Google gave a token that has ended")));
}

void GoogleTokens::start_fetch(const std::shared_ptr<Entry>& entry, const model::Target& target,
                               const relay::Timers& timers) {
  if (closing_.cancelled()) {
    entry->failure = Error::gateway(ErrorKind::ShuttingDown, "the gateway is shutting down; try again");
    return;
  }
  entry->fetching = true;
  auto asking = std::make_shared<model::Target>(target);  // the request's own ends with its snapshot
  fetches_.spawn(fetch(*this, entry, std::move(asking), timers));
}

Task<Result<providers::GoogleToken>> GoogleTokens::ask(const model::Target& asking,
                                                       const relay::Timers& timers, net::Scope scope) {
  auto account = providers::parse_service_account(asking.signing_credential.reveal());
  if (!account) co_return fail(token_error(ErrorKind::CredentialDead, account.error().message));
  const auto endpoint = token_endpoint(*account, asking);
  if (!endpoint) co_return fail(token_error(ErrorKind::CredentialDead, endpoint.error().message));
  const auto body = providers::token_request_body(*account, loop_.wall_now());
  if (!body) co_return fail(body.error());
  const std::string_view piece = *body;
  relay::UpstreamCall call;
  call.target = endpoint->get();
  call.endpoint = static_cast<model::Endpoint>(0);
  call.request_id = "token";
  call.content_type = "application/x-www-form-urlencoded";
  call.body_pieces = {&piece, 1};
  call.body_bytes = piece.size();
  Result<std::unique_ptr<relay::UpstreamReply>> reply = co_await client_.send(call, timers, scope);
  if (!reply) {
    Error error = std::move(reply).error();
    error.phase = AttemptPhase::NotSent;          // of the request that wants the token
    if (error.kind == ErrorKind::TotalTimeout) {  // the fetch's own time, not the request's
      error.kind = ErrorKind::FirstByteTimeout;
      error.message = kSilent;
    }
    co_return fail(std::move(error));
  }
  const int status = (*reply)->status();
  Result<std::string> text = co_await read_body(**reply, scope, kReplyMax);
  if (!text) {
    Error error = std::move(text).error();
    error.phase = AttemptPhase::NotSent;
    if (error.kind == ErrorKind::FirstByteTimeout)
      error.message = "Google's token endpoint broke off its answer";
    co_return fail(std::move(error));
  }
  co_return providers::parse_token_reply(status, *text);
}

Task<void> GoogleTokens::fetch(GoogleTokens& self, std::shared_ptr<Entry> entry,
                               std::shared_ptr<const model::Target> asking, relay::Timers timers) {
  const MonotonicTime asked_at = self.loop_.now();
  const net::Scope scope{asked_at + kFetchMax, &self.closing_};
  Result<providers::GoogleToken> got = co_await self.ask(*asking, timers, scope);
  entry->fetching = false;
  if (got) {
    entry->token = std::move(got->token);
    entry->failure.reset();
    entry->ends_at = asked_at + std::max(got->expires_in - kLastMoment, seconds(0));
    entry->refresh_at = asked_at + std::max(got->expires_in - kRefreshAhead, got->expires_in / 2);
  } else {
    entry->failure = std::move(got).error();
    const MonotonicTime now = self.loop_.now();
    entry->refresh_at = now + kAgainAfter;
    entry->again_at = now + std::max<MonotonicTime::duration>(now - asked_at, kPauseMin);
  }
  for (Waiting* const waiting : entry->waiting) waiting->signal.set();
}

Task<void> GoogleTokens::close() {
  closing_.cancel(ErrorKind::ShuttingDown);
  co_await fetches_.joined();
}

}  // namespace qq::upstream
