#include "relay/media_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/base64.h"
#include "dialects/media.h"
#include "dialects/media_urls.h"
#include "providers/catalogue.h"
#include "relay/delivery.h"
#include "relay/translation.h"

namespace qq::relay {
namespace {

using Source = model::MediaPart::Source;

// For each of them, and for all together. Guesses: so much of a slow host is enough.
constexpr Milliseconds kEach{10'000};
constexpr Milliseconds kAll{30'000};
// A request that names more is no conversation.
constexpr std::size_t kMediaMax = 100;
// Of one request's, so that neither it nor the host that it names has more of us than that. A guess.
constexpr std::size_t kAtOnce = 4;

bool is_web(std::string_view url) noexcept {
  return url.starts_with("https://") || url.starts_with("http://");
}

void collect(std::vector<model::Part>& parts, const model::Target& target, model::Dialect dialect,
             std::vector<model::MediaPart*>& out) {
  for (model::Part& part : parts) {
    if (auto* media = part.as<model::MediaPart>()) {
      const bool is_wanted = media->source == Source::Url && is_web(media->data) &&
                             !dialects::takes_url(target, dialect, *media);
      if (is_wanted) out.push_back(media);
    } else if (auto* result = part.as<model::ToolResultPart>()) {
      collect(result->content, target, dialect, out);
    }
  }
}

std::vector<model::MediaPart*> wanted(const RequestState& state, const model::Attempt& attempt) {
  std::vector<model::MediaPart*> out;
  const model::Dialect dialect = *model::conversation_at(attempt.endpoint);
  // What a client says in its provider's own words stays as it is.
  if (state.translation->request().dialect == dialect && dialect == model::Dialect::OpenAiChat) return out;
  for (model::Turn& turn : state.translation->request().turns) {
    collect(turn.parts, *attempt.target, dialect, out);
  }
  return out;
}

Error not_fetched(std::string why) {
  Error error =
      Error::client(ErrorKind::InvalidRequest,
                    "a file that the request names by its URL cannot be fetched: " + std::move(why) +
                        "; send its bytes instead");
  error.type = "invalid_request_error";
  return error;
}

// A host of the caller's choosing as a target.
Result<model::Target> web_target(std::string_view url) {
  if (url.size() > 8'000) return fail(not_fetched("the URL is too long"));
  url = url.substr(0, url.find('#'));
  const std::size_t authority = url.find("://") + 3;  // is_web saw it
  const std::size_t path_at = std::min(url.find_first_of("/?", authority), url.size());
  auto base = providers::parse_base_url(url.substr(0, path_at));
  if (!base) return fail(not_fetched("it is no plain http or https URL"));
  model::Target target;
  target.origin = std::move(base->origin);
  target.origin.allow_private_address = false;
  target.origin.is_strangers = true;
  // As it is written: a signature may be over every slash of it.
  std::string path(url.substr(path_at));
  if (!path.starts_with('/')) path.insert(0, 1, '/');
  if (!std::ranges::all_of(path, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return fail(not_fetched("its URL holds a character that must be percent-encoded"));
  }
  target.endpoints[static_cast<std::size_t>(model::Endpoint::Declared)].path_and_query = std::move(path);
  return target;
}

std::string media_type_of(const wire::Fields& fields) {
  std::string_view type = fields.find("content-type").value_or("");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return std::string(type);
}

// The caller hears what kind of failure it was, and nothing of our network.
std::string_view why_unreachable(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::EgressDenied: return "its address may not be asked from here";
    case ErrorKind::DnsFailed: return "its host's name cannot be resolved here";
    case ErrorKind::TlsFailed: return "its host has no valid certificate";
    default: return "its host does not answer";
  }
}

// A host that is too slow; or there is no time left for the request at all, which is not its caller's doing.
Error too_slow(const RequestState& state) {
  if (state.services.loop.now() < state.deadline) return not_fetched("its host is too slow");
  return Error::upstream(ErrorKind::TotalTimeout, AttemptPhase::NotSent,
                         "the request's deadline came while a file that it names was being fetched");
}

Error unreachable(const RequestState& state, const Error& error) {
  if (state.client.gone().cancelled()) return net::cancelled_error(state.scope());
  if (error.kind == ErrorKind::Saturated) return error;  // what this process lacks
  if (error.kind == ErrorKind::TotalTimeout || state.services.loop.now() >= state.deadline)
    return too_slow(state);
  return not_fetched(std::string(why_unreachable(error.kind)));
}

// All of a request's that are fetched, some of them at a time.
struct Fetching {
  Fetching(RequestState& of, std::vector<model::MediaPart*> wanted)
      : state(of),
        media(std::move(wanted)),
        left(of.snapshot.limits.media_max),
        until(of.services.loop.now() + kAll),
        stop(of.services.loop),
        over(of.services.loop) {}

  void failed(Error why) {
    if (!error) error = std::move(why);
    over.set();
  }

  RequestState& state;
  std::vector<model::MediaPart*> media;
  std::size_t begun = 0;  // of `media`
  std::size_t done = 0;
  std::size_t left;  // bytes that may still come
  MonotonicTime until;
  net::Cancellation stop;      // nobody wants the others any more
  net::Signal over;            // all are there, or one is not to be had
  std::optional<Error> error;  // of the first one that failed
};

// What `bytes` take as base64.
constexpr std::size_t encoded_size(std::size_t bytes) noexcept {
  return (bytes * 4 + 2) / 3;
}

Error no_room() {
  Error error =
      Error::gateway(ErrorKind::Saturated, "no room for a file that the request names; try again shortly");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

// What comes is counted as it comes: with what the others of the request fetch, and among the process's
// bodies.
Result<> take_in(Fetching& all, std::size_t bytes) {
  if (bytes > all.left) {
    return fail(not_fetched(fmt::format("all of them together are larger than {} bytes (limits.media_max)",
                                        all.state.snapshot.limits.media_max)));
  }
  all.left -= bytes;
  if (!all.state.translation->fetched().grow_by(all.state.services, encoded_size(bytes)))
    return fail(no_room());
  return {};
}

Task<Result<std::string>> read_all(Fetching& all, UpstreamReply& reply, net::Scope scope) {
  using Piece = UpstreamReply::Piece;
  std::string bytes;
  for (;;) {
    const Piece piece = reply.try_read();
    if (piece.kind == Piece::Kind::WouldBlock) {
      const net::Wake wake = co_await reply.readable(scope);
      if (wake == net::Wake::Cancelled) co_return fail(net::cancelled_error(scope));
      if (wake == net::Wake::Deadline) co_return fail(too_slow(all.state));
      continue;
    }
    QQ_CO_CHECK(take_in(all, piece.bytes.size()));
    bytes.append(piece.bytes);
    if (piece.kind == Piece::Kind::Failed) co_return fail(not_fetched("its transfer broke off"));
    if (piece.last || piece.kind == Piece::Kind::End) break;
  }
  if (bytes.empty()) co_return fail(not_fetched("it is empty"));
  co_return bytes;
}

Task<Result<>> fetch(Fetching& all, model::MediaPart& media) {
  RequestState& state = all.state;
  Result<model::Target> target = web_target(media.data);
  if (!target) co_return fail(std::move(target).error());
  UpstreamCall call;
  call.target = &*target;
  call.endpoint = model::Endpoint::Declared;
  call.method = UpstreamCall::Method::Get;
  call.once = true;
  call.request_id = state.incoming.id.text();
  const MonotonicTime now = state.services.loop.now();
  const net::Scope scope{std::min({state.deadline, all.until, now + kEach}), &all.stop};
  Result<std::unique_ptr<UpstreamReply>> sent =
      co_await state.services.upstream.send(call, state.snapshot.timers, scope);
  if (!sent) co_return fail(unreachable(state, sent.error()));
  const std::unique_ptr<UpstreamReply> reply = *std::move(sent);
  if (reply->status() != 200) {
    co_return fail(not_fetched(fmt::format("its host answers with status {}", reply->status())));
  }
  std::string type = media_type_of(reply->head().fields);
  Result<std::string> bytes = co_await read_all(all, *reply, scope);
  if (!bytes) co_return fail(std::move(bytes).error());
  if (media.media_type.empty()) media.media_type = std::move(type);
  media.data = to_base64(*bytes);
  media.source = Source::Base64;
  co_return Result<>();
}

// One after the other, as long as there are any.
Task<void> fetch_some(Fetching& all) {
  while (!all.error && !all.stop.cancelled() && all.begun < all.media.size()) {
    model::MediaPart& media = *all.media[all.begun++];
    Result<> fetched = co_await fetch(all, media);
    if (!fetched) {
      Error error = std::move(fetched).error();
      // Nobody is told of a second one.
      if (!all.error && error.origin == ErrorOrigin::Client && error.param.empty()) {
        error.param = dialects::place_of_url(all.state.facts.document, media.data);
      }
      co_return all.failed(std::move(error));
    }
    if (++all.done == all.media.size()) all.over.set();
  }
}

}  // namespace

bool may_need_media(const model::Target& target) noexcept {
  model::MediaPart picture;
  picture.source = model::MediaPart::Source::Url;
  picture.data = "https://";
  for (std::size_t i = 0; i < model::kEndpointCount; ++i) {
    const auto endpoint = static_cast<model::Endpoint>(i);
    const auto dialect = model::conversation_at(endpoint);
    if (dialect && target.offers(endpoint) && !dialects::takes_url(target, *dialect, picture)) return true;
  }
  return false;
}

bool needs_media(RequestState& state, const model::Attempt& attempt) {
  // A request that cannot be decoded is for whoever encodes it to refuse.
  return translation_of(state) && !wanted(state, attempt).empty();
}

Task<Result<>> fetch_media(RequestState& state, const model::Attempt& attempt) {
  std::vector<model::MediaPart*> media = wanted(state, attempt);
  if (media.size() > kMediaMax)
    co_return fail(not_fetched("there are more of them than this gateway fetches"));
  const MonotonicTime from = state.services.loop.precise_now();
  Fetching all(state, std::move(media));
  TaskGroup fetchers;
  for (std::size_t i = 0; i < std::min(kAtOnce, all.media.size()); ++i) fetchers.spawn(fetch_some(all));
  const net::Wake wake = co_await all.over.wait(state.scope());
  // Who is still at it ends at once, as it is no use any more; at the deadline each does so by itself.
  if (wake == net::Wake::Cancelled) all.stop.cancel(state.client.gone().reason());
  if (all.error) all.stop.cancel(ErrorKind::Cancelled);
  co_await fetchers.joined();
  count_wait(state, from);
  if (state.client.gone().cancelled()) co_return fail(net::cancelled_error(state.scope()));
  if (all.error) co_return fail(*std::move(all.error));
  co_return Result<>();
}

}  // namespace qq::relay
