#include "upstream/polling_client.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "dialects/declared/operation.h"
#include "providers/declared_adapter.h"
#include "providers/upstream_error.h"
#include "upstream/read_body.h"

namespace qq::upstream {
namespace {

// A guess: who takes longer to be told that nobody waits is not worth waiting for at our own end.
constexpr Milliseconds kCancelMax{3'000};
// What the waits between polls that fail grow to, unless they are longer from the beginning.
constexpr Milliseconds kWaitMax{30'000};

using KeptFields = std::vector<std::pair<std::string, std::string>>;

// What was read already, as a reply.
class HeldReply final : public relay::UpstreamReply {
 public:
  HeldReply(std::unique_ptr<relay::UpstreamReply> ended, int status, KeptFields fields, std::string body)
      : ended_(std::move(ended)), kept_(std::move(fields)), body_(std::move(body)) {
    head_.status = status;
    for (const auto& [name, value] : kept_) static_cast<void>(head_.fields.add({name, value}));
  }
  [[nodiscard]] const wire::ResponseHead& head() const noexcept override { return head_; }
  [[nodiscard]] int status() const noexcept override { return head_.status; }
  Piece try_read() noexcept override {
    Piece piece;
    piece.kind = given_ || body_.empty() ? Piece::Kind::End : Piece::Kind::Bytes;
    piece.last = true;
    if (!std::exchange(given_, true)) piece.bytes = body_;
    return piece;
  }
  void keep() override {}
  // Nobody has to wait for it.
  [[nodiscard]] net::Stream::ReadyAwaiter readable(net::Scope scope) noexcept override {
    return ended_->readable(scope);
  }

 private:
  std::unique_ptr<relay::UpstreamReply> ended_;
  wire::ResponseHead head_;
  KeptFields kept_;
  std::string body_;
  bool given_ = false;
};

bool is_good(int status) noexcept {
  return status >= 200 && status <= 299;
}

[[gnu::noinline]] KeptFields kept(const wire::Fields& fields) {
  KeptFields out;
  for (const wire::Field& field : fields.all()) out.emplace_back(field.name, field.value);
  return out;
}

Error unclear(std::string_view what) {
  return Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun, std::string(what));
}

// Of a poll that failed: whether one more may do better.
struct Failure {
  bool passes = false;
  Milliseconds at_least{0};
};

Failure failure_of(const Error& error) noexcept {
  const bool is_ours = error.origin != ErrorOrigin::Upstream || error.kind == ErrorKind::EgressDenied ||
                       error.kind == ErrorKind::CredentialDead || error.kind == ErrorKind::EventTooBig;
  return {.passes = !is_ours};
}

[[gnu::noinline]] Failure failure_of(const model::Target& target, int status, const KeptFields& fields,
                                     std::string_view body, WallTime now) {
  wire::Fields said;
  for (const auto& [name, value] : fields) static_cast<void>(said.add({name, value}));
  const Error error = providers::classify_reply(target, status, said, body, now);
  Failure failure;
  failure.passes = error.kind == ErrorKind::RateLimited || error.kind == ErrorKind::Overloaded ||
                   error.kind == ErrorKind::ServerError;
  failure.at_least = error.retry_after.value_or(Milliseconds(0));
  return failure;
}

// The n-th wait behind failures in a row.
Milliseconds wait_after(Milliseconds every, int failures) noexcept {
  constexpr int kDoublingsMax = 12;
  const Milliseconds grown = every * (1 << std::min(failures, kDoublingsMax));
  return std::min(grown, std::max(kWaitMax, every));
}

}  // namespace

struct PollingClient::Heard {
  std::unique_ptr<relay::UpstreamReply> reply;  // at its end
  int status = 0;
  KeptFields fields;
  std::string body;
  bool over = false;  // it is the operation's end

