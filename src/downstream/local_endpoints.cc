#include "downstream/local_endpoints.h"

#include <algorithm>

#include "downstream/server.h"

namespace qq::downstream {
namespace {

bool can_be_served(const relay::Snapshot& snapshot, const routing::Route& route, MonotonicTime now) {
  const auto has_key_that_works = [&](const routing::RouteCandidate& candidate) {
    return std::ranges::any_of(candidate.targets, [&](const model::Target* target) {
      return snapshot.healths[target->index]->standing(now).barrier != resilience::Barrier::DeadCredential;
    });
  };
  return std::ranges::any_of(route.candidates, has_key_that_works) ||
         std::ranges::any_of(route.fallback, has_key_that_works);
}

}  // namespace

LocalReply readiness(const relay::LoopServices& services) {
  LocalReply reply;
  if (services.process.draining.load(std::memory_order_relaxed)) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"draining"})";
  } else if (services.snapshot->public_names.empty()) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"no route is configured"})";
  } else if (const MonotonicTime now = services.loop.now();
             std::ranges::none_of(services.snapshot->routes, [&](const auto& named) {
               return can_be_served(*services.snapshot, named.second, now);
             })) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"no route can be served: every account's key is refused or its )"
                 R"(quota used up"})";
  } else {
    reply.body = R"({"ready":true})";
  }
  return reply;
}

std::optional<LocalReply> local_reply(Server& server, const ListenerConfig& listener,
                                      const wire::RequestHead& head) {
  if (head.method != "GET" && head.method != "HEAD") return std::nullopt;
  const std::string_view path = head.path();
  LocalReply local;
  if (path == "/healthz") {
    local.body = R"({"alive":true})";
  } else if (path == "/readyz") {
    local = readiness(server.services());
    server.note_readiness_asked();
  } else if (path == "/metrics" && (listener.serve_metrics || listener.serve_admin)) {
    local.content_type = "text/plain; version=0.0.4; charset=utf-8";
    local.body = server.shared().render_metrics();
  } else {
    return std::nullopt;
  }
  return local;
}

}  // namespace qq::downstream
