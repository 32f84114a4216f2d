#include "downstream/local_endpoints.h"

#include "downstream/server.h"

namespace qq::downstream {

LocalReply readiness(const relay::LoopServices& services) {
  LocalReply reply;
  if (services.process.draining.load(std::memory_order_relaxed)) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"draining"})";
  } else if (services.snapshot->public_names.empty()) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"no route is configured"})";
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