  // What is over is an answer, whatever its status and type say.
  static std::unique_ptr<relay::UpstreamReply> hand_over(Heard heard) {
    if (heard.over) {
      heard.status = 200;
      heard.fields = {{"content-type", "application/json"}};
    }
    return std::make_unique<HeldReply>(std::move(heard.reply), heard.status, std::move(heard.fields),
                                       std::move(heard.body));
  }
};

// An operation that runs, and who waits for it.
struct PollingClient::Following {
  const relay::UpstreamCall& call;
  relay::Timers timers;  // of one exchange
  net::Scope scope;      // the request's
  net::Scope within;     // and the attempt's
  std::string path;

  [[nodiscard]] const model::DeclaredPoll& poll() const noexcept { return *call.target->declared->poll; }
  // What has ended the waiting: the request's cancelling, the time, or `error` itself.
  [[nodiscard]] Error ended_by(Error error, MonotonicTime now) const {
    const AttemptPhase phase = error.phase;
    if (within.cancel != nullptr && within.cancel->cancelled()) {
      error = net::cancelled_error(within);
      error.phase = phase;
    } else if (now >= within.deadline) {
      const bool total_passed = now >= scope.deadline;
      error = Error::upstream(total_passed ? ErrorKind::TotalTimeout : ErrorKind::FirstContentTimeout, phase,
                              total_passed ? "the request's deadline came before the operation's end"
                                           : "the provider's operation did not end in time");
    }
    return error;
  }
};

Task<Result<std::unique_ptr<relay::UpstreamReply>>> PollingClient::send(const relay::UpstreamCall& call,
                                                                        const relay::Timers& timers,
                                                                        net::Scope scope) {
  const bool is_polled = call.target->declared != nullptr && call.target->declared->poll;
  return is_polled ? poll(call, timers, scope) : client_.send(call, timers, scope);
}

Task<Result<PollingClient::Heard>> PollingClient::exchange(const relay::UpstreamCall& call,
                                                           const relay::Timers& timers, net::Scope scope) {
  Result<std::unique_ptr<relay::UpstreamReply>> sent = co_await client_.send(call, timers, scope);
  if (!sent) co_return fail(std::move(sent).error());
  Heard heard;
  heard.reply = *std::move(sent);
  heard.status = heard.reply->status();
  heard.fields = kept(heard.reply->head().fields);
  const net::Scope in_time = scope.until(loop_.now() + timers.first_byte);
  Result<std::string> body = co_await read_body(*heard.reply, in_time, call.reply_max + 1);
  if (!body) co_return fail(std::move(body).error());
  if (body->size() > call.reply_max) {
    co_return fail(Error::upstream(ErrorKind::EventTooBig, AttemptPhase::ReplyBegun,
                                   "the provider's answer is too large to be read (limits.event_max)"));
  }
  heard.body = *std::move(body);
  co_return heard;
}

Task<Result<PollingClient::Heard>> PollingClient::ask(relay::UpstreamCall call, const relay::Timers& timers,
                                                      net::Scope scope) {
  std::string lines;
  if (call.target->request_auth != model::RequestAuth::Fixed) {
    Result<std::string> made = co_await authorizer_.header_lines(call, timers, scope);
    if (!made) co_return fail(std::move(made).error());
    lines = *std::move(made);
  }
  call.auth_lines = lines;
  Result<Heard> heard = co_await exchange(call, timers, scope);
  co_return heard;
}

Task<Result<std::unique_ptr<relay::UpstreamReply>>> PollingClient::poll(const relay::UpstreamCall& call,
                                                                        const relay::Timers& timers,
                                                                        net::Scope scope) {
  const model::DeclaredAdapter& adapter = *call.target->declared;
  Following following{call, timers, scope, scope.until(loop_.now() + timers.first_content), {}};
  // A reply that says how far the operation has come holds no content that would have to be generated.
  following.timers.first_content = following.timers.first_byte;
  relay::UpstreamCall submit = call;
  submit.stream = false;
  submit.patience = nullptr;
  Result<Heard> heard = co_await exchange(submit, following.timers, following.within);
  if (!heard) {
    co_return fail(following.ended_by(std::move(heard).error(), loop_.now()));
  }
  if (!is_good(heard->status)) co_return Heard::hand_over(*std::move(heard));
  Result<dialects::declared::Operation> operation = dialects::declared::read_operation(heard->body, adapter);
  if (!operation) co_return fail(std::move(operation).error());
  heard->over = operation->over;
  if (heard->over) co_return Heard::hand_over(*std::move(heard));
  auto path = providers::operation_path(following.poll().path, operation->id);
  if (!path) co_return fail(unclear("the provider's reply names no operation (adapter.poll.id)"));
  following.path = *std::move(path);
  heard->reply.reset();  // its connection is good for the polls
  heard = co_await wait_for_end(following);
  if (!heard || !heard->over) cancel(following, operation->id);
  if (!heard) {
    Error error = following.ended_by(std::move(heard).error(), loop_.now());
    error.phase = AttemptPhase::ReplyBegun;  // of what was submitted
    co_return fail(std::move(error));
  }
  co_return Heard::hand_over(*std::move(heard));
}

// The operation's end, a refusal, or the last failure.
Task<Result<PollingClient::Heard>> PollingClient::wait_for_end(const Following& following) {
  const model::Target& target = *following.call.target;
  const model::DeclaredPoll& poll = following.poll();
  relay::UpstreamCall call = following.call;
  call.method = relay::UpstreamCall::Method::Get;
  call.path = following.path;
  call.body_pieces = {};
  call.body_bytes = 0;
  call.stream = false;
  call.patience = nullptr;
  Milliseconds wait = poll.every;
  for (int failures = 0;;) {
    const net::Scope waking = following.within.until(loop_.now() + wait);
    const net::Wake wake = co_await net::sleep(loop_, waking);
    if (wake == net::Wake::Cancelled || loop_.now() >= following.within.deadline) {
      co_return fail(unclear("the operation runs on"));  // `ended_by` knows why nobody waits
    }
    Result<Heard> heard = co_await ask(call, following.timers, following.within);
    if (heard && is_good(heard->status)) {
      Result<dialects::declared::Operation> operation =
          dialects::declared::read_operation(heard->body, *target.declared);
      if (operation && operation->over) {
        heard->over = true;
        co_return heard;
      }
      if (operation) {
        failures = 0;
        wait = poll.every;
        continue;
      }
      heard = fail(std::move(operation).error());
    }
    const Failure failure =
        heard ? failure_of(target, heard->status, heard->fields, heard->body, loop_.wall_now())
              : failure_of(heard.error());
    if (!failure.passes || ++failures > poll.retries) co_return heard;
    wait = std::max(wait_after(poll.every, failures), failure.at_least);
    // Rather what is than that time is up.
    if (loop_.now() + wait >= following.within.deadline) co_return heard;
  }
}

void PollingClient::cancel(const Following& following, std::string_view id) {
  auto path = providers::operation_path(following.poll().cancel_path, id);
  if (!path || path->empty()) return;
  // The request's own target ends with its snapshot.
  auto target = std::make_shared<const model::Target>(*following.call.target);
  cancels_.spawn(cancel_there(*this, std::move(target), *std::move(path),
                              std::string(following.call.request_id),
                              std::string(following.call.header_lines), following.timers));
}

// What is said to that changes nothing for anybody.
Task<void> PollingClient::cancel_there(PollingClient& self, std::shared_ptr<const model::Target> target,
                                       std::string path, std::string request_id, std::string header_lines,
                                       relay::Timers timers) {
  relay::UpstreamCall call;
  call.target = target.get();
  call.endpoint = model::Endpoint::Declared;
  const bool by_delete = target->declared->poll->cancel_method == model::DeclaredPoll::Cancel::Delete;
  call.method = by_delete ? relay::UpstreamCall::Method::Delete : relay::UpstreamCall::Method::Post;
  call.path = path;
  call.request_id = request_id;
  call.header_lines = header_lines;
  const net::Scope scope{self.loop_.now() + kCancelMax, nullptr};
  const Result<Heard> heard = co_await self.ask(call, timers, scope);
  static_cast<void>(heard);
}

Task<void> PollingClient::close() {
  co_await cancels_.joined();
}

}  // namespace qq::upstream
